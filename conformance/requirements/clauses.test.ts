import { describe, expect, it } from "vitest";
import { clauseName, clausesNamed, readSections } from "./clauses.ts";
import { readRequirements } from "./rows.ts";

const document = [
  { title: "Watch", items: ["1", "2"] },
  { title: "Watch semantics", items: ["unset"] },
];

describe("clauses that a source names", () => {
  it.each([
    ["Watch 1, 2", ["Watch, 1", "Watch, 2"]],
    ["Watch, 1; Watch semantics, unset", ["Watch, 1", "Watch semantics, unset"]],
  ])("reads %s", (source, names) => {
    expect(clausesNamed(source, document)).toEqual(names);
  });

  it.each([
    ["Watches 1", /no section/],
    ["Watch 3", /Watch has no "3"/],
    ["Watch semantics 1", /Watch semantics has no "1"/],
    ["Watch", /which item of it\? 1, 2/],
    ["Watch 1;", /no section/],
  ])("refuses %s", (source, why) => {
    expect(() => clausesNamed(source, document)).toThrow(why);
  });
});

describe.each([1, 2, 3])("document %d", (number) => {
  const sections = readSections(number);
  const rows = [...readRequirements().values()].filter(({ source }) => source.document === number);

  it("has every title and every item once", () => {
    const names = sections.flatMap((section) => section.items.map((item) => clauseName(section, item)));
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(sections.map(({ title }) => title)).size).toBe(sections.length);
  });

  it("has every clause that a row names", () => {
    const wrong = rows.flatMap(({ id, source }) => {
      try {
        clausesNamed(source.clause, sections);
        return [];
      } catch (error) {
        return [`${id}: ${(error as Error).message}`];
      }
    });
    expect(wrong).toEqual([]);
  });

  it("has a row for each of its clauses", () => {
    const named = new Set(rows.flatMap(({ source }) => clausesNamed(source.clause, sections)));
    const without = sections.flatMap((section) =>
      section.items.map((item) => clauseName(section, item)).filter((name) => !named.has(name)),
    );
    expect(without).toEqual([]);
  });
});
