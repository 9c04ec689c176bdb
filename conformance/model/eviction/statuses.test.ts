import { describe, expect, it } from "vitest";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { evicted, history, podLife, shown } from "./hand-written.ts";
import { isLowMessage, judgeEnds, judgeMessage, judgeStatus } from "./statuses.ts";

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
