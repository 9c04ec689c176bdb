/** Bugs of what a server makes of requests and prints as answers, whatever lies between: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const edgeBugs = {
  "status-dry-run-is-real": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "A dry run of a write to a status subresource is carried out.",
    source: commonMistake,
  },
  "null-in-patch-is-a-change": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "A patch that removes what is not there changes the object.",
    source: commonMistake,
  },
  "watch-by-number-is-a-list": {
    area: "watches",
    foundBy: "bookmarks-can-be-resumed-from",
    symptom: "`watch=1`, the documents' spelling, is answered with a list.",
    source: commonMistake,
  },
  "token-for-every-audience": {
    area: "access",
    foundBy: "who-one-is-does-not-change",
    symptom: "A token is given for the server, whatever audience was asked for.",
    source: commonMistake,
  },
  "review-for-every-audience": {
    area: "access",
    foundBy: "who-one-is-does-not-change",
    symptom: "A token review does not look at the audiences that it names.",
    source: commonMistake,
  },
  "groups-grow": {
    area: "access",
    foundBy: "who-acts-as-another-is-the-other",
    symptom: "Each time a caller asks who it is, it is in one more group.",
    source: commonMistake,
  },
  "odd-records-poison": {
    area: "writes",
    foundBy: "damaged-metadata-does-no-harm",
    symptom: "After a write with a record of owners that is none, an apply is answered 500.",
    source: commonMistake,
  },
  "conflict-is-no-status": {
    area: "content",
    foundBy: "events-are-served-as-objects",
    symptom: "The Status of a conflict has no apiVersion.",
    source: commonMistake,
  },
  "causes-have-no-reason": {
    area: "content",
    foundBy: "types-are-always-validated",
    symptom: "The causes of a refusal name fields and no reasons.",
    source: commonMistake,
  },
  "field-selected-pages-are-counted": {
    area: "lists",
    foundBy: "empty-lists-are-lists",
    symptom: "A list with a field selector tells how many items remain.",
    source: commonMistake,
  },
  "watch-off-is-on": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "`watch=0` and `watch=false` begin a watch.",
    source: commonMistake,
  },
  "empty-selector-selects-nothing": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "A selector that is given and empty selects nothing.",
    source: commonMistake,
  },
  "zero-limit-is-a-limit": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "`limit=0` is a page without items.",
    source: commonMistake,
  },
  "event-dry-run-unmanaged": {
    area: "writes",
    foundBy: "event-writes-take-their-parameters",
    symptom: "A dry write of an event is answered without managed fields.",
    source: commonMistake,
  },
  "event-patch-manager-unheeded": {
    area: "writes",
    foundBy: "event-writes-take-their-parameters",
    symptom: "A merge patch of an event is noted for the user agent, whatever manager it names.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;

export type EdgeBugName = keyof typeof edgeBugs;
