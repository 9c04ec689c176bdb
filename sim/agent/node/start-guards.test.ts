import { expect, it } from "vitest";
import { refusedMachine, type StartGuards } from "./start-guards.ts";

const strict: StartGuards = { failSwapOn: true, failCgroupV1: true, protectKernelDefaults: true };
const machine = (changes: object) => ({ swapBytes: 0, cgroupVersion: 2, tunables: {}, ...changes }) as never;

it("machines are refused for swap, old control groups and a kernel that is set otherwise, unless flags let them", () => {
  expect(refusedMachine(machine({}), strict)).toBe(undefined);
  const rows: readonly [changes: object, guard: keyof StartGuards, text: string][] = [
    [{ swapBytes: 1 }, "failSwapOn", "swap"],
    [{ cgroupVersion: 1 }, "failCgroupV1", "version 1"],
    [
      { tunables: { "kernel.panic": "0", "vm.overcommit_memory": "1" } },
      "protectKernelDefaults",
      "invalid kernel flag: kernel/panic, expected value: 10, actual value: 0",
    ],
  ];
  for (const [changes, guard, text] of rows) {
    expect(refusedMachine(machine(changes), strict)).toContain(text);
    expect(refusedMachine(machine(changes), { ...strict, [guard]: false })).toBe(undefined);
  }
});
