import { describe, expect, it } from "vitest";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { evicted, history, podLife, reading, shown } from "./hand-written.ts";
import { isLowMessage, judgeEnds, judgeMessage, judgeMessages, judgeStatus, judgeStatuses } from "./statuses.ts";

const rules = parseEvictionSettings({
  evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%" },
  evictionMinimumReclaim: { "memory.available": "50Mi" },
});
if ("error" in rules) throw new Error(rules.error);

const judge = (message: string, capacities: readonly number[] = []) =>
  judgeMessage("n/a", message, rules, () => capacities);
const low = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. ";

describe("messages of evictions", () => {
  it.each([
    low,
    "The node was low on resource: memory. ",
    "The node was low on resource: memory. Threshold quantity: 104857600, available: 149Mi. ",
    `${low}Container a was using 200Mi, request is 100Mi, has larger consumption of memory. `,
    `${low}Container a was using 2Mi, request is 1Mi, has larger consumption of memory. Container b was using 1, request is 0, has larger consumption of memory. `,
  ])("accepts %j", (message) => {
    expect(judge(message)).toBeUndefined();
  });
  it.each([
    ["", "which resource"],
    [low.trim(), "which resource"],
    [low.replace("memory", "pids"), "a resource with a threshold"],
    [low.replace("100Mi", "101Mi"), "a threshold that is configured"],
    [low.replace("51200Ki", "150Mi"), "less available"],
    [low.replace("51200Ki", "soon"), "quantities"],
    [low.replace("100Mi", "much"), "quantities"],
    [`${low}Container a was using much, request is 0, has larger consumption of memory. `, "quantities for a"],
    [`${low}Container a was using 1, request is little, has larger consumption of memory. `, "quantities for a"],
    [`${low}Container a was using 1Mi, request is 1Mi, has larger consumption of memory. `, "above their requests"],
    [`${low}Container a was using 1Mi, request is 0, has larger consumption of inodes. `, "consumption of memory"],
  ])("rejects %j", (message, expected) => {
    expect(judge(message)?.expected).toContain(expected);
  });
  it("compares a percentage where the capacity is known", () => {
    const ofDisk = (quantity: number) =>
      `The node was low on resource: ephemeral-storage. Threshold quantity: ${quantity}, available: 50. `;
    expect(judge(ofDisk(100), [1000])).toBeUndefined();
    expect(judge(ofDisk(101), [1000])).toBeDefined();
    expect(judge(ofDisk(101))).toBeUndefined();
    expect(judge(ofDisk(100), [500, 1000])).toBeUndefined(); // it may have changed between two looks
  });
  it("adds the minimum reclaim to what is enough, of the greatest capacity that was seen", () => {
    const relative = parseEvictionSettings({
      evictionHard: { "nodefs.available": "10%", "imagefs.available": "20%" },
      evictionMinimumReclaim: { "nodefs.available": "5%", "imagefs.available": "5%" },
    });
    if ("error" in relative) throw new Error(relative.error);
    const available = (amount: number, capacities: readonly number[]) =>
      judgeMessage(
        "n/a",
        `The node was low on resource: ephemeral-storage. Threshold quantity: 100, available: ${amount}. `,
        relative,
        () => capacities,
      );
    expect(available(149, [1000])).toBeUndefined();
    expect(available(150, [1000])?.expected).toContain("less available");
    expect(available(199, [1000, 2000])).toBeUndefined();
    expect(available(200, [1000, 2000])).toBeDefined();
    expect(available(9999, [])).toBeUndefined(); // of nothing that is known
    const either = parseEvictionSettings({
      evictionHard: { "nodefs.available": "100", "imagefs.available": "100" },
      evictionMinimumReclaim: { "imagefs.available": "50" },
    });
    if ("error" in either) throw new Error(either.error);
    const text = (amount: number) =>
      `The node was low on resource: ephemeral-storage. Threshold quantity: 100, available: ${amount}. `;
    expect(judgeMessage("n/a", text(149), either, () => [])).toBeUndefined();
    expect(judgeMessage("n/a", text(150), either, () => [])).toBeDefined();
  });
  it("tells those of a pod's own limits, and rejections, apart", () => {
    expect(isLowMessage(low)).toBe(true);
    expect(isLowMessage("Pod was rejected: The node had condition: [MemoryPressure]. ")).toBe(false);
    expect(isLowMessage('Usage of EmptyDir volume "a" exceeds the limit "1Mi". ')).toBe(false);
  });
});

describe("statuses of evicted pods", () => {
  it("accepts Failed, Evicted, terminated by the agent", () => {
    expect(judgeStatus("n/a", shown(0))).toBeUndefined();
  });
  it.each([
    { phase: "Succeeded" },
    { reason: "OutOfMemory" },
    { disruptionTarget: undefined },
    { disruptionTarget: { status: "False", reason: "TerminationByKubelet" } },
    { disruptionTarget: { status: "True", reason: "EvictionByEvictionAPI" } },
  ])("rejects %j", (fields) => {
    expect(judgeStatus("n/a", shown(0, fields))).toBeDefined();
  });
});

describe("ends", () => {
  const running = { phase: "Running", reason: "" };
  const failed = { phase: "Failed", reason: "Evicted" };
  it("accepts that what is evicted stays so", () => {
    const pods = [evicted("n/a", 0, { statuses: [running, failed] }), podLife("n/b", { statuses: [running] })];
    expect(judgeEnds(history({}, [], { pods }))).toEqual({ judged: true, violation: undefined });
  });
  it("rejects a second life, and the eviction of what had ended", () => {
    const judged = (...statuses: { phase: string; reason: string }[]) =>
      judgeEnds(history({}, [], { pods: [evicted("n/a", 0, { statuses })] })).violation;
    expect(judged(running, failed, running)?.actual).toBe("Running");
    expect(judged(running, { phase: "Succeeded", reason: "" }, failed)?.expected).toContain("Succeeded");
  });
});

describe("the statuses and messages of all who were evicted", () => {
  const percent = { evictionHard: { "memory.available": "20%" } };
  const told = (...pods: ReturnType<typeof evicted>[]) => history(percent, [30, 15], { pods });
  const naming = (quantity: string) =>
    evicted("n/b", 12_000, {
      eviction: shown(12_000, {
        message: `The node was low on resource: memory. Threshold quantity: ${quantity}, available: 15. `,
      }),
    });

  it("accepts them when each is lawful, a percentage being of what the looks showed", () => {
    expect(judgeStatuses(told(evicted("n/a", 12_000)))).toEqual({ judged: true, violation: undefined });
    expect(judgeMessages(told(evicted("n/a", 12_000), naming("20")))).toEqual({ judged: true, violation: undefined });
  });

  it("rejects them when one is not", () => {
    const wrong = evicted("n/b", 12_000, { eviction: shown(12_000, { phase: "Succeeded" }) });
    expect(judgeStatuses(told(evicted("n/a", 12_000), wrong)).violation?.expected).toContain("n/b");
    expect(judgeMessages(told(evicted("n/a", 12_000), naming("21"))).violation?.expected).toContain("n/b");
  });

  it("has nothing to judge where nobody was evicted, and takes looks without the signal", () => {
    expect([judgeStatuses(told(podLife("n/a"))).judged, judgeMessages(told(podLife("n/a"))).judged]).toEqual([
      false,
      false,
    ]);
    const blind = { ...told(naming("20")), readings: [{ ...reading(0, 15), signals: {} }, reading(10_000, 15)] };
    expect(judgeMessages(blind).violation).toBeUndefined();
    expect(judgeMessages({ ...blind, pods: [naming("21")] }).violation).toBeDefined();
  });
});

describe("ends, to the letter", () => {
  const failed = { phase: "Failed", reason: "Evicted" };
  const judged = (...statuses: { phase: string; reason: string }[]) =>
    judgeEnds(history({}, [], { pods: [podLife("n/a", { statuses })] }));

  it("rejects what follows at once, another reason, and another phase", () => {
    expect(judged(failed, { phase: "Running", reason: "" }).violation).toBeDefined();
    expect(judged(failed, { phase: "Failed", reason: "Error" }).violation).toBeDefined();
    expect(judged(failed, { phase: "Succeeded", reason: "Evicted" }).violation?.expected).toBe(
      "n/a stays Failed Evicted",
    );
  });

  it("accepts the same again, and has nothing to judge where nobody was evicted", () => {
    expect(judged(failed, failed)).toEqual({ judged: false, violation: undefined });
    expect(judged({ phase: "Running", reason: "" })).toEqual({ judged: false, violation: undefined });
    expect(judged(failed, { phase: "Running", reason: "" }).judged).toBe(true);
  });
});
