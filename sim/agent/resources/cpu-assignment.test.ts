import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuListText, parseCpuList } from "../../../wire/cpu-list.ts";
import { takeDistributed, takePacked, type TakeOptions, type Taken } from "./cpu-assignment.ts";
import { cpusOf, machineTopology, type Topology } from "./topology.ts";
import { dual, dualOfFour, dualOfTwo, dualPlain, single, twoCaches } from "./topologies.fixture.ts";

function cpus(text: string): readonly number[] {
  const read = parseCpuList(text);
  if ("error" in read) throw new Error(read.error);
  return read.cpus;
}

const words = (taken: Taken): string => ("error" in taken ? taken.error : cpuListText(taken.cpus));
const listed = (text: string): string => cpuListText(cpus(text));

type Case = readonly [topology: Topology, available: string, count: number, taken: string];

/** Figures of the published agent's own cases. */
const always: readonly Case[] = [
  [single, "0-7", 0, ""],
  [single, "0-7", 1, "0"],
  [single, "1,3,5-7", 1, "6"],
  [single, "0-7", 2, "0,4"],
  [single, "0-7", 8, "0-7"],
  [single, "0-3,6", 2, "2,6"],
  [dual, "0-11", 6, "0,2,4,6,8,10"],
  [dualOfTwo, "0-79", 40, "0-19,40-59"],
  [dualOfTwo, "0-79", 20, "0-9,40-49"],
  [dualOfTwo, "10-39,50-79", 20, "10-19,50-59"],
  [dualOfTwo, "0-79", 60, "0-29,40-69"],
  [dualOfTwo, "1-39,41-79", 60, "10-39,50-79"],
];

describe("packed", () => {
  it.each<Case>([
    ...always,
    [dual, "1-5,7-11", 1, "2"],
    [dual, "0-11", 8, "0,6,2,8,4,10,1,7"],
    [dualOfTwo, "0-79", 64, "0-29,40-69,30,31,70,71"],
    [dual, "1,3-11", 6, "1,3,5,7,9,11"],
    [dual, "2-4,6-11", 6, "2-4,8-10"],
    [dual, "1,3-11", 8, "1,3-5,7,9-11"],
    [dualPlain, "0,1,3-7", 4, "4-7"],
    [dualPlain, "1,3,6,7", 4, "1,3,6,7"],
  ])("%#: of %s", (topology, available, count, taken) => {
    expect(words(takePacked(topology, cpus(available), count))).toBe(listed(taken));
  });

  it("refuses more than there is", () => {
    const why = "not enough cpus available to satisfy request: requested=5, available=4";
    expect(takePacked(single, cpus("0,2,4,6"), 5)).toEqual({ error: why });
    expect(takeDistributed(single, cpus("0,2,4,6"), 5, 1)).toEqual({ error: why });
  });

  it.each<readonly [Topology, string, number, string, TakeOptions]>([
    [single, "0-7", 3, "0-2", { acrossCores: true }],
    [dual, "0-11", 2, "0,2", { acrossCores: true }],
    [dual, "0-11", 3, "0,2,4", { acrossCores: true }],
    [dual, "0-11", 6, "0,2,4,6,8,10", { acrossCores: true }],
    [dual, "0-11", 8, "0,2,4,6,8,10,1,3", { acrossCores: true }],
    [dualPlain, "0-7", 2, "0-1", { acrossCores: true }],
    [dualOfTwo, "0-79", 8, "0-7", { acrossCores: true }],
    [twoCaches, "2-7,10-15", 6, "4-6,12-14", { byCache: true }],
    [twoCaches, "1-7,9-15", 10, "4-7,12-15,1,9", { byCache: true }],
  ])("%#: by other wishes", (topology, available, count, taken, options) => {
    expect(words(takePacked(topology, cpus(available), count, options))).toBe(listed(taken));
  });
});

describe("distributed over NUMA nodes", () => {
  it.each<readonly [Topology, string, number, string, number]>([
    ...always.map(([topology, available, count, taken]) => [topology, available, count, taken, 1] as const),
    [dual, "0-11", 8, "0,6,2,8,1,7,3,9", 1],
    [dualOfTwo, "0-79", 64, "0-7,10-17,20-27,30-37,40-47,50-57,60-67,70-77", 1],
    [dualOfTwo, "0-79", 48, "0-7,10-17,20-27,40-47,50-57,60-67", 1],
    [dualOfTwo, "1-29,32-39,41-69,72-79", 48, "1-8,10-17,20-27,41-48,50-57,60-67", 1],
    [dualOfTwo, "2-29,31-39,42-69,71-79", 48, "10-17,20-27,31-38,50-57,60-67,71-78", 1],
    [
      dualOfTwo,
      "0-2,10-12,20-22,30-32,40-41,50-51,60-61,70-71",
      16,
      "0-1,10-11,20-21,30-31,40-41,50-51,60-61,70-71",
      1,
    ],
    [dual, "1-5,7-11", 1, "1", 1],
    [dual, "1-5,7-11", 1, "2", 2],
    [dualOfTwo, "0-79", 26, "0-6,10-16,40-45,50-55", 1],
    [dualOfTwo, "0-79", 26, "0-6,10-15,40-46,50-55", 2],
    [dualOfTwo, "0-79", 62, "0-7,10-17,20-27,30-37,40-47,50-57,60-66,70-76", 1],
    [dualOfTwo, "0-79", 62, "0-7,10-17,20-27,30-36,40-47,50-57,60-67,70-76", 2],
    [dualOfTwo, "0-8,10-18,20-39,40-48,50-58,60-79", 62, "0-7,10-17,20-27,30-37,40-46,50-56,60-67,70-77", 1],
    [dualOfTwo, "0-8,10-18,20-39,40-48,50-58,60-79", 62, "0-7,10-16,20-27,30-37,40-47,50-56,60-67,70-77", 2],
    [
      dualOfTwo,
      "0-3,10-13,20-23,30-36,40-43,50-53,60-63,70-76",
      34,
      "0-3,10-13,20-23,30-34,40-43,50-53,60-63,70-74",
      1,
    ],
    [
      dualOfFour,
      "0,128,30,31,158,159,43-47,171-175,62,63,190,191,75-79,203-207,94,96,222,223,101-111,229-239,126,127,254,255",
      28,
      "43-47,75-79,96,101-105,171-174,203-206,229-232",
      1,
    ],
  ])("%#", (topology, available, count, taken, size) => {
    expect(words(takeDistributed(topology, cpus(available), count, size))).toBe(listed(taken));
  });
});

it("gives exactly so many, each once and of what there is, whatever the machine", () => {
  const machines = fc.record({
    milliCpu: fc.integer({ min: 1000, max: 48_000 }),
    numaNodes: fc.integer({ min: 1, max: 4 }),
    threadsPerCore: fc.constantFrom(1, 2, 4),
    sockets: fc.integer({ min: 0, max: 4 }),
  });
  const options = fc.constantFrom<TakeOptions>({}, { acrossCores: true }, { byCache: true });
  fc.assert(
    fc.property(machines, fc.nat(), fc.nat(), options, fc.constantFrom(0, 1, 2), (machine, mask, want, more, size) => {
      const topology = machineTopology(machine);
      const available = cpusOf(topology).filter((id) => ((mask >> (id % 17)) & 1) === 0);
      const count = available.length === 0 ? 0 : want % (available.length + 1);
      const taken =
        size === 0
          ? takePacked(topology, available, count, more)
          : takeDistributed(topology, available, count, size, more);
      if ("error" in taken) throw new Error(taken.error);
      expect(taken.cpus).toHaveLength(count);
      expect(new Set(taken.cpus).size).toBe(count);
      expect(taken.cpus.every((cpu) => available.includes(cpu))).toBe(true);
    }),
    { seed: 1, numRuns: 400 },
  );
});
