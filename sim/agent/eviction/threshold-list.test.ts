import { describe, expect, it } from "vitest";
import { type EvictionSettings, parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { withAllocatable, withContainerfs } from "./threshold-list.ts";

function rules(settings: EvictionSettings) {
  const parsed = parseEvictionSettings(settings);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed;
}

describe("derived thresholds", () => {
  it("copy hard ones of memory for all pods together, with their minimum reclaim", () => {
    const settings = {
      evictionHard: { "memory.available": "1Gi", "pid.available": "5" },
      evictionSoft: { "memory.available": "2Gi" },
      evictionSoftGracePeriod: { "memory.available": "5s" },
      evictionMinimumReclaim: { "memory.available": "7" },
    };
    const copied = withAllocatable(rules(settings), { enforcesPods: true, ignoresEviction: false }).thresholds.slice(3);
    expect(copied).toMatchObject([
      { signal: "allocatableMemory.available", value: { text: "1Gi" }, minimumReclaim: { amount: 7 }, graceMillis: 0 },
    ]);
    for (const off of [
      { enforcesPods: false, ignoresEviction: false },
      { enforcesPods: true, ignoresEviction: true },
    ]) {
      expect(withAllocatable(rules(settings), off).thresholds).toHaveLength(3);
    }
  });

  it("give containerfs the values of the file system that it is part of, in place, and add what is missing", () => {
    const { thresholds } = rules({
      evictionHard: { "containerfs.available": "1%", "nodefs.available": "10%", "imagefs.available": "20%" },
      evictionSoft: { "nodefs.inodesFree": "30%" },
      evictionSoftGracePeriod: { "nodefs.inodesFree": "5s" },
    });
    const shown = (layout: "one" | "dedicated-imagefs") =>
      withContainerfs(thresholds, layout).map(({ signal, value }) => [
        signal,
        "fraction" in value ? Math.round(value.fraction * 100) : value.amount,
      ]);
    const own = [
      ["nodefs.available", 10],
      ["imagefs.available", 20],
      ["nodefs.inodesFree", 30],
    ];
    expect(shown("one")).toEqual([["containerfs.available", 10], ...own, ["containerfs.inodesFree", 30]]);
    expect(shown("dedicated-imagefs")).toEqual([["containerfs.available", 20], ...own]);
  });
});
