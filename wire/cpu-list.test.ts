import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuListText, parseCpuList } from "./cpu-list.ts";

describe("lists of processors", () => {
  it("are read as they are written", () => {
    const lists = fc
      .uniqueArray(fc.nat(300), { maxLength: 60 })
      .map((cpus) => cpus.toSorted((one, other) => one - other));
    fc.assert(
      fc.property(lists, (cpus) => {
        expect(parseCpuList(cpuListText(cpus))).toEqual({ cpus });
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("may overlap, be in any order and end with a line's end", () => {
    expect(parseCpuList("7,2-4,3\n")).toEqual({ cpus: [2, 3, 4, 7] });
    expect(parseCpuList("7, 2")).toEqual({ error: 'strconv.Atoi: parsing " 2": invalid syntax' });
    expect(parseCpuList("")).toEqual({ cpus: [] });
    expect(cpuListText([0, 1, 3, 5, 6, 7])).toBe("0-1,3,5-7");
  });

  it.each([
    ["a", 'strconv.Atoi: parsing "a": invalid syntax'],
    ["1.3", 'strconv.Atoi: parsing "1.3": invalid syntax'],
    ["3-1", 'invalid range "3-1" (3 > 1)'],
    ["1-2-3", 'strconv.Atoi: parsing "1-2-3": invalid syntax'],
    ["1,", 'strconv.Atoi: parsing "": invalid syntax'],
    ["0-999999999", "processors are numbered below"],
  ])("%j is none", (text, why) => {
    expect(parseCpuList(text)).toMatchObject({ error: expect.stringContaining(why) });
  });
});
