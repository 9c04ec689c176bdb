/**
 * A second round of bugs that were thought up without a look at the checks: rows of `server-bugs.ts`. The figures are in
 * `docs/detection.md`; most of them are made at the edge of the server, in `sim/planted/wrappers/second-misreadings.ts`.
 */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const secondUnforeseenBugs = {
  "patch-tests-unheeded": {
    area: "writes",
    foundBy: "patches-do-what-they-say",
    symptom: "A JSON patch is carried out though a test in it fails.",
    source: commonMistake,
  },
  "set-selector-by-first-value": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "Of the values of `in (a,b)` in a label selector only the first counts.",
    source: commonMistake,
  },
  "unequal-name-selects-all": {
    area: "lists",
    foundBy: "watch-filters-the-history",
    symptom: "`metadata.name!=a` in a field selector leaves nothing out.",
    source: commonMistake,
  },
  "apply-of-any-version": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "An apply does not heed the resourceVersion that it names.",
    source: commonMistake,
  },
  "status-takes-stale": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "An update of a status subresource does not heed the resourceVersion that it names.",
    source: commonMistake,
  },
  "collection-forgets-policy": {
    area: "deletion",
    foundBy: "options-mean-the-same-wherever-they-stand",
    symptom: "A deletecollection does not heed its propagation policy.",
    source: commonMistake,
  },
  "strict-forgets-yaml": {
    area: "writes",
    foundBy: "stray-fields-are-handled-by-level",
    symptom: "Field validation is not asked for bodies in YAML.",
    source: commonMistake,
  },
  "manager-of-update-unheeded": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "An update is written down under the client's name, whatever field manager it names.",
    source: commonMistake,
  },
  "body-of-other-namespace-taken": {
    area: "writes",
    foundBy: "names-come-from-their-request",
    symptom: "An object whose body names another namespace than its path is created in that of the path.",
    source: commonMistake,
  },
  "uid-of-update-unheeded": {
    area: "writes",
    foundBy: "the-server-assigns-identity",
    symptom: "An update that names the uid of another object is carried out.",
    source: commonMistake,
  },
  "patch-type-with-charset-refused": {
    area: "writes",
    foundBy: "content-types-say-what-a-patch-is",
    symptom: "A patch whose content type has a parameter is answered 415.",
    source: commonMistake,
  },
  "grace-in-query-unheeded": {
    area: "deletion",
    foundBy: "grace-only-shortens",
    symptom: "The grace period of a deletion is not read from the query.",
    source: commonMistake,
  },
  "policy-in-query-unheeded": {
    area: "deletion",
    foundBy: "options-mean-the-same-wherever-they-stand",
    symptom: "The propagation policy of a deletion is not read from the query.",
    source: commonMistake,
  },
  "large-integers-rounded": {
    area: "content",
    foundBy: "integers-are-kept",
    symptom: "Integers above 2^53 are rounded.",
    source: commonMistake,
  },
  "later-pages-without-limit": {
    area: "lists",
    foundBy: "pages-are-one-snapshot",
    symptom: "Pages after the first do not heed the limit.",
    source: commonMistake,
  },
  "second-field-term-unheeded": {
    area: "lists",
    foundBy: "selectors-mean-the-same-everywhere",
    symptom: "Of the terms of a field selector only the first counts.",
    source: commonMistake,
  },
  "limited-exact-is-present": {
    area: "lists",
    foundBy: "invalid-combinations-are-refused",
    symptom: "A page of an Exact list shows the present state.",
    source: commonMistake,
  },
  "review-forgets-user-uid": {
    area: "access",
    foundBy: "who-one-is-does-not-change",
    symptom: "A token review does not tell the uid of the user.",
    source: commonMistake,
  },
  "rules-review-incomplete": {
    area: "access",
    foundBy: "reviews-say-what-happens",
    symptom: "The review of one's own rules leaves out the first one.",
    source: commonMistake,
  },
  "refusals-name-nobody": {
    area: "content",
    foundBy: "errors-are-status-objects",
    symptom: "The details of a conflict or of what is not there lack the name.",
    source: commonMistake,
  },
  "exists-is-conflict": {
    area: "content",
    foundBy: "errors-are-status-objects",
    symptom: "The reason of a create that finds its name taken is Conflict.",
    source: commonMistake,
  },
  "micro-times-in-seconds": {
    area: "content",
    foundBy: "events-say-what-happened",
    symptom: "Times in microseconds are shown in whole seconds.",
    source: commonMistake,
  },
  "warnings-of-patches-untold": {
    area: "writes",
    foundBy: "stray-fields-are-handled-by-level",
    symptom: "What a patch is warned of is not told.",
    source: commonMistake,
  },
  "status-changes-untold": {
    area: "watches",
    foundBy: "objects-keep-their-laws",
    symptom: "A watch is not told of changes of status alone.",
    source: commonMistake,
  },
  "past-events-merged": {
    area: "watches",
    foundBy: "watch-is-ordered",
    symptom: "A watch that begins in the past is told the last of several changes of an object alone.",
    source: commonMistake,
  },
  "finalizers-added-late": {
    area: "deletion",
    foundBy: "finalizers-hold-objects",
    symptom: "Finalizers can be added to what is being deleted.",
    source: commonMistake,
  },
  "status-of-create-kept": {
    area: "writes",
    foundBy: "subresources-keep-the-laws-of-writes",
    symptom: "A create writes the status that its body names.",
    source: commonMistake,
  },
  "match-conditions-unheeded": {
    area: "access",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "A webhook is asked whatever its match conditions say.",
    source: commonMistake,
  },
  "one-owner-gone-is-enough": {
    area: "deletion",
    foundBy: "objects-go-with-their-last-owner",
    symptom: "An object with two owners goes with the first of them.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
