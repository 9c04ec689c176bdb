/** Bugs that only some types, routes, spellings or clients meet: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const varietyBugs = {
  "uncached-any-list-unselected": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "A list at version 0 of a type without a cache does not heed its selectors.",
    source: commonMistake,
    profile: "kubernetes",
  },
  "uncached-deletions-untold": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "A watch with a selector of a type without a cache is not told of deletions.",
    source: commonMistake,
    profile: "kubernetes",
  },
  "grouped-exact-is-present": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "An Exact list of a type outside the core group shows the present state under the version asked for.",
    source: commonMistake,
  },
  "cluster-pages-drift": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "Later pages of a cluster-scoped type show the present state under the version of the first.",
    source: commonMistake,
  },
  "custom-watch-unselected": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "A watch of a custom resource does not heed its label selector.",
    source: commonMistake,
  },
  "watch-path-unselected": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "A watch at a path below /watch/ does not heed its selectors.",
    source: commonMistake,
  },
  "watch-path-forgets-version": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "A watch at a path below /watch/ begins with what exists, whatever version it is asked from.",
    source: commonMistake,
  },
  "watch-path-name-ignored": {
    area: "watches",
    foundBy: "collections-follow-their-writer",
    symptom: "A watch at the path of one object below /watch/ tells of the whole collection.",
    source: commonMistake,
  },
  "custom-tokens-go-on-anywhere": {
    area: "lists",
    foundBy: "tokens-keep-to-their-type",
    symptom: "A list of any type that gets the continue token of a custom one goes on among the custom ones.",
    source: commonMistake,
  },
  "tokens-of-all-go-on-in-all": {
    area: "lists",
    foundBy: "tokens-keep-to-their-type",
    symptom: "A list of a namespace that gets the continue token of a list of all goes on in all of them.",
    source: commonMistake,
  },
  "slow-reader-misses-changes": {
    area: "watches",
    foundBy: "readers-that-stop-hold-nobody",
    symptom: "What happens while a watcher does not read is left out when it reads again.",
    source: commonMistake,
  },
  "slow-reader-holds-others": {
    area: "watches",
    foundBy: "readers-that-stop-hold-nobody",
    symptom: "While one watcher does not read, the others are told nothing.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
