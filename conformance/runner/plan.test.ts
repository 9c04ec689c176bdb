import { describe, expect, it } from "vitest";
import { allChecks } from "../checks/index.ts";
import { readRequirements } from "../requirements/rows.ts";
import { makePlan, type Selection } from "./plan.ts";

const rows = readRequirements();
const plan = (selection: Partial<Selection>) =>
  makePlan(rows, allChecks, { only: [], skip: [], level: "observed", ...selection });

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

  it("leaves out observations at the level must", () => {
    const musts = plan({ level: "must" });
    expect(musts.requirements.every(({ level }) => level === "must")).toBe(true);
    expect(musts.requirements.length).toBeGreaterThan(50);
  });

  it("refuses a word that means nothing", () => {
    expect(() => plan({ only: ["wotch"] })).toThrow(/wotch.*areas: .*watch/);
    expect(() => plan({ skip: ["nothing.at-all"] })).toThrow();
  });
});
