import { describe, expect, it } from "vitest";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { evicted, history, memory, reading, shown } from "./hand-written.fixture.ts";
import { isLowMessage, judgeMessage, judgeMessages } from "./messages.ts";

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

describe("what a message says of the look that decided", () => {
  const settings = { evictionHard: { "memory.available": "20", "pid.available": "10" } };
  const text = (available: number, rest = "") =>
    `The node was low on resource: memory. Threshold quantity: 20, available: ${available}. ${rest}`;
  const blamed = (usage: number, request: number) =>
    `Container main was using ${usage}, request is ${request}, has larger consumption of memory. `;
  const judged = (message: string, bytes = 5, pids = 50) => {
    const readings = [15, 12].map((available, index) => {
      const at = reading(index * 10_000, available, { "n/a": memory(bytes) });
      return { ...at, signals: { ...at.signals, "pid.available": { available: pids, capacity: 100 } } };
    });
    const told = { afterMillis: 9500, byMillis: 10_500 };
    const requests = { memoryBytes: 5, diskBytes: 0 };
    const pods = [evicted("n/a", 12_000, { requests, eviction: shown(12_000, { message, told }) })];
    return judgeMessages(history(settings, [], { readings, pods })).violation;
  };

  it("accepts what was available then, and rejects what was at another look", () => {
    expect(judged(text(12))).toBeUndefined();
    expect(judged(text(15))?.expected).toContain("what was available then");
  });
  it("rejects a message without a threshold", () => {
    expect(judged("The node was low on resource: memory. ")?.expected).toContain("has quantities");
  });
  it("blames exactly who used more than the request, with both", () => {
    expect(judged(text(12, blamed(6, 5)), 6)).toBeUndefined();
    expect(judged(text(12), 6)?.expected).toContain("blames the container");
    expect(judged(text(12, blamed(7, 5)), 6)?.expected).toContain("used 6");
    expect(judged(text(12, blamed(6, 5)))?.expected).toContain("blames no container");
  });
  it("rejects another resource while memory drives", () => {
    const pids = "The node was low on resource: pids. Threshold quantity: 10, available: 5. ";
    expect(judged(pids, 5, 5)?.expected).toContain("names what was acted on: memory");
  });
});
