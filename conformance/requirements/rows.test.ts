import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allChecks } from "../checks/index.ts";
import { suiteProfiles } from "../profiles/index.ts";
import { parseRequirements, readRequirements } from "./rows.ts";

const rows = readRequirements();
const row = `- id: watch.reliable
  level: must
  source: { document: 1, clause: "Watch 1" }
  text: Every change is delivered.
  judged: url
`;

describe("requirement rows", () => {
  it("reads a row", () => {
    expect(parseRequirements("watch.yaml", row)).toEqual([
      {
        id: "watch.reliable",
        level: "must",
        source: { document: 1, clause: "Watch 1" },
        reading: undefined,
        text: "Every change is delivered.",
        judged: "url",
        why: undefined,
        tests: [],
      },
    ]);
  });

  const wrong: readonly [what: string, from: string, to: string][] = [
    ["a mistyped key", "level:", "levle:"],
    ["a mistyped key of the source", "clause:", "clouse:"],
    ["an unknown level", "must", "shall"],
    ["a check of what is only recommended", "must", "should"],
    ["a check of what is only allowed", "must", "may"],
    ["an id that is a section number", "watch.reliable", "7.2"],
    ["an empty text", "Every change is delivered.", '""'],
    ["a must without a document", "document: 1, ", ""],
    ["an observation with a document", "level: must", "level: observed"],
    ["no reason why no check judges it", "judged: url", "judged: no"],
    ["a test of what a check judges", "judged: url", "judged: url\n  tests: [sim/a.test.ts]"],
    ["a test that is none", "judged: url", "judged: process\n  why: it ends\n  tests: [cli/a.ts]"],
    ["a reason although a check judges it", "judged: url", "judged: url\n  why: it is hard"],
  ];
  for (const [what, from, to] of wrong) {
    it(`refuses ${what}, naming the file`, () => {
      expect(() => parseRequirements("watch.yaml", row.replace(from, to))).toThrow(/watch\.yaml/);
    });
  }
});

describe("rows and checks", () => {
  it("every check names rows that exist, and that say that a check judges them", () => {
    for (const check of allChecks) {
      for (const id of check.requirements) expect(`${id} ${rows.get(id)?.judged}`).toBe(`${id} url`);
    }
  });

  it("every row that a check judges has one", () => {
    const judged = new Set(allChecks.flatMap((check) => check.requirements));
    const without = [...rows.values()].filter(
      (requirement) => requirement.judged === "url" && !judged.has(requirement.id),
    );
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  it("every test that a row names is there", () => {
    const root = new URL("../../", import.meta.url);
    const named = [...rows.values()].flatMap(({ tests }) => tests);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it("every deviation is one of a row that is promised", () => {
    for (const profile of Object.values(suiteProfiles)) {
      for (const { name, requirement } of profile.deviations)
        expect(`${name} ${rows.get(requirement)?.level}`).toBe(`${name} must`);
    }
  });

  it("a check's file is named by its id and lies in the folder of its area, and all files are in the registry", () => {
    const folder = new URL("../checks/", import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "index.ts")
      .map((name) => name.replaceAll("\\", "/"));
    expect(allChecks.map((check) => `${check.area}/${check.id}.ts`).sort()).toEqual(files.sort());
  });
});
