import { answerFaults } from "./answer-faults.ts";

/**
 * Bugs that the embedded server can be told to have, each modelled on a published one. They prove the suite:
 * with a fault on, some check must fail; with none, none may. A row names the requirement that the bug breaks.
 * Switches are read where the behaviour lives, beside the profile: `faults["list-null-items"]`.
 */
export interface FaultRow {
  readonly area:
    | "lists"
    | "watches"
    | "writes"
    | "deletion"
    | "dry-run"
    | "access"
    | "content"
    | "tables"
    | "compression";
  /** What a client sees, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on, or that there is none. */
  readonly source: string;
  /** A URL shows it now and then: it takes a lagging cache, a race or an old version. Default: whenever it is asked for. */
  readonly byLuck?: true;
}

const rows = {
  ...answerFaults,
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
  },
  "initial-events-stale-snapshot": {
    area: "watches",
    symptom: "A streaming list without a version does not wait for a lagging cache.",
    source: "kubernetes/kubernetes#122830",
    byLuck: true,
  },
  "initial-events-before-version": {
    area: "watches",
    symptom: "A streaming list from a version does not wait until that version is there.",
    source: "kubernetes/kubernetes#116302",
  },
  "initial-events-end-unasked": {
    area: "watches",
    symptom: "A streaming list ends its initial events with a bookmark to whom bookmarks are not allowed.",
    source: "cozystack/cozystack#2922",
  },
  "initial-events-unsorted-resume": {
    area: "watches",
    symptom: "The initial events of a streaming list come in no order.",
    source: "kubernetes/apiserver@45b7f21 'Ensure that initial events are sorted for WatchList'",
  },
  "watch-crd-change-strands-stream": {
    area: "watches",
    symptom: "A watch of a custom resource stays open and silent when its definition changes or goes.",
    source: "kubernetes/kubernetes#74105",
  },
  "strict-rejects-metadata": {
    area: "content",
    symptom: "Strict validation knows of a custom resource's metadata only what its definition says.",
    source: "kubernetes/kubernetes#109215",
  },
  "rv-not-bumped-on-write": {
    area: "writes",
    symptom: "An update answers 200 with the old resourceVersion.",
    source: "fabric8io/kubernetes-client#3255",
  },
  "noop-update-returns-empty-rv": {
    area: "writes",
    symptom: "An update that changes nothing answers without a resourceVersion.",
    source: "tilt-dev/tilt-apiserver#56",
  },
  "generation-wrong": {
    area: "writes",
    symptom: "generation rises with labels and status, not only with spec.",
    source: "fabric8io/kubernetes-client#4139",
  },
  "fake-create-mutates-on-error": {
    area: "writes",
    symptom: "A refused create burns a version and touches the stored object.",
    source: "kubernetes-sigs/controller-runtime#918",
  },
  "create-existing-wrong-error": {
    area: "writes",
    symptom: "Creating a name that exists is answered 422.",
    source: "kubernetes/kubernetes#116747",
  },
  "generate-name-collision": {
    area: "writes",
    symptom: "Generated names come from a small set, and a create overwrites the object that has its name.",
    source: "kubernetes/kubernetes#89471, #104699, #115489, #122887",
  },
  "binding-wipes-uid-precondition": {
    area: "writes",
    symptom: "A binding made for a pod that is gone binds the one that took its name.",
    source: "kubernetes/kubernetes#116550",
  },
  "patch-retry-spurious-409": {
    area: "writes",
    symptom: "A patch without a version conflicts when another writer was faster.",
    source: "kubernetes/kubernetes#63146",
  },
  "patch-lost-update": {
    area: "writes",
    symptom: "A patch is computed on a read copy and written without compare-and-set.",
    source: "kubernetes/kubernetes#23173",
  },
  "patch-rv-not-a-precondition": {
    area: "writes",
    symptom: "A version inside a patch is ignored.",
    source: "kubernetes/kubernetes#15416",
  },
  "smp-duplicate-mergekey": {
    area: "writes",
    symptom: "Deleting by a merge key that two elements have also takes what stands between them.",
    source: "kubernetes/kubernetes#65106, #125932, #58477",
  },
  "smp-setelementorder-mismatch": {
    area: "writes",
    symptom: "A strategic patch orders elements by their merge key and not as it is told.",
    source: "kubernetes/kubernetes#62830, #45980",
  },
  "ssa-managedfields-wiped": {
    area: "writes",
    symptom: "Writing an object with two list elements of one key loses everybody's managed fields.",
    source: "kubernetes/kubernetes#121575",
  },
  "delete-precondition-ignored": {
    area: "deletion",
    symptom: "Preconditions of a deletion are ignored.",
    source: "mckinsey/agents-at-scale-ark#2907",
  },
  "delete-precondition-self-conflict": {
    area: "deletion",
    symptom: "A graceful deletion with the right version conflicts with itself.",
    source: "kubernetes/kubernetes#85516",
  },
  "delete-ignores-finalizers": {
    area: "deletion",
    symptom: "An object with finalizers is removed at once.",
    source: "kubernetes-sigs/controller-runtime#1399",
  },
  "last-finalizer-removed-object-stays": {
    area: "deletion",
    symptom: "An object whose last finalizer went stays.",
    source: "kubernetes-sigs/controller-runtime#2184",
  },
  "deletiontimestamp-client-settable": {
    area: "deletion",
    symptom: "A client can set deletionTimestamp.",
    source: "kubernetes-sigs/controller-runtime#2316",
  },
  "foreground-finalizer-readded": {
    area: "deletion",
    symptom: "A second foreground deletion adds the finalizer again.",
    source: "kubernetes/kubernetes#77081",
  },
  "deletiontimestamp-moves-back": {
    area: "deletion",
    symptom: "Shortening the grace period moves deletionTimestamp into the past.",
    source: "kubernetes/kubernetes#122646",
  },
  "repeat-delete-extends-grace": {
    area: "deletion",
    symptom: "Each further deletion pushes deletionTimestamp out.",
    source: "kubernetes/kubernetes#27539",
  },
  "negative-grace-undeletable": {
    area: "deletion",
    symptom: "A negative grace period makes an object undeletable.",
    source: "kubernetes/kubernetes#98506",
  },
  "deletecollection-options-leak": {
    area: "deletion",
    symptom: "A deletecollection uses the first object's grace period for all.",
    source: "kubernetes/kubernetes#100101",
  },
  "deletecollection-body-500": {
    area: "deletion",
    symptom: "A deletecollection with a body of options is answered 500.",
    source: "kubernetes/kubernetes#111985",
  },
  "deletecollection-partial-unreported": {
    area: "deletion",
    symptom: "A deletecollection is answered 200 when the first page is deleted.",
    source: "kubernetes/kubernetes#90743, #21340, kubernetes-sigs/controller-runtime#548",
    byLuck: true,
  },
  "dry-run-persists": {
    area: "dry-run",
    symptom: "A dry-run patch or deletion is carried out.",
    source: "kubernetes/website#10033",
  },
  "dry-run-consumes-quota": {
    area: "dry-run",
    symptom: "A dry-run creation counts against the namespace's quota.",
    source: "kubernetes/kubernetes#66391",
  },
  "dry-run-invalid-value-accepted": {
    area: "dry-run",
    symptom: "An unknown dryRun value is taken for none.",
    source: "fabric8io/kubernetes-client#2588",
  },
  "event-series-count-one": {
    area: "content",
    symptom: "A series of events that has happened once is taken.",
    source: "kubernetes/kubernetes#112334, #119376",
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
  "eviction-dry-run-evicts": {
    area: "deletion",
    symptom: "A dry run of an eviction evicts.",
    source: "kubernetes/kubernetes#76943",
  },
  "namespace-takes-new-while-going": {
    area: "deletion",
    symptom: "Objects are created in a namespace that is being deleted.",
    source: "kubernetes/kubernetes#131421",
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
} as const satisfies Record<string, FaultRow>;

export type FaultName = keyof typeof rows;
export type Faults = Readonly<Record<FaultName, boolean>>;

/** The faults that take a cache behind the store, and how far behind it then is: longer than a request is under way. */
const lagging: readonly FaultName[] = [
  "list-stale-when-consistent-asked",
  "watch-unset-rv-from-stale-cache",
  "initial-events-stale-snapshot",
];
export const cacheLagMicrosUnder = (faults: Faults): number => (lagging.some((name) => faults[name]) ? 20_000 : 0);

export const faultRows: Readonly<Record<FaultName, FaultRow>> = rows;
export const faultNames = Object.keys(rows) as readonly FaultName[];

/** Every switch off, or the named ones on. Always the same property order, so that reads stay monomorphic. */
export function faultsOn(names: readonly FaultName[] = []): Faults {
  const on = new Set<string>(names);
  return Object.fromEntries(faultNames.map((name) => [name, on.has(name)])) as Faults;
}
