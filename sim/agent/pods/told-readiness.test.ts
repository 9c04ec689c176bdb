import { expect, it } from "vitest";
import { AgentWorld } from "../agent-world.fixture.ts";
import { statusPatch, heartbeatPatch } from "../node/node-status.ts";

const gate = "example.com/gate";
const serves = { name: "c", image: "serves:1", imagePullPolicy: "IfNotPresent" };

function world(): AgentWorld {
  const made = new AgentWorld();
  made.runtime.images.set("serves:1", {});
  made.run(3);
  return made;
}

const conditionOf = (w: AgentWorld, name: string): string | undefined =>
  (w.status("p")["conditions"] as readonly { type: string; status: string }[]).find(({ type }) => type === name)
    ?.status;

it("a pod is ready at once when somebody has opened its gate, and not when it is shut again", () => {
  const w = world();
  w.create("p", { containers: [serves], readinessGates: [{ conditionType: gate }] });
  w.run(8);
  expect([conditionOf(w, "ContainersReady"), conditionOf(w, "Ready")]).toEqual(["True", "False"]);
  for (const status of ["True", "False"]) {
    const body = { status: { conditions: [{ type: gate, status }] } };
    const path = "PATCH /api/v1/namespaces/default/pods/p/status";
    const contentType = "application/strategic-merge-patch+json";
    w.bed.ask(path, { as: "admin", body, headers: { "content-type": contentType } });
    w.run(2);
    expect(conditionOf(w, "Ready")).toBe(status);
  }
});

it("a pod beyond its deadline has failed for that, though its containers end well when they are stopped", () => {
  const w = world();
  w.create("p", { containers: [serves], activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 1 });
  w.run(30);
  expect([w.status("p")["phase"], w.status("p")["reason"]]).toEqual(["Failed", "DeadlineExceeded"]);
  expect(JSON.stringify(w.status("p")["containerStatuses"])).toContain('"terminated":{"exitCode":0');
});

it("a node's conditions that others wrote are not told again with its own", () => {
  const others = { type: "example.com/others", status: "True" };
  const ready = { type: "Ready", status: "True", lastHeartbeatTime: "1" };
  const before = { conditions: [others, ready] };
  const now = [others, { ...ready, lastHeartbeatTime: "2" }];
  expect(heartbeatPatch(before, now)).toEqual({ status: { conditions: [now[1]] } });
  expect(statusPatch(before, { a: 1 }, now)).toEqual({ status: { conditions: [now[1]], a: 1 } });
});

it("thousands of conditions that others wrote are looked at once each", () => {
  let looks = 0;
  const count = 2_000;
  const conditions = (): { readonly status: string }[] =>
    Array.from({ length: count }, (_, at) =>
      Object.defineProperty({ status: "True" }, "type", {
        enumerable: true,
        get: () => (looks++, `example.com/t${at}`),
      }),
    );
  expect(heartbeatPatch({ conditions: conditions() }, conditions())).toEqual({ status: { conditions: [] } });
  expect(looks).toBeLessThan(10 * count);
});
