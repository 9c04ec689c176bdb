import { describe, expect, it } from "vitest";
import { cpuStateText, memoryStateText, readCpuState, readMemoryState } from "./state-files.ts";

describe("what is written down of processors", () => {
  const state = { shared: [0, 3], entries: new Map([["pod", new Map([["c", [1, 2]]])]]) };

  it("is read as it was written", () => {
    const text = cpuStateText("static", state);
    expect(JSON.parse(text)).toMatchObject({ defaultCpuSet: "0,3", entries: { pod: { c: "1-2" } } });
    expect(readCpuState(text)).toEqual({ policy: "static", state });
    expect(readCpuState(text.replace("1-2", "1"))).toEqual({ error: "checkpoint is corrupted" });
  });
});

describe("checksums of processors", () => {
  it.each([
    ['{"policyName":"none","defaultCpuSet":"4-6","checksum":354655845}'],
    [
      '{"policyName":"none","defaultCpuSet":"1-3","entries":{"pod":{"container1":"4-6","container2":"1-3"}},"checksum":3610638499}',
    ],
  ])("are those of the published agent's own cases: %s", (published) => {
    const read = readCpuState(published);
    if ("error" in read) throw new Error(read.error);
    expect(cpuStateText(read.policy, read.state)).toBe(published);
  });
});

describe("what is written down of memory", () => {
  /** Of the published agent's own cases. */
  const published =
    '{"policyName":"static","machineState":{"0":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":2048,"systemReserved":512,"allocatable":1536,"reserved":512,"free":1024}},"cells":[]}},"entries":{"pod":{"container1":[{"numaAffinity":[0],"type":"memory","size":512}]}},"checksum":4215593881}';

  it("has the published checksum", () => {
    const read = readMemoryState(published);
    if ("error" in read) throw new Error(read.error);
    expect(memoryStateText(read.policy, read.state)).toBe(published);
    expect(readMemoryState(published.replace("512}]", "513}]"))).toEqual({ error: "checkpoint is corrupted" });
    expect(readMemoryState(published.replace("4215593881", "0"))).toEqual(read);
  });

  it.each([
    "[]",
    '{"policyName":"Static","machineState":{"0":{}}}',
    '{"policyName":"Static","entries":{"a":{"b":[1]}}}',
  ])("is refused where it has other fields: %s", (text) => expect(readMemoryState(text)).toHaveProperty("error"));
});
