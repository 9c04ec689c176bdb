/**
 * Bugs that were thought up from what is known of servers of this kind, without a look at the checks, to see how many the
 * suite finds of which it knows nothing: rows of `server-bugs.ts`. The figures are in `docs/detection.md`.
 */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const unforeseenBugs = {
  "later-pages-forget-fields": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "Pages after the first do not heed the field selector.",
    source: commonMistake,
  },
  "field-selector-enters-as-modified": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "An object that begins to match a field selector is told as MODIFIED.",
    source: commonMistake,
  },
  "idle-apply-renews-time": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "An apply that changes nothing renews the time of its manager, and with it the object.",
    source: commonMistake,
  },
  "force-leaves-owners": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "Who loses a field to an apply with force is still written down as its owner.",
    source: commonMistake,
  },
  "older-objects-get-no-defaults": {
    area: "content",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "A custom resource that is older than a default of its definition is shown without it.",
    source: commonMistake,
  },
  "pruning-stops-at-lists": {
    area: "content",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "Unknown fields of a custom resource are kept inside lists.",
    source: commonMistake,
  },
  "set-doubles-on-update": {
    area: "content",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "A list of a custom resource that is a set takes an element twice in an update.",
    source: commonMistake,
  },
  "map-list-by-first-key": {
    area: "writes",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "Elements of a custom resource's list with two keys are told apart by the first one alone in an apply.",
    source: commonMistake,
  },
  "other-version-watch-shows-stored": {
    area: "watches",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "A watch of a version that is not the stored one shows objects in the stored one.",
    source: commonMistake,
  },
  "metadata-watch-is-whole": {
    area: "tables",
    foundBy: "metadata-can-be-asked-for-alone",
    symptom: "A watch that asks for metadata alone is told whole objects.",
    source: commonMistake,
  },
  "webhook-dry-run-untold": {
    area: "dry-run",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "A webhook that is asked about a dry run is not told that it is one.",
    source: commonMistake,
  },
  "collection-dry-run-in-body-is-real": {
    area: "dry-run",
    foundBy: "dry-runs-leave-no-trace",
    symptom: "A dry run of a deletecollection is carried out when it is asked for in the body.",
    source: commonMistake,
  },
  "create-with-version-taken": {
    area: "writes",
    foundBy: "the-server-assigns-identity",
    symptom: "An object that names a resourceVersion is created.",
    source: commonMistake,
  },
  "collection-forgets-fields": {
    area: "deletion",
    foundBy: "selectors-mean-the-same-everywhere",
    symptom: "A deletecollection with a field selector deletes what does not match it.",
    source: commonMistake,
  },
  "protobuf-lists-drop-token": {
    area: "lists",
    foundBy: "pages-are-the-same-in-every-encoding",
    symptom: "A page in protobuf has no continue token.",
    source: commonMistake,
  },
  "scale-raises-no-generation": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "Replicas that are set through the scale leave the generation as it is.",
    source: commonMistake,
  },
  "expired-cluster-watch-begins-now": {
    area: "watches",
    foundBy: "old-watches-are-refused",
    symptom: "A watch of a cluster-scoped type from a forgotten version begins with the present.",
    source: commonMistake,
    byLuck: true,
  },
  "immutable-but-binary-data": {
    area: "writes",
    foundBy: "what-is-immutable-stays",
    symptom: "The binaryData of an immutable object can be changed.",
    source: commonMistake,
  },
  "ignore-forgives-refusals": {
    area: "access",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "What a webhook refuses is done when its failure policy is Ignore.",
    source: commonMistake,
  },
  "quota-kept-by-collections": {
    area: "deletion",
    foundBy: "quotas-count-what-is-there",
    symptom: "What a deletecollection has deleted is still counted by the namespace's quota.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
