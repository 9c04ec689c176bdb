/** The requirements and the checks of the suite as plain data: what `conform --list` prints, and the documents' table. */
import { type Catalogue, type CatalogueCheck, catalogueVersion } from "../../reports/schema/catalogue.ts";
import type { RequirementLevel } from "../../reports/schema/suite-report.ts";
import type { Requirement } from "../requirements/rows.ts";
import type { Check } from "./define-check.ts";
import { areaOf, meansNothing, type NamePattern, namePattern } from "./name-pattern.ts";
import { isOfLaw, type Selection } from "./plan.ts";

/**
 * Unlike a plan it holds what nothing judges as well. A word of `only` or `skip` means a requirement, its area, or all
 * that a check or a check's area judges. Throws when a word means nothing.
 */
export function catalogueOf(
  rows: ReadonlyMap<string, Requirement>,
  checks: readonly Check[],
  { only, skip, law }: Pick<Selection, "only" | "skip" | "law">,
): Catalogue {
  const judges = new Map([...rows.keys()].map((id) => [id, checks.filter((check) => check.requirements.includes(id))]));
  const means = (word: NamePattern, id: string): boolean =>
    word(id) ||
    word(areaOf(id)) ||
    (judges.get(id) as readonly Check[]).some((check) => word(check.id) || word(check.area));
  for (const word of [...only, ...skip]) {
    if ([...rows.keys()].some((id) => means(namePattern(word), id))) continue;
    throw meansNothing(word, [...rows.keys()].map(areaOf), [...rows.keys(), ...checks.map(({ id }) => id)]);
  }
  const [wanted, unwanted] = [only.map(namePattern), skip.map(namePattern)];
  const listed = [...rows.values()].filter(
    ({ id, level }) =>
      isOfLaw(law, { level }) &&
      (wanted.length === 0 || wanted.some((word) => means(word, id))) &&
      !unwanted.some((word) => means(word, id)),
  );
  const ids = new Set(listed.map(({ id }) => id));
  return {
    apiVersion: catalogueVersion,
    kind: "Catalogue",
    requirements: listed.map(({ id, level, reading, source, text, judged, why, tests }) => ({
      id,
      level,
      ...(reading === undefined ? {} : { reading }),
      source,
      text,
      judged,
      ...(why === undefined ? {} : { why }),
      ...(tests.length === 0 ? {} : { tests }),
      checks: (judges.get(id) as readonly Check[]).map((check) => check.id),
    })),
    checks: checks.filter((check) => check.requirements.some((id) => ids.has(id))).map((check) => entryOf(check, rows)),
  };
}

const strongestFirst: readonly RequirementLevel[] = ["must", "should", "may", "observed"];

function entryOf(check: Check, rows: ReadonlyMap<string, Requirement>): CatalogueCheck {
  const { id, area, property, requirements, features } = check;
  const levels = requirements.map((requirement) => rows.get(requirement)?.level);
  const level = strongestFirst.find((each) => levels.includes(each)) ?? "observed";
  return { id, area, level, property, requirements, features, waits: check.kind === "aged" };
}
