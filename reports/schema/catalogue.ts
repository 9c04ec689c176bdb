/** What the suite requires and how it judges it, as one JSON document: no run, and no target. */
import type { RequirementLevel, RequirementSource, UnjudgedBy } from "./suite-report.ts";

export const catalogueVersion = "catalogue/v1";

export interface Catalogue {
  readonly apiVersion: typeof catalogueVersion;
  readonly kind: "Catalogue";
  /** In the order of the areas, and in theirs. */
  readonly requirements: readonly CatalogueRow[];
  /** In the order of the suite. */
  readonly checks: readonly CatalogueCheck[];
}

export interface CatalogueRow {
  readonly id: string; // `area.word`
  readonly level: RequirementLevel;
  /** Why it has this level, where the words of the documents alone do not say it. */
  readonly reading?: string;
  readonly source: RequirementSource;
  readonly text: string;
  readonly judged: "url" | UnjudgedBy;
  /** Why no check judges it. */
  readonly why?: string;
  /** Tests of Touchstone's own server that show what no check can, as paths from the project's root. */
  readonly tests?: readonly string[];
  /** Ids of the checks that judge it. */
  readonly checks: readonly string[];
}

export interface CatalogueCheck {
  readonly id: string;
  readonly area: string;
  /** The strongest of what it judges. */
  readonly level: RequirementLevel;
  readonly property: string; // one sentence
  readonly requirements: readonly string[];
  /** What a target needs for it. */
  readonly features: readonly string[];
  /** True: by URL it waits until the target forgets, which the level `quick` leaves out. */
  readonly waits: boolean;
}
