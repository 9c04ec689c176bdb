import { describe, expect, it } from "vitest";
import { metadataOf } from "../../contract/objects.ts";
import { AgentWorld, pods } from "../agent-world.fixture.ts";
import { ResizingMachine } from "../resizing-machine.fixture.ts";
import type { Condition, PodStatus } from "./pod-types.ts";

class Machine extends ResizingMachine {
  readonly world = new AgentWorld({}, 700_000, { around: (inner, machine) => this.around(inner, machine) });

  constructor() {
    super();
    this.world.runtime.images.set("app:1", {});
    this.world.runtime.images.set("fails:1", { endsAfterMicros: 1_000_000, exitCode: 1 });
    this.world.run(3);
  }

  create(name: string, cpu: string, memory: string, container: object = {}): void {
    const resources = { requests: { cpu, memory } };
    this.world.create(name, { containers: [{ name: "c", image: "app:1", resources, ...container }] });
    this.world.run(5);
  }

  /** What the API server says to it. */
  resize(name: string, requests: object, list = "containers", container = "c"): void {
    const body = { spec: { [list]: [{ name: container, resources: { requests } }] } };
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    const answer = this.world.bed.ask(`PATCH ${pods}/${name}/resize`, { as: "admin", body, headers });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  /** Calls that give a container other resources: shares, which are 1024 of a processor. */
  updates(): readonly unknown[] {
    return this.world.runtime.calls
      .filter(({ method }) => method === "UpdateContainerResources")
      .map(({ message }) => (message as { linux: { cpuShares: number } }).linux.cpuShares);
  }

  startCount(): number {
    return this.world.runtime.calls.filter(({ method }) => method === "StartContainer").length;
  }

  status(name: string): PodStatus {
    return this.world.status(name) as PodStatus;
  }

  uid(name: string): string {
    return metadataOf(this.world.get(name)).uid ?? "";
  }

  requests(name: string): unknown {
    return this.status(name).containerStatuses?.[0]?.resources?.requests;
  }

  /** Of the change alone. */
  conditions(name: string): readonly Partial<Condition>[] {
    return (this.status(name).conditions ?? [])
      .filter(({ type }) => type.startsWith("PodResize"))
      .map(({ type, reason, message }) => ({
        type,
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
      }));
  }
}

describe("a running pod that wants other resources", () => {
  it("gets them while it runs, one after the other, and says so", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    expect(machine.requests("a")).toEqual({ cpu: "500m", memory: "64Mi" });
    machine.resize("a", { cpu: "1", memory: "128Mi" });
    machine.world.run(0.2);
    expect(machine.conditions("a")).toEqual([{ type: "PodResizeInProgress" }]);
    machine.world.run(3);
    expect(machine.updates()).toEqual([512, 1024]); // its memory, then its processors
    expect(machine.requests("a")).toEqual({ cpu: "1", memory: "128Mi" });
    expect(machine.conditions("a")).toEqual([]);
    expect(machine.status("a").containerStatuses?.[0]?.restartCount).toBe(0);
    machine.world.run(200);
    expect(machine.updates()).toHaveLength(2);
  });

  it("is started anew for those whose policy says so", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi", { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] });
    machine.resize("a", { cpu: "1", memory: "64Mi" });
    machine.world.run(20);
    expect(machine.updates()).toEqual([]);
    expect(machine.world.events("a")).toContain("Killing Container c resize requires restart 1");
    expect(machine.status("a").containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      resources: { requests: { cpu: "1", memory: "64Mi" } },
    });
    expect(machine.conditions("a")).toEqual([]);
  });

  it.each(["containers", "initContainers"] as const)("is not kept waiting by what failed before: %s", (list) => {
    const machine = new Machine();
    const policy = list === "initContainers" ? { restartPolicy: "Always" } : {};
    const spec = { containers: [{ name: "c", image: "app:1" } as object], initContainers: [] as object[] };
    spec[list].push({ name: "f", image: "fails:1", resources: { requests: { cpu: "100m" } }, ...policy });
    machine.world.create("a", spec);
    machine.world.run(60);
    const before = machine.startCount();
    machine.resize("a", { cpu: "200m" }, list, "f");
    machine.world.run(4);
    expect(machine.startCount()).toBe(before + 1);
  });

  it("waits while others have them, and gets them once they are gone", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    machine.create("b", "1", "64Mi");
    machine.resize("a", { cpu: "1500m", memory: "64Mi" });
    machine.world.run(3);
    const message = "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000";
    expect(machine.conditions("a")).toEqual([{ type: "PodResizePending", reason: "Deferred", message }]);
    expect(machine.requests("a")).toEqual({ cpu: "500m", memory: "64Mi" });
    // What is only wanted is nobody's: another pod still finds room.
    machine.create("c", "500m", "64Mi");
    expect(machine.status("c").phase).toBe("Running");
    for (const name of ["b", "c"]) {
      machine.world.bed.ask(`DELETE ${pods}/${name}`, { as: "admin", body: { gracePeriodSeconds: 0 } });
    }
    machine.world.run(100);
    expect(machine.conditions("a")).toEqual([]);
    expect(machine.requests("a")).toEqual({ cpu: "1500m", memory: "64Mi" });
  });

  it("never gets more than the node has", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    machine.resize("a", { cpu: "3", memory: "64Mi" });
    machine.world.run(3);
    const message = "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000";
    expect(machine.conditions("a")).toEqual([{ type: "PodResizePending", reason: "Infeasible", message }]);
    machine.resize("a", { cpu: "500m", memory: "64Mi" });
    machine.world.run(3);
    expect(machine.conditions("a")).toEqual([]);
    expect(machine.updates()).toEqual([]);
  });

  it("says why a runtime did not give them, and is tried again", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    machine.refuses = true;
    machine.resize("a", { cpu: "1", memory: "64Mi" });
    machine.world.run(5);
    const message = "rpc error: code = Unknown desc = no";
    expect(machine.conditions("a")).toEqual([{ type: "PodResizeInProgress", reason: "Error", message }]);
    expect(machine.requests("a")).toEqual({ cpu: "500m", memory: "64Mi" });
    machine.refuses = false;
    machine.world.run(20);
    expect(machine.conditions("a")).toEqual([]);
    expect(machine.requests("a")).toEqual({ cpu: "1", memory: "64Mi" });
  });

  describe("that has to wait", () => {
    const waiting = [{ type: "PodResizePending", reason: "Deferred" }];

    function waits(container: object): Machine {
      const machine = new Machine();
      machine.create("a", "500m", "64Mi", container);
      machine.create("b", "1", "64Mi");
      machine.resize("a", { cpu: "1500m", memory: "64Mi" });
      machine.world.run(20);
      expect(machine.conditions("a")).toMatchObject(waiting);
      return machine;
    }

    it.each([
      ["has what it was given when its agent begins anew", {}, true],
      ["has it as well where nothing runs that would tell, since it was written down", { image: "fails:1" }, false],
    ])("%s", (_, container, runs) => {
      const machine = waits(container);
      expect(machine.status("a").containerStatuses?.[0]?.state.running !== undefined).toBe(runs);
      machine.world.restart(1);
      machine.world.run(10);
      expect(machine.conditions("a")).toMatchObject(waiting);
      expect(["a", "b"].map((name) => machine.status(name).phase)).toEqual(["Running", "Running"]);
      expect(machine.requests("a")).toEqual({ cpu: "500m", memory: "64Mi" });
    });

    it.each([
      "",
      "null",
      "{",
      "[]",
      '{"entries":7}',
      '{"entries":{"UID":null}}',
      '{"entries":{"UID":{"allocated":[1],"actuated":"c"}}}',
      '{"entries":{"UID":{"allocated":{"c":null},"actuated":{"c":null}}}}',
    ])("goes by what is told of it where its file says %j", (text) => {
      const machine = waits({});
      machine.overwrite(text.replace("UID", machine.uid("a")));
      machine.world.restart(1);
      machine.world.run(10);
      expect(machine.conditions("a")).toMatchObject(waiting);
      expect(machine.requests("a")).toEqual({ cpu: "500m", memory: "64Mi" });
    });
  });

  it("gets what it was given and had not got before its agent died", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    machine.refuses = true;
    machine.resize("a", { cpu: "1", memory: "64Mi" });
    machine.world.run(2);
    machine.refuses = false;
    machine.world.restart(1);
    machine.world.run(10);
    expect(machine.updates().at(-1)).toBe(1024);
    expect(machine.requests("a")).toEqual({ cpu: "1", memory: "64Mi" });
    expect(machine.conditions("a")).toEqual([]);
  });

  it("gets what was asked while its agent was away, with nothing written down of it", () => {
    const machine = new Machine();
    machine.create("a", "500m", "64Mi");
    machine.world.restart(1, 0, () => machine.resize("a", { cpu: "1", memory: "64Mi" }));
    machine.world.run(10);
    expect(machine.updates()).toEqual([1024]);
    expect(machine.requests("a")).toEqual({ cpu: "1", memory: "64Mi" });
  });
});
