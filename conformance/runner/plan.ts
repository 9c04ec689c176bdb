import type { RequirementLevel } from "../../reports/schema/suite-report.ts";
import { isUnjudged, type Requirement, type UnjudgedRequirement } from "../requirements/rows.ts";
import type { Check } from "./define-check.ts";

export interface Selection {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly level: RequirementLevel;
}

export interface Plan {
  /** In the order of the tables. */
  readonly requirements: readonly Requirement[];
  /** In the order of the registry: to run. */
  readonly checks: readonly Check[];
  /** In scope, but a person asked to leave them out. */
  readonly skipped: readonly Check[];
  /** Rows in scope that no check of a URL judges. */
  readonly unjudged: readonly UnjudgedRequirement[];
  readonly partial: boolean;
}

/**
 * `only` and `level` say what the run is about; `skip` leaves things out of it, which then stay unproven. Words are
 * check ids, requirement ids or areas of either. Throws when a word means nothing: a typing error must not pass.
 */
export function makePlan(rows: ReadonlyMap<string, Requirement>, checks: readonly Check[], selection: Selection): Plan {
  for (const word of [...selection.only, ...selection.skip]) {
    if (!checks.some((check) => means(word, check))) {
      throw new Error(
        `no check, requirement or area is called ${JSON.stringify(word)}; areas: ${areasOf(checks).join(", ")}`,
      );
    }
  }
  const inLevel = (id: string) => selection.level === "observed" || rows.get(id)?.level === "must";
  const inScope = checks.filter(
    (check) =>
      check.requirements.some(inLevel) &&
      (selection.only.length === 0 || selection.only.some((word) => means(word, check))),
  );
  const skipped = inScope.filter((check) => selection.skip.some((word) => means(word, check)));
  const chosenRows = selection.only.filter((word) => rows.has(word));
  const judgedIds = new Set(inScope.flatMap((check) => check.requirements).filter(inLevel));
  // A requirement asked for by name is alone in scope, though its check judges others on the way.
  const narrow = chosenRows.length > 0 && chosenRows.length === selection.only.length;
  return {
    requirements: [...rows.values()].filter((row) => judgedIds.has(row.id) && (!narrow || chosenRows.includes(row.id))),
    checks: inScope.filter((check) => !skipped.includes(check)),
    skipped,
    unjudged: selection.only.length > 0 ? [] : [...rows.values()].filter(isUnjudged).filter((row) => inLevel(row.id)),
    partial: selection.only.length > 0 || selection.level === "must",
  };
}

function means(word: string, check: Check): boolean {
  if (word === check.id || word === check.area) return true;
  return check.requirements.some((id) => id === word || id.startsWith(`${word}.`));
}

function areasOf(checks: readonly Check[]): string[] {
  return [
    ...new Set(checks.flatMap((check) => [check.area, ...check.requirements.map((id) => id.split(".")[0] as string)])),
  ].sort();
}
