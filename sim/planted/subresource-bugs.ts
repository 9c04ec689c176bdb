/** Bugs of writes through subresources, where the main path has none: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const subresourceBugs = {
  "scale-takes-stale": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "A write to a scale does not heed the version that it names.",
    source: commonMistake,
  },
  "scale-dry-run-is-real": {
    area: "dry-run",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "A dry run of a write to a scale is carried out.",
    source: commonMistake,
  },
  "scale-owns-nothing": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "Replicas that were set through the scale are owned by nobody.",
    source: commonMistake,
  },
  "eviction-of-any-version": {
    area: "deletion",
    foundBy: "evictions-are-deletions",
    symptom: "An eviction heeds the uid among its preconditions and not the version.",
    source: commonMistake,
  },
  "status-apply-takes-over": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "An apply to a status subresource takes fields of other managers without force.",
    source: commonMistake,
  },
  "status-of-any-uid": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "A write to a status subresource that names another uid is carried out.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
