import { describe, expect, it } from "vitest";
import { Holds } from "./holds.ts";

describe("holds", () => {
  it("are open from taking to release, and release once", async () => {
    const holds = new Holds();
    const [first, second] = [holds.take("gzip"), holds.take("disk")];
    expect([holds.openCount, holds.names()]).toEqual([2, ["gzip", "disk"]]);
    const released = holds.released();
    first();
    first();
    await released;
    expect([holds.openCount, holds.names(), holds.activityCount]).toEqual([1, ["disk"], 3]);
    second();
    expect(holds.openCount).toBe(0);
  });

  it("deliver overlapping results in the order of beginning", async () => {
    const holds = new Holds();
    const finish: (() => void)[] = [];
    const delivered: string[] = [];
    const begin = (name: string): Promise<unknown> =>
      holds
        .outside(name, () => new Promise<string>((resolve) => finish.push(() => resolve(name))))
        .then((value) => delivered.push(value));
    const all = [begin("a"), begin("b"), begin("c")];
    for (const index of [2, 1]) {
      finish[index]?.();
      await new Promise((resolve) => setImmediate(resolve));
      expect([delivered, holds.openCount]).toEqual([[], 3]);
    }
    finish[0]?.();
    await Promise.all(all);
    expect([delivered, holds.openCount]).toEqual([["a", "b", "c"], 0]);
  });

  it("are released by outside work that fails", async () => {
    const holds = new Holds();
    await expect(holds.outside("broken", () => Promise.reject(new Error("no disk")))).rejects.toThrow("no disk");
    expect(holds.openCount).toBe(0);
  });
});
