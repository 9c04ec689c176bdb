/** Bugs of how answers look, how they are packed, and of who gets one: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const answerBugs = {
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
  "table-cells-misplaced": {
    area: "tables",
    symptom: "Cells are not in the order of the columns.",
    source: commonMistake,
  },
  "table-drops-page": {
    area: "tables",
    symptom: "A page asked for as a Table or as metadata has neither a continue token nor a count of what remains.",
    source: "kubernetes/kubernetes#107177",
  },
  "gzip-unasked": {
    area: "compression",
    symptom: "Large answers are compressed, whether the client takes that or not.",
    source: commonMistake,
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
    source: commonMistake,
  },
  "right-covers-subresources": {
    area: "access",
    symptom: "A right to a resource is a right to its subresources.",
    source: commonMistake,
  },
  "dry-run-needs-no-right": { area: "access", symptom: "A dry run is allowed to everybody.", source: commonMistake },
  "strict-rejects-metadata": {
    area: "content",
    symptom: "Strict validation knows of a custom resource's metadata only what its definition says.",
    source: "kubernetes/kubernetes#109215",
  },
  "event-series-count-one": {
    area: "content",
    symptom: "A series of events that has happened once is taken.",
    source: "kubernetes/kubernetes#112334, #119376",
    profile: "kubernetes",
  },
  "event-selectors-missing": {
    area: "content",
    symptom: "Events cannot be selected by what they regard in their own group.",
    source: "kubernetes/kubernetes#92870",
  },
  "webhook-told-new-as-old": {
    area: "content",
    symptom: "A webhook is shown the new state of an object as the old one.",
    source: "kubernetes/kubernetes#100096",
  },
  "unwatchable-watch-200": {
    area: "content",
    symptom: "watch on a type without watch answers a list.",
    source: "kubernetes/apiserver@781a66f",
  },
  "bad-query-param-ignored": {
    area: "content",
    symptom: "A malformed limit is ignored.",
    source: "kube-rs/version-rs#46",
  },
  "error-not-status-object": {
    area: "content",
    symptom: "A 404 is plain text.",
    source: "kubernetes/apiserver@276c240, @6040aeb, @33ec851",
  },
  "accept-params-no-fallback": {
    area: "content",
    symptom: "Of several types in Accept only the first is looked at, so that a fallback is answered 406.",
    source: "kubernetes/kubernetes#50519",
  },
  "protobuf-unmarshalable-half-200": {
    area: "content",
    symptom: "A custom resource asked for in protobuf is answered 200 with half a body.",
    source: "kubernetes/apiserver@753c6a1",
  },
  "unsupported-media-wrong-code": {
    area: "content",
    symptom: "An unsupported request body type is answered 500.",
    source: "kubernetes/kubernetes#58260",
  },
  "discovery-wrong-content-type": {
    area: "content",
    symptom: "Discovery documents are served as text/plain.",
    source: "kubernetes/kubernetes#44646",
  },
  "impersonation-ignored": {
    area: "access",
    symptom: "Who asks to act as another is answered as itself.",
    source: "siderolabs/omni#1002",
  },
  "impersonation-of-groups-unasked": {
    area: "access",
    symptom: "Who may act as a user does so in any group it names.",
    source: "kcp-dev/kcp#3267",
  },
  "put-creates-without-right": {
    area: "access",
    symptom: "Who may only update creates by PUT.",
    source: "kubernetes/kubernetes#65150",
  },
} as const satisfies Record<string, BugRow>;
