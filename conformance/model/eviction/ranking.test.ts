import { describe, expect, it } from "vitest";
import type { PodUsage } from "../../../wire/node-host.ts";
import { podLife } from "./hand-written.fixture.ts";
import { mayPrecede, usedOf } from "./ranking.ts";

const usage: PodUsage = {
  memoryBytes: 1,
  pids: 2,
  layers: { bytes: 10, inodes: 100 },
  volumes: { bytes: 20, inodes: 200 },
};

describe("what counts for a signal", () => {
  it("is all of a shared file system, or what lies on the one it is about", () => {
    const signals = ["nodefs.available", "nodefs.inodesFree", "imagefs.available", "containerfs.inodesFree"] as const;
    expect(signals.map((signal) => usedOf(signal, false)(usage))).toEqual([30, 300, 30, 300]);
    expect(signals.map((signal) => usedOf(signal, true)(usage))).toEqual([20, 200, 10, 100]);
    expect([usedOf("memory.available", true)(usage), usedOf("pid.available", true)(usage)]).toEqual([1, 2]);
  });
});

describe("the order of pods", () => {
  const candidate = (name: string, priority: number, fields: Partial<PodUsage>, diskBytes = 0) => ({
    pod: podLife(name, { priority, requests: { memoryBytes: 0, diskBytes } }),
    usage: { ...usage, ...fields },
  });
  it.each([
    ["memory.available", "memoryBytes"],
    ["nodefs.available", "volumes"],
  ] as const)(
    "of %s puts above its request before priority, priority before the excess, and no figures first",
    (signal, field) => {
      const used = (bytes: number): Partial<PodUsage> =>
        field === "memoryBytes" ? { memoryBytes: bytes } : { volumes: { bytes, inodes: 0 } };
      const of = (priority: number, bytes: number) => ({
        pod: podLife("a", { priority, requests: { memoryBytes: 10, diskBytes: 10 } }),
        usage: { ...usage, ...used(bytes) },
      });
      const precedes = (first: ReturnType<typeof of>, second: ReturnType<typeof of>) => [
        mayPrecede(signal, first, [second], true),
        mayPrecede(signal, second, [first], true),
      ];
      expect(precedes(of(9, 11), of(0, 10))).toEqual([true, false]); // as much as it requests is not above it
      expect(precedes(of(0, 11), of(1, 90))).toEqual([true, false]);
      expect(precedes(of(0, 90), of(0, 11))).toEqual([true, false]);
      expect(precedes(of(0, 50), of(0, 50))).toEqual([true, true]);
      const unseen = { ...of(9, 0), usage: undefined };
      expect([mayPrecede(signal, unseen, [of(0, 90)], true), mayPrecede(signal, of(0, 90), [unseen], true)]).toEqual([
        true,
        false,
      ]);
      expect(mayPrecede(signal, unseen, [{ ...unseen, pod: podLife("b") }], true)).toBe(true);
    },
  );
  it("of processes asks for no request", () => {
    const [few, many] = [candidate("a", 0, { pids: 1 }), candidate("b", 0, { pids: 9 })];
    expect(mayPrecede("pid.available", many, [few], false)).toBe(true);
    expect(mayPrecede("pid.available", few, [many], false)).toBe(false);
    expect(mayPrecede("pid.available", many, [{ ...few, usage: undefined }], false)).toBe(false);
    expect(mayPrecede("pid.available", { ...few, usage: undefined }, [many], false)).toBe(true);
    expect(mayPrecede("pid.available", few, [{ ...many, pod: podLife("b", { priority: 1 }) }], false)).toBe(true);
  });
  it("of inodes may subtract the bytes requested, or nothing", () => {
    const most = candidate("a", 0, { volumes: { bytes: 0, inodes: 90 } }, 1000);
    const less = candidate("b", 0, { volumes: { bytes: 0, inodes: 80 } });
    expect([
      mayPrecede("nodefs.inodesFree", most, [less], true),
      mayPrecede("nodefs.inodesFree", less, [most], true),
    ]).toEqual([true, true]);
    const plain = candidate("c", 0, { volumes: { bytes: 0, inodes: 90 } });
    expect(mayPrecede("nodefs.inodesFree", less, [plain], true)).toBe(false);
  });
});
