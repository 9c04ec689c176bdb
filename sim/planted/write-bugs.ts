/** Bugs of writes, dry and real, and of deletion: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const writeBugs = {
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
    symptom: "A second foreground deletion, once the first is done, holds the object for good.",
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
  "unsafe-delete-takes-readable": {
    area: "deletion",
    symptom: "An unsafe deletion also removes an object that can be read, finalizers and all.",
    source: commonMistake,
    gate: "AllowUnsafeMalformedObjectDeletion",
  },
  "unsafe-delete-heeds-no-options": {
    area: "deletion",
    symptom: "An unsafe deletion is not refused for the options beside it.",
    source: commonMistake,
    gate: "AllowUnsafeMalformedObjectDeletion",
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
} as const satisfies Record<string, BugRow>;
