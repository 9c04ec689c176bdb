/** Bugs of lists and watches: rows of `server-bugs.ts`. */
import type { BugRow } from "./bug-row.ts";

export const readBugs = {
  "list-page-buffer-drops-items": {
    area: "lists",
    symptom: "A page drawn with a selector loses the first matches when many candidates are scanned.",
    source: "kubernetes/kubernetes#110652",
  },
  "list-limit-rv-stuck-header": {
    area: "lists",
    symptom: "A limited NotOlderThan list is served at exactly the version asked for, so a relist never advances.",
    source: "kubernetes/kubernetes#83651",
  },
  "list-empty-wrong-rv": {
    area: "lists",
    symptom: "An empty list carries resourceVersion 0.",
    source: "kubernetes/kubernetes#64150",
  },
  "list-version-of-newest-item": {
    area: "lists",
    symptom: "A list in a namespace carries the newest version among its items instead of its own.",
    source: "grafana/grafana#82282",
  },
  "list-null-items": {
    area: "lists",
    symptom: "An empty list served from the cache has items: null.",
    source: "kubernetes/apiserver@8cd19ef 'Fix inconsistency in returning list results both in etcd3 and watchcache'",
  },
  "list-cache-unsorted": {
    area: "lists",
    symptom: "A list served from the cache is in insertion order.",
    source: "kubernetes/apiserver@012ace9 'Fix lack of sorting of list results in watchcache'",
  },
  "list-order-by-revision": {
    area: "lists",
    symptom: "Pages are cut in the order of writes while the continue position is a key.",
    source: "k3s-io/kine@19618f9",
  },
  "continue-boundary-off-by-one": {
    area: "lists",
    symptom: "The page after a token skips a key that extends the last one.",
    source: "k3s-io/kine@135886d 'Fix continuation token support'",
  },
  "continue-token-when-complete": {
    area: "lists",
    symptom: "The last page carries a continue token.",
    source: "kubearchive/kubearchive#1213",
  },
  "continue-token-cross-scope": {
    area: "lists",
    symptom: "An edited token reads keys outside the collection.",
    source: "kubernetes/enhancements#3274",
  },
  "remaining-count-is-limit-plus-one": {
    area: "lists",
    symptom: "remainingItemCount counts only what was fetched.",
    source: "k3s-io/kine#271",
  },
  "remaining-count-at-head-not-at-rv": {
    area: "lists",
    symptom: "Later pages count what remains now instead of in the snapshot.",
    source: "k3s-io/kine@3773672 'Fix handling of count with non-zero revision'",
  },
  "list-prefix-bleed": {
    area: "lists",
    symptom: "Listing namespace a also returns objects of namespace ab.",
    source: "kubernetes/apiserver@c057db7, @7f5c702",
  },
  "list-future-rv-wrong-error": {
    area: "lists",
    symptom: "A list at a version that does not exist yet is answered with the present state.",
    source: "kubernetes/kubernetes#132374",
  },
  "list-invalid-rv-500": {
    area: "lists",
    symptom: "A list at a version that is no number is answered 500.",
    source: "kubernetes/kubernetes#139525",
  },
  "list-stale-when-consistent-asked": {
    area: "lists",
    symptom: "A list without a version is served from a cache that lags, and misses acknowledged writes.",
    source: "kubernetes/kubernetes#97294, kubernetes/enhancements#4047",
    byLuck: true,
  },
  "compacted-read-inconsistent": {
    area: "lists",
    symptom: "An exact list at a version that is gone shows what is left of it.",
    source: "etcd-io/etcd#18667, k3s-io/kine#231",
    byLuck: true,
  },
  "head-rev-rollback-race": {
    area: "lists",
    symptom:
      "Of concurrent writes the slower one takes the server's newest version back: one given out is refused as future.",
    source: "k3s-io/kine@0ec37c6, @8002c42",
    byLuck: true,
  },
  "watch-deleted-event-old-rv": {
    area: "watches",
    symptom: "A DELETED event carries the version of the last update.",
    source: "kubernetes/kubernetes#58545",
  },
  "watch-leave-selector-old-rv": {
    area: "watches",
    symptom: "Leaving a selector is reported with the previous version.",
    source: "kubernetes/kubernetes#25415",
  },
  "watch-selector-exit-missing": {
    area: "watches",
    symptom: "An object that stops matching a selector is never reported DELETED.",
    source: "kubernetes/kubernetes#12721",
  },
  "watch-start-inclusive": {
    area: "watches",
    symptom: "A watch from N delivers the change of N again.",
    source: "kubernetes/kubernetes#24004",
  },
  "watch-name-selector-crosses-namespaces": {
    area: "watches",
    symptom: "A name selector over all namespaces takes objects of the same name for one.",
    source: "kubernetes/kubernetes#13743",
  },
  "watch-buffered-events-replayed": {
    area: "watches",
    symptom: "After its initial events a watch also tells changes from before them.",
    source: "kubernetes/kubernetes#73845",
    byLuck: true,
  },
  "watch-unset-rv-from-stale-cache": {
    area: "watches",
    symptom: "A watch without a version begins with whatever a lagging cache has.",
    source: "kubernetes/kubernetes#115096",
    byLuck: true,
    gate: "WatchList",
  },
  "watch-compacted-events-then-error": {
    area: "watches",
    symptom: "A watch from a forgotten version tells what is left of the history, and only then that it is gone.",
    source: "k3s-io/kine#238",
    byLuck: true,
  },
  "watch-commit-order-gap": {
    area: "watches",
    symptom:
      "A version becomes visible before an earlier one: the late change is in no list before, and in no watch after.",
    source: "k3s-io/kine#676",
    byLuck: true,
  },
  "bookmark-rv-zero": { area: "watches", symptom: "A bookmark carries version 0.", source: "antrea-io/antrea#8140" },
  "bookmark-below-requested-rv": {
    area: "watches",
    symptom: "A bookmark carries a version below one already delivered.",
    source: "etcd-io/etcd#20221",
  },
  "initial-events-end-missing": {
    area: "watches",
    symptom: "A streaming list never says that its initial events are over.",
    source: "kubernetes/kubernetes#122805",
    gate: "WatchList",
  },
  "initial-events-stale-snapshot": {
    area: "watches",
    symptom: "A streaming list without a version does not wait for a lagging cache.",
    source: "kubernetes/kubernetes#122830",
    byLuck: true,
    gate: "WatchList",
  },
  "initial-events-before-version": {
    area: "watches",
    symptom: "A streaming list from a version does not wait until that version is there.",
    source: "kubernetes/kubernetes#116302",
    gate: "WatchList",
  },
  "initial-events-end-unasked": {
    area: "watches",
    symptom: "A streaming list ends its initial events with a bookmark to whom bookmarks are not allowed.",
    source: "cozystack/cozystack#2922",
    gate: "WatchList",
  },
  "initial-events-unsorted-resume": {
    area: "watches",
    symptom: "The initial events of a streaming list come in no order.",
    source: "kubernetes/apiserver@45b7f21 'Ensure that initial events are sorted for WatchList'",
    gate: "WatchList",
  },
  "watch-crd-change-strands-stream": {
    area: "watches",
    symptom: "A watch of a custom resource stays open and silent when its definition changes or goes.",
    source: "kubernetes/kubernetes#74105",
  },
} as const satisfies Record<string, BugRow>;
