import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import type { Pod } from "../control/shared/stored.ts";
import { core, Living } from "./living.fixture.ts";

describe("a living cluster", () => {
  it("has its nodes, in their zones", () => {
    const items = new Living().ask("GET", "/api/v1/nodes").object?.["items"] as unknown as {
      metadata: { name: string; labels: Record<string, string> };
    }[];
    expect(items.map(({ metadata }) => [metadata.name, metadata.labels["topology.kubernetes.io/zone"]])).toEqual([
      ["node-0", "a"],
      ["node-1", "b"],
      ["node-2", "a"],
    ]);
  });

  it("runs, ends and restarts pods as their commands say, and gives them back when they are deleted", () => {
    const living = new Living();
    living.pod("serves", { readinessProbe: { initialDelaySeconds: 10, exec: { command: ["true"] } } });
    living.pod("ends", { command: ["sh", "-c", "echo done; sleep 5"], pod: { restartPolicy: "Never" } });
    living.pod("fails", { command: ["sh", "-c", "sleep 1; exit 3"] });
    living.advance(8);
    const ready = () => living.statusOf("serves").conditions?.find(({ type }) => type === "Ready")?.status;
    expect([living.statusOf("serves").phase, ready()]).toEqual(["Running", "False"]);
    living.advance(10);
    expect([ready(), living.statusOf("ends").phase]).toEqual(["True", "Succeeded"]);
    // From the second end on it is put off, and the look after that says so.
    const failing = () => (living.statusOf("fails").containerStatuses?.[0] ?? {}) as unknown as JsonObject;
    const isWaiting = () => "waiting" in (failing()["state"] as JsonObject);
    for (let seconds = 0; seconds < 30 && !isWaiting(); seconds++) living.advance(1);
    expect(failing()).toMatchObject({
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 3 } },
    });
    living.ask("DELETE", `${core}/pods/serves`);
    living.advance(4);
    expect(living.ask("GET", `${core}/pods/serves`).status).toBe(404);
  });

  it("serves what nobody has described: its command, its ports, and what is run in it for probes", () => {
    const living = new Living();
    living.pod("manager", {
      command: ["/manager", "--leader-elect"],
      readinessProbe: { httpGet: { path: "/readyz", port: 8081 } },
      livenessProbe: { exec: { command: ["grpc_health_probe", "-addr=:9000"] } },
    });
    living.pod("once", { command: ["/migrate"], pod: { restartPolicy: "OnFailure" } });
    living.advance(20);
    const { phase, conditions } = living.statusOf("manager");
    expect([phase, conditions?.find(({ type }) => type === "Ready")?.status]).toEqual(["Running", "True"]);
    expect(living.statusOf("once").phase).toBe("Succeeded");
  });

  it("keeps containers running without their agent, and loses them with their machine", () => {
    const living = new Living();
    living.pod("serves", {});
    living.advance(8);
    const { nodeName = "" } = (living.ask("GET", `${core}/pods/serves`).object as unknown as Pod).spec;
    const node = living.nodes?.nodes.get(nodeName);
    const container = () => (living.statusOf("serves").containerStatuses?.[0] ?? {}) as unknown as JsonObject;
    const restarts = () => container()["restartCount"];
    node?.agent.crash();
    living.advance(3);
    node?.start();
    living.advance(8);
    const before = container()["containerID"];
    expect([living.statusOf("serves").phase, restarts(), before === undefined]).toEqual(["Running", 0, false]);
    node?.crash();
    living.advance(3);
    expect(living.nodes?.at(nodeName, "10250")).toBe(undefined);
    node?.start();
    living.advance(15);
    expect(container()["containerID"]).not.toBe(before);
    expect([living.statusOf("serves").phase, restarts()]).toEqual(["Running", 0]); // another container, on disks that know of no other
  });

  it("tells what containers logged", () => {
    const living = new Living();
    living.pod("talks", { command: ["sh", "-c", "echo one; echo 'two words'; sleep inf"] });
    living.advance(5);
    const log = (query = "") => living.ask("GET", `${core}/pods/talks/log${query}`);
    expect(log().status).toBe(200);
    const { spec } = living.ask("GET", `${core}/pods/talks`).object as unknown as Pod;
    const text = (query: string): string => {
      const at = `/api/v1/nodes/${spec.nodeName}/proxy/containerLogs/default/talks/c${query}`;
      const { payload } = living.ask("GET", at);
      return new TextDecoder().decode(payload?.bytes());
    };
    expect(text("")).toBe("one\ntwo words\n");
    expect(text("?tailLines=1&timestamps=true")).toMatch(/^2030-01-01T00:00:\d\d\.\d{9}Z two words\n$/);
    expect(text("?limitBytes=3")).toBe("one");
    expect(log("?container=none").status).toBe(400);
  });

  it("serves what any agent does: pods, statistics, configuration, commands", () => {
    const living = new Living();
    living.pod("talks", { command: ["sh", "-c", "sleep inf"] });
    living.advance(5);
    const { spec } = living.ask("GET", `${core}/pods/talks`).object as unknown as Pod;
    const at = (path: string, method = "GET"): string => {
      const { payload } = living.ask(method, `/api/v1/nodes/${spec.nodeName}/proxy${path}`);
      return new TextDecoder().decode(payload?.bytes());
    };
    expect(at("/pods")).toContain('"name":"talks"');
    expect(at("/stats/summary")).toContain(`"nodeName":"${spec.nodeName}"`);
    expect(at("/configz")).toContain('"memory.available":"100Mi"');
    expect(at("/run/default/talks/c?cmd=echo+run", "POST")).toBe("run\n");
    expect(at("/metrics/resource")).toContain("pod_memory_working_set_bytes");
  });

  it("is given objects in whatever order they come, and says what cannot be made", () => {
    const group = "example.com";
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `lamps.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "lamps", singular: "lamp", kind: "Lamp", listKind: "LampList" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    };
    const objects: readonly JsonObject[] = [
      { apiVersion: `${group}/v1`, kind: "Lamp", metadata: { name: "desk", namespace: "home" } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "wide" } },
      { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec: { containers: [] } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "home" } },
      definition,
    ];
    const living = new Living();
    const result = living.seed(objects.map((object, at) => ({ object, where: `f: ${at}` })));
    expect([result.made, result.problems.length, result.problems[0]]).toEqual([
      4,
      1,
      expect.stringContaining('f: 2: Pod "bad" is invalid'),
    ]);
    expect(living.ask("GET", `/apis/${group}/v1/namespaces/home/lamps/desk`).status).toBe(200);
    expect(living.seed([{ object: objects[1] as JsonObject, where: "f" }])).toEqual({
      made: 0,
      present: 1,
      problems: [],
    });
  });
});
