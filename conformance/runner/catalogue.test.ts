import { describe, expect, it } from "vitest";
import { allChecks } from "../checks/index.ts";
import { readRequirements } from "../requirements/rows.ts";
import { catalogueOf } from "./catalogue.ts";

const rows = readRequirements();
const list = (selection: { only?: string[]; skip?: string[]; law?: "must" | "observed" } = {}) =>
  catalogueOf(rows, allChecks, { only: [], skip: [], law: "observed", ...selection });
const idsOf = (entries: readonly { readonly id: string }[]): string[] => entries.map(({ id }) => id);

describe("the catalogue", () => {
  it("has every requirement, also those that nothing judges, and every check", () => {
    const whole = list();
    expect(idsOf(whole.requirements)).toEqual([...rows.keys()]);
    expect(idsOf(whole.checks)).toEqual(idsOf(allChecks));
  });

  it("says by which checks a requirement is judged, or why by none", () => {
    const { requirements } = list({ only: ["watch.reliable", "versions.opaque"] });
    const [reliable, opaque] = [requirements.find(({ id }) => id === "watch.reliable"), requirements[0]];
    expect(reliable?.checks).toContain("watch-is-reliable");
    expect(reliable).not.toHaveProperty("why");
    expect(opaque).toMatchObject({ id: "versions.opaque", judged: "no", checks: [], why: expect.any(String) });
  });

  it("gives a check the strongest level of what it judges, and tells whether it waits", () => {
    const { checks } = list({ only: ["tokens-expire", "watch-is-reliable"] });
    expect(checks.find(({ id }) => id === "tokens-expire")).toMatchObject({ level: "must", waits: true });
    expect(checks.find(({ id }) => id === "watch-is-reliable")).toMatchObject({ level: "must", waits: false });
  });

  it("takes areas, checks and patterns, in or out", () => {
    expect(list({ only: ["agent-*"] }).requirements.every(({ id }) => id.startsWith("agent-"))).toBe(true);
    expect(list({ only: ["agent-*"] }).requirements.length).toBeGreaterThan(100);
    const ofCheck = list({ only: ["tokens-expire"] });
    const own = allChecks.find(({ id }) => id === "tokens-expire")?.requirements ?? [];
    expect(new Set(idsOf(ofCheck.requirements))).toEqual(new Set(own));
    expect(idsOf(list({ only: ["watch"], skip: ["watch.reliable"] }).requirements)).not.toContain("watch.reliable");
  });

  it("leaves out observations when the documents alone are the law", () => {
    expect(list({ law: "must" }).requirements.some(({ level }) => level === "observed")).toBe(false);
    expect(list().requirements.some(({ level }) => level === "observed")).toBe(true);
  });

  it("refuses a word that means nothing", () => {
    expect(() => list({ only: ["wotch"] })).toThrow(/"wotch"; did you mean .*watch/);
    expect(() => list({ skip: ["wotch*"] })).toThrow(/"wotch\*"/);
  });
});
