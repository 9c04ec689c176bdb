import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentBugsOn } from "../../planted/agent-bugs.ts";
import type { ActivePod, QosClass } from "../ports.ts";
import { preemptionWith } from "../planted/preemption-bugs.ts";
import { type Lack, preemptionFor, requestOf } from "./preemption.ts";

const critical = 2_000_000_000;

function pod(name: string, qos: QosClass, milliCpu: number, memoryBytes: number, priority?: number): ActivePod {
  const spec = { containers: [], ...(priority === undefined ? {} : { priority }) };
  const object = { metadata: { name, namespace: "default", uid: name }, spec };
  const requests = { milliCpu, memoryBytes, ephemeralStorageBytes: 0, pods: 1 as const, others: {} };
  const isCritical = (priority ?? 0) >= critical;
  return { uid: name, namespace: "default", name, object, qos, priority: priority ?? 0, isCritical, requests } as never;
}

const preemptor = pod("critical", "Burstable", 1000, 0, critical);
const cpu = (amount: number): readonly Lack[] => [{ resource: "cpu", amount }];

function victims(others: readonly ActivePod[], lacks: readonly Lack[]): readonly string[] | string {
  const found = preemptionFor(preemptor, others, lacks);
  return "error" in found ? found.error : found.victims.map(({ name }) => name);
}

describe("a critical pod makes room", () => {
  it.each<[what: string, others: readonly ActivePod[], lacks: readonly Lack[], gone: readonly string[]]>([
    [
      "by the pod that leaves the least to be found",
      [pod("small", "Burstable", 500, 0), pod("large", "Burstable", 1500, 0)],
      cpu(1000),
      ["large"],
    ],
    [
      "by the one that asks for less, where two would do",
      [pod("large", "Burstable", 1500, 9), pod("fits", "Burstable", 1000, 5)],
      cpu(1000),
      ["fits"],
    ],
    [
      "by cheap classes before dear ones",
      [pod("dear", "Guaranteed", 1000, 1), pod("one", "Burstable", 600, 1), pod("two", "Burstable", 500, 1)],
      cpu(1000),
      ["one", "two"],
    ],
    [
      "by a dear one only for what the others cannot give, and then the others are spared",
      [pod("dear", "Guaranteed", 1000, 1), pod("one", "Burstable", 600, 1)],
      cpu(1000),
      ["dear"],
    ],
    [
      "by idle pods where places for pods are lacking",
      [pod("dear", "Guaranteed", 1000, 1), pod("idle", "BestEffort", 0, 0)],
      [{ resource: "pods", amount: 1 }],
      ["idle"],
    ],
    [
      "never by another critical one that is as high",
      [pod("other", "Guaranteed", 5000, 1, critical), pod("one", "Burstable", 1000, 1)],
      cpu(1000),
      ["one"],
    ],
  ])("%s", (_what, others, lacks, gone) => {
    expect(victims(others, lacks)).toEqual(gone);
  });

  it("not at all where nobody can give it", () => {
    expect(victims([pod("one", "Burstable", 400, 0)], cpu(1000))).toBe(
      "preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 600), ]",
    );
  });

  it("with enough, nobody too dear and nobody who may not go, whatever there is", () => {
    expect(() => judge()).not.toThrow();
  });

  it.each(["preempt-critical-too", "preempt-dear-first", "preempt-one-short"])("by none of this: %s", (bug) => {
    expect(() => judge(preemptionWith(agentBugsOn([bug])))).toThrow();
  });
});

/** Throws with the first case that breaks the law, which is reckoned from the pods alone. */
function judge(preempt = preemptionFor): void {
  const qos = fc.constantFrom<QosClass>("BestEffort", "Burstable", "Guaranteed");
  const anyPod = fc.tuple(qos, fc.nat(2000), fc.nat(2000), fc.constantFrom(undefined, 5, critical, critical + 1));
  const anyLack = fc.record({ cpu: fc.nat(3000), memory: fc.nat(3000) });
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 12 }), anyLack, (rows, lack) => {
      const others = rows.map(([kind, milliCpu, memory, priority], at) =>
        kind === "BestEffort" ? pod(`p${at}`, kind, 0, 0, priority) : pod(`p${at}`, kind, milliCpu, memory, priority),
      );
      const lacks = Object.entries(lack).flatMap(([resource, amount]) => (amount > 0 ? [{ resource, amount }] : []));
      const mayGo = others.filter(({ priority }) => priority < critical);
      const frees = (pods: readonly ActivePod[]): boolean =>
        lacks.every(
          ({ resource, amount }) => pods.reduce((sum, each) => sum + requestOf(each.requests, resource), 0) >= amount,
        );
      const found = preempt(preemptor, others, lacks);
      expect("error" in found).toBe(!frees(mayGo));
      if ("error" in found) return;
      expect(frees(found.victims)).toBe(true);
      expect(new Set(found.victims).size).toBe(found.victims.length);
      expect(found.victims.every((each) => mayGo.includes(each))).toBe(true);
      if (frees(mayGo.filter((each) => each.qos !== "Guaranteed")))
        expect(found.victims.every((each) => each.qos !== "Guaranteed")).toBe(true);
      expect(sparedToo(found.victims, mayGo, frees)).toBeUndefined();
    }),
    { seed: 1, numRuns: 500 },
  );
}

/**
 * Somebody that went and could have been spared: the last of a class that was chosen, where what may go of cheaper classes and
 * what goes of the dearer ones is enough without it.
 */
function sparedToo(
  victims: readonly ActivePod[],
  mayGo: readonly ActivePod[],
  frees: (pods: readonly ActivePod[]) => boolean,
): string | undefined {
  const classes: readonly QosClass[] = ["BestEffort", "Burstable", "Guaranteed"];
  for (const [at, qos] of classes.entries()) {
    const chosen = victims.filter((each) => each.qos === qos);
    const last = chosen.at(-1);
    if (last === undefined) continue;
    // Of the cheapest class there is nothing below it; of the middle one what is idle; of the dear one both.
    const cheaper = mayGo.filter((each) => classes.indexOf(each.qos) < at);
    const dearer = victims.filter((each) => classes.indexOf(each.qos) > at);
    if (frees([...cheaper, ...dearer, ...chosen.slice(0, -1)])) return last.name;
  }
  return undefined;
}

it("The law of what is spared sees whoever went for nothing", () => {
  const [one, two] = [pod("one", "Burstable", 600, 1), pod("two", "Burstable", 500, 1)];
  const enough = (pods: readonly ActivePod[]): boolean =>
    pods.reduce((sum, { requests }) => sum + requests.milliCpu, 0) >= 600;
  expect(sparedToo([one], [one, two], enough)).toBeUndefined();
  expect(sparedToo([one, two], [one, two], enough)).toBe("two");
  const dear = pod("dear", "Guaranteed", 600, 1);
  expect(sparedToo([dear], [one, two, dear], enough)).toBe("dear");
});
