import { describe, expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { RevisionStore } from "../store/revision-store.ts";
import { DrainWitness } from "./drain-witness.ts";

interface Given {
  readonly owner?: string;
  readonly kind?: string;
  readonly node?: string;
  readonly phase?: string;
  readonly isEnded?: boolean;
}

const podOf = (
  name: string,
  { owner, kind = "ReplicaSet", node = "n1", phase = "Running", isEnded = false }: Given,
): object => ({
  metadata: {
    name,
    namespace: "d",
    ...(isEnded ? { deletionTimestamp: "t" } : {}),
    ...(owner === undefined ? {} : { ownerReferences: [{ uid: owner, kind, controller: true }] }),
  },
  spec: { nodeName: node },
  status: { phase },
});

/** A store, a clock that is moved by hand, and what the witness says. */
function watched() {
  const kernel = new Kernel({ seed: "s" });
  const store = new RevisionStore();
  const witness = new DrainWitness(kernel.process("meter").clock, store);
  const key = (name: string): string => `/registry/pods/d/${name}`;
  const revisionOf = (name: string): number => {
    const held = store.get(key(name));
    return typeof held === "object" ? held.modRevision : 0;
  };
  return {
    begin: (node: string, ...pods: readonly [name: string, given: Given][]) =>
      witness.begin(
        node,
        pods.map(([name, given]) => podOf(name, given)),
      ),
    put: (name: string, given: Given) => store.put(key(name), revisionOf(name), () => podOf(name, given)),
    remove: (name: string) => store.delete(key(name), revisionOf(name)),
    at: (micros: number) => kernel.run(micros),
    drains: () => witness.figures().drains,
  };
}

const elsewhere = { owner: "rs", node: "n9" };

describe("a drain", () => {
  it("lasts until what ran there runs elsewhere, and not only until it is gone", () => {
    const { begin, put, remove, at, drains } = watched();
    expect(drains()).toBeUndefined();
    put("a", { owner: "rs" });
    at(100);
    begin("n1", ["a", { owner: "rs" }]);
    at(200);
    put("a", { owner: "rs", isEnded: true });
    put("b", { ...elsewhere, node: "", phase: "Pending" });
    remove("a");
    expect(drains()).toMatchObject({ nodes: 1, done: 0 });
    put("b", { ...elsewhere, phase: "Pending" });
    at(350);
    put("b", elsewhere);
    expect(drains()).toEqual({
      nodes: 1,
      done: 1,
      micros: { counts: expect.anything(), sum: 250, max: 250 },
      wholeMicros: 250,
    });
  });

  it("goes on when the pod that was to take a place never ran, also where its own node is drained next", () => {
    const { begin, put, remove, at, drains } = watched();
    put("a", { owner: "rs" });
    begin("n1", ["a", { owner: "rs" }]);
    put("a", { owner: "rs", isEnded: true });
    put("b", { owner: "rs", node: "n2", phase: "Pending" });
    remove("a");
    at(100);
    begin("n2", ["b", { owner: "rs", node: "n2", phase: "Pending" }]);
    put("b", { owner: "rs", node: "n2", phase: "Pending", isEnded: true });
    put("c", { ...elsewhere, phase: "Pending" });
    remove("b");
    expect(drains()).toMatchObject({ nodes: 2, done: 1 });
    at(300);
    put("c", elsewhere);
    expect(drains()).toMatchObject({ nodes: 2, done: 2, wholeMicros: 300, micros: { max: 300, sum: 300 } });
  });

  it("asks for no other pod of what nobody makes elsewhere, and is over at once where there is nothing", () => {
    const { begin, put, remove, at, drains } = watched();
    put("alone", {});
    put("daemon", { owner: "ds", kind: "DaemonSet" });
    begin("n1", ["alone", {}], ["daemon", { owner: "ds", kind: "DaemonSet" }]);
    begin("empty");
    expect(drains()).toMatchObject({ nodes: 2, done: 1 });
    at(50);
    remove("alone");
    put("daemon-2", { owner: "ds", kind: "DaemonSet" });
    remove("daemon");
    expect(drains()).toMatchObject({ nodes: 2, done: 2, wholeMicros: 50 });
  });
});
