/**
 * A third round of bugs that were thought up without a look at the checks: rows of `server-bugs.ts`. The figures are in
 * `docs/detection.md`; most of them are made at the edge of the server, in `sim/planted/wrappers/third-misreadings.ts`.
 */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const thirdUnforeseenBugs = {
  "named-watch-forgets-labels": {
    area: "watches",
    foundBy: "watch-filters-the-history",
    symptom: "A watch of one name does not heed its label selector.",
    source: commonMistake,
  },
  "initial-events-omit-going": {
    area: "watches",
    foundBy: "watch-begins-with-what-exists",
    symptom: "A watch that begins with what exists leaves out what is being deleted.",
    source: commonMistake,
  },
  "zero-timeout-ends-watch": {
    area: "watches",
    foundBy: "watches-end-at-their-timeout",
    symptom: "A watch with `timeoutSeconds=0` ends at once.",
    source: commonMistake,
  },
  "later-pages-count-selected": {
    area: "lists",
    foundBy: "sparse-selectors-lose-nothing",
    symptom: "Pages after the first tell how many items remain, whatever selectors there are.",
    source: commonMistake,
  },
  "apply-never-removes-labels": {
    area: "writes",
    foundBy: "owners-follow-the-model",
    symptom: "A label that its only manager no longer applies stays.",
    source: commonMistake,
  },
  "atomic-maps-are-merged": {
    area: "writes",
    foundBy: "schemas-say-what-is-owned",
    symptom: "An atomic map of a custom resource has an owner for each of its fields, and an apply merges it.",
    source: commonMistake,
  },
  "pointer-escapes-misordered": {
    area: "writes",
    foundBy: "json-patches-follow-the-rfc",
    symptom: "`~01` in a pointer of a JSON patch is read as `/`.",
    source: commonMistake,
  },
  "retained-keys-unheeded": {
    area: "writes",
    foundBy: "directives-do-what-they-say",
    symptom: "A strategic patch that says which keys are retained removes no other.",
    source: commonMistake,
  },
  "dry-run-names-nothing": {
    area: "dry-run",
    foundBy: "dry-runs-leave-no-trace",
    symptom: "The dry run of a create that leaves the name to the server is answered without a name.",
    source: commonMistake,
  },
  "second-precondition-unheeded": {
    area: "deletion",
    foundBy: "preconditions-are-kept",
    symptom: "A deletion that names a uid does not heed the version beside it.",
    source: commonMistake,
  },
  "going-is-answered-as-before": {
    area: "deletion",
    foundBy: "finalizers-hold-objects",
    symptom: "A deletion that waits is answered with the object as it was before.",
    source: commonMistake,
  },
  "going-namespace-is-frozen": {
    area: "deletion",
    foundBy: "namespaces-refuse-what-is-new-once-they-go",
    symptom: "What lies in a namespace that is being deleted cannot be updated.",
    source: commonMistake,
  },
  "one-warning-is-enough": {
    area: "writes",
    foundBy: "stray-fields-are-handled-by-level",
    symptom: "Of several warnings only the first is told.",
    source: commonMistake,
  },
  "writes-are-answered-whole": {
    area: "tables",
    foundBy: "metadata-can-be-asked-for-alone",
    symptom: "A write is answered with the whole object, whatever representation was asked for.",
    source: commonMistake,
  },
  "accept-weights-unheeded": {
    area: "content",
    foundBy: "accept-chooses-the-answer",
    symptom: "Of the types in Accept the first is sent, whatever their weights.",
    source: commonMistake,
  },
  "transition-rules-unheeded": {
    area: "writes",
    foundBy: "rules-judge-every-write",
    symptom: "Rules of a custom resource that compare with the old value are not asked.",
    source: commonMistake,
  },
  "selectable-fields-select-all": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "A field selector of a custom resource that names a field of its own leaves nothing out.",
    source: commonMistake,
  },
  "webhook-warnings-untold": {
    area: "access",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "What an admission webhook warns of is not told.",
    source: commonMistake,
  },
  "quota-forgets-applied": {
    area: "writes",
    foundBy: "quotas-count-what-is-there",
    symptom: "What is created by an apply is neither refused nor counted by the namespace's quota.",
    source: commonMistake,
  },
  "collections-go-by-delete": {
    area: "access",
    foundBy: "reviews-say-what-happens",
    symptom: "Who may delete objects may delete a collection at once.",
    source: commonMistake,
  },
  "escalation-by-update": {
    area: "access",
    foundBy: "nobody-grants-what-they-lack",
    symptom: "An update of a role grants what its writer does not hold.",
    source: commonMistake,
  },
  "aggregated-without-subresources": {
    area: "content",
    foundBy: "discoveries-say-the-same",
    symptom: "Discovery of everything at once leaves out subresources.",
    source: commonMistake,
  },
  "eviction-forgets-grace": {
    area: "deletion",
    foundBy: "evictions-are-deletions",
    symptom: "An eviction does not heed the grace period that it names.",
    source: commonMistake,
  },
  "policies-skip-patches": {
    area: "access",
    foundBy: "policies-judge-every-write",
    symptom: "Validating admission policies are not asked about patches.",
    source: commonMistake,
  },
  // Thought up together with those above, and first tried when the checks had been sharpened by them.
  "exact-lists-forget-labels": {
    area: "lists",
    foundBy: "collections-follow-their-writer",
    symptom: "An Exact list does not heed its label selector.",
    source: commonMistake,
  },
  "deletions-from-sets-unheeded": {
    area: "writes",
    foundBy: "what-is-not-named-is-kept",
    symptom: "A strategic patch that deletes values from a list of such deletes none.",
    source: commonMistake,
  },
  "defaults-stop-at-lists": {
    area: "writes",
    foundBy: "schemas-hold-for-every-verb",
    symptom: "What a custom resource's list holds gets no defaults.",
    source: commonMistake,
  },
  "reinvocation-unheeded": {
    area: "access",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "A webhook that wants to be asked again, once another has changed the object, is asked once.",
    source: commonMistake,
  },
  "core-events-without-series": {
    area: "content",
    foundBy: "events-are-one-in-two-groups",
    symptom: "An event of a series is shown without it in the core group.",
    source: commonMistake,
  },
  "leases-take-stale": {
    area: "writes",
    foundBy: "objects-keep-their-laws",
    symptom: "An update of a lease does not heed the resourceVersion that it names.",
    source: commonMistake,
  },
  "deletion-raises-no-generation": {
    area: "deletion",
    foundBy: "generation-counts-the-spec",
    symptom: "The generation does not rise when a deletion begins.",
    source: commonMistake,
  },
  "table-objects-are-metadata": {
    area: "tables",
    foundBy: "tables-show-the-list",
    symptom: "A Table that is to hold whole objects holds their metadata.",
    source: commonMistake,
  },
  "rules-stop-at-lists": {
    area: "writes",
    foundBy: "rules-judge-every-write",
    symptom: "Rules of what a custom resource's list holds are not asked.",
    source: commonMistake,
  },
  "policies-skip-dry-runs": {
    area: "access",
    foundBy: "policies-judge-every-write",
    symptom: "Validating admission policies are not asked about dry runs.",
    source: commonMistake,
  },
  "webhooks-skip-applies": {
    area: "access",
    foundBy: "webhooks-are-asked-and-obeyed",
    symptom: "Webhooks that change objects are not asked about applies.",
    source: commonMistake,
  },
  "escalation-by-binding": {
    area: "access",
    foundBy: "nobody-grants-what-they-lack",
    symptom: "A binding grants what its writer does not hold.",
    source: commonMistake,
  },
  // For the checks that came with these, and had none.
  "wished-address-unheeded": {
    area: "writes",
    foundBy: "services-keep-what-they-were-given",
    symptom: "A service that asks for an address is given any.",
    source: commonMistake,
  },
  "priority-of-pods-believed": {
    area: "writes",
    foundBy: "priorities-come-from-classes",
    symptom: "A pod has the priority that it says itself, and not its class's.",
    source: commonMistake,
  },
  "tokens-are-bound-to-nothing": {
    area: "access",
    foundBy: "tokens-go-with-what-they-are-bound-to",
    symptom: "A token that is to be bound to an object is bound to none.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
