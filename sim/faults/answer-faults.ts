/** Bugs of how answers look, how they are packed, and of who gets one: rows of `server-faults.ts`, which is about state. */
import type { FaultRow } from "./server-faults.ts";

/** Where no single report tells it: what a server of this kind easily gets wrong. */
const common = "a common mistake, of no one report";

export const answerFaults = {
  "table-default-columns": {
    area: "tables",
    symptom: "Every Table has the columns Name and Created At, whatever its type or its definition says.",
    source: "kubernetes/kubernetes#60310, stackshy/cloudemu#871",
  },
  "table-include-object-ignored": {
    area: "tables",
    symptom: "Rows of a Table carry metadata, whatever includeObject says.",
    source: "gravitational/teleport#46683",
  },
  "table-cells-misplaced": { area: "tables", symptom: "Cells are not in the order of the columns.", source: common },
  "table-drops-page": {
    area: "tables",
    symptom: "A page asked for as a Table or as metadata has neither a continue token nor a count of what remains.",
    source: "kubernetes/kubernetes#107177",
  },
  "gzip-unasked": {
    area: "compression",
    symptom: "Large answers are compressed, whether the client takes that or not.",
    source: common,
  },
  "gzip-packed-twice": {
    area: "compression",
    symptom: "A compressed answer is compressed twice and says so once.",
    source: "kubernetes/kubernetes#77445",
  },
  "bad-token-is-anonymous": {
    area: "access",
    symptom: "A token that nobody was given makes its holder anonymous, and the answer 403.",
    source: "kubernetes/kubernetes#39267",
  },
  "no-credentials-403": {
    area: "access",
    symptom: "A call without credentials is answered 403, and no anonymous user is named.",
    source: common,
  },
  "right-covers-subresources": {
    area: "access",
    symptom: "A right to a resource is a right to its subresources.",
    source: common,
  },
  "dry-run-needs-no-right": { area: "access", symptom: "A dry run is allowed to everybody.", source: common },
} as const satisfies Record<string, FaultRow>;
