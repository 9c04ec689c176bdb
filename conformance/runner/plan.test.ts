import { describe, expect, it } from "vitest";
import { allChecks } from "../checks/index.ts";
import { readRequirements } from "../requirements/rows.ts";
import { makePlan, type Selection } from "./plan.ts";

const rows = readRequirements();
const plan = (selection: Partial<Selection>) =>
  makePlan(rows, allChecks, { only: [], skip: [], law: "observed", aged: true, ...selection });

describe("makePlan", () => {
  it("takes everything, and lists apart what no check of a server can judge", () => {
    const whole = plan({});
    expect(whole.checks.length).toBe(allChecks.length);
    expect(whole.requirements.length + whole.unjudged.length).toBe(rows.size);
    expect(whole.partial).toBe(false);
  });

  it("takes a check, a requirement or an area by name, and says that it is a part", () => {
    expect(plan({ only: ["watch-is-reliable"] }).checks.map(({ id }) => id)).toEqual(["watch-is-reliable"]);
    const one = plan({ only: ["watch.reliable"] });
    expect([one.requirements.map(({ id }) => id), one.partial]).toEqual([["watch.reliable"], true]);
    const deletion = plan({ only: ["deletion"] }).checks;
    expect(deletion.some(({ area }) => area !== "deletion")).toBe(true); // judged on the way by checks of other areas
    expect(deletion.every(({ requirements }) => requirements.some((id) => id.startsWith("deletion.")))).toBe(true);
  });

  it("keeps what is skipped in scope: it stays unproven", () => {
    const skipping = plan({ skip: ["watch-is-reliable"] });
    expect(skipping.skipped.map(({ id }) => id)).toEqual(["watch-is-reliable"]);
    expect(skipping.requirements.some(({ id }) => id === "watch.reliable")).toBe(true);
  });

  it("leaves out observations when the documents alone are the law", () => {
    const musts = plan({ law: "must" });
    expect(musts.requirements.every(({ level }) => level === "must")).toBe(true);
    expect(musts.requirements.length).toBeGreaterThan(50);
  });

  it("takes a pattern, of checks, areas and requirements", () => {
    const watches = plan({ only: ["watch-is-*"] });
    expect(watches.checks.map(({ id }) => id)).toEqual(["watch-is-ordered", "watch-is-reliable"]);
    expect(plan({ only: ["field-*"] }).checks.map(({ area }) => area)).toContain("field-validation");
    const pages = plan({ only: ["pages.*"] });
    expect(pages.requirements.length).toBeGreaterThan(3);
    expect(pages.requirements.every(({ id }) => id.startsWith("pages."))).toBe(true);
    expect(plan({ skip: ["*"] }).checks).toEqual([]);
  });

  it("takes a dot for a dot", () => {
    expect(() => plan({ only: ["watch-is.ordered"] })).toThrow(/no check, requirement or area/);
    expect(() => plan({ only: ["wach"] })).toThrow(/is called "wach"; did you mean watch[,?]/);
  });

  it("without aged checks tells which requirements are left out, and is a part", () => {
    const quick = plan({ aged: false });
    expect(quick.checks.some(({ kind }) => kind === "aged")).toBe(false);
    const leftOut = quick.unjudged.filter(({ judged }) => judged === "level");
    expect(leftOut.map(({ id }) => id)).toContain("expiry.continue-gone");
    expect(quick.requirements.some(({ id }) => id === "expiry.continue-gone")).toBe(false);
    expect(quick.requirements.length + quick.unjudged.length).toBe(rows.size);
    expect(quick.partial).toBe(true);
    expect(plan({ aged: false, only: ["watch"] }).unjudged.every(({ judged }) => judged === "level")).toBe(true);
  });

  it("refuses the name of a requirement that nothing judges, and says why nothing does", () => {
    expect(() => plan({ only: ["versions.opaque"] })).toThrow("no check judges versions.opaque: no, as in");
    expect(() => plan({ only: ["agent-image*"] })).toThrow(/no check judges agent-image\*: .*agent-/);
  });

  it("refuses a word that means nothing", () => {
    expect(() => plan({ only: ["wotch"] })).toThrow(/wotch.*did you mean watch[,?]/);
    expect(() => plan({ skip: ["nothing.at-all"] })).toThrow();
  });
});
