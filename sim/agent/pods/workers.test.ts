import { expect, it } from "vitest";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import { AgentWorld, type WorldMore } from "../agent-world.fixture.ts";

/** A runtime whose answers to the first sandboxes of the pod `bad` cannot be read: that throws in the pod's own work. */
const unreadable =
  (count: number) =>
  (inner: CriRuntime, machine: Process): CriRuntime => {
    let left = count;
    return {
      start(request, done, fail) {
        const { config } = request.message as { config?: { metadata?: { name?: string } } };
        const isBad = request.method === "RunPodSandbox" && config?.metadata?.name === "bad" && left > 0;
        if (!isBad) return inner.start(request, done, fail);
        left--;
        const answer = {
          ok: true,
          get message(): never {
            throw new Error("no such field");
          },
        } as const;
        return machine.clock.after(0, () => done(answer));
      },
      events: (reader, sink) => inner.events(reader, sink),
    };
  };

function world(caught: WorldMore["caught"], count: number): AgentWorld {
  const made = new AgentWorld({}, undefined, {
    around: unreadable(count),
    ...(caught === undefined ? {} : { caught }),
  });
  made.runtime.images.set("serves:1", {});
  made.run(3);
  for (const name of ["bad", "good"])
    made.create(name, { containers: [{ name: "c", image: "serves:1", imagePullPolicy: "IfNotPresent" }] });
  return made;
}

it("an exception in a pod's own work ends that turn alone: others go on, and it is tried again", () => {
  const told: string[] = [];
  const w = world((failure, what) => told.push(`${what}: ${(failure.cause as Error).message}`), 2);
  w.run(8);
  expect(w.status("good")["phase"]).toBe("Running");
  expect(w.status("bad")["phase"]).toBe("Pending");
  w.run(40);
  expect(told).toHaveLength(2);
  expect(told[0]).toMatch(/^work of pod default\/bad \(.+\): no such field$/);
  expect(w.status("bad")["phase"]).toBe("Running");
});

it("a pod whose work threw still ends when it is deleted", () => {
  let count = 0;
  const w = world(() => void count++, 1_000);
  w.run(8);
  w.bed.ask("DELETE /api/v1/namespaces/default/pods/bad", { as: "admin" });
  w.run(60);
  expect(count).toBeGreaterThan(0);
  expect(w.get("bad")["kind"]).toBe("Status");
});

it("in a simulation such an exception ends the run", () => {
  const w = world(undefined, 1);
  expect(() => w.run(8)).toThrow(/process "agent-n1" threw .*no such field/);
});
