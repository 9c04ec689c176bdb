/**
 * Bugs of what a node agent does with its pods, thought up from what is known of such agents before any check looked at
 * more than evictions. See `docs/detection.md`.
 */
import { type BugRow, commonMistake } from "./bug-row.ts";

const rowsOf = <Name extends string>(foundBy: string, symptoms: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries<string>(symptoms).map(([name, symptom]) => [
      name,
      { area: "pods", foundBy, symptom, source: commonMistake } satisfies BugRow,
    ]),
  ) as Readonly<Record<Name, BugRow>>;

const ofLives = rowsOf("joined-nodes-run-pods-lawfully", {
  "regular-beside-init": "The containers of a pod are started together with its first init container.",
  "restarts-what-succeeded": "A container that ended well is started again, though the pod restarts on failure alone.",
  "restart-waits-stay-short": "A container that fails again and again is started anew after ten seconds each time.",
  "restart-counts-what-is-kept":
    "The restarts of a container are counted by the old instances that are kept: there is one.",
  "last-state-forgotten": "A container that was started again says nothing of how it ended before.",
  "end-message-of-failures-alone": "What a container wrote as its last words is told only when it failed.",
  "out-of-memory-is-an-error": "A container that was killed for want of memory ended for the reason Error.",
  "conditions-change-together": "When one condition of a pod changes, all of them get the new time.",
  "condition-times-stay": "A condition that changes keeps the time of its first status.",
  "ready-without-its-gates": "A pod is ready as soon as its containers are, whatever its readiness gates say.",
  "one-success-is-enough": "A probe that has failed is good again after one success, whatever its threshold is.",
  "one-failure-short": "A probe has failed after one failure fewer than its threshold says.",
  "startup-not-awaited": "Liveness is probed although the container's startup probe has not succeeded.",
  "initial-delay-unheeded": "Probes begin with the container, whatever their initial delay is.",
  "readiness-restarts": "A container whose readiness probe fails is started again.",
  "probe-grace-unheeded":
    "A container that failed its liveness probe is left the pod's grace period, though the probe has its own.",
  "asked-grace-unheeded": "A pod that is deleted is left its own grace period, whatever the deletion asked for.",
  "pre-stop-unheeded": "Containers are stopped without their hook.",
  "post-start-unheeded": "Containers are started without their hook.",
  "sidecar-stays-ended": "A sidecar that has ended beside the pod's containers is not started again.",
  "deadline-unheeded": "A pod goes on beyond its active deadline.",
});

const ofAdmission = rowsOf("joined-nodes-admit-lawfully", {
  "admits-by-sum-of-init":
    "What init containers request is added to what the others do, though they run one after the other.",
  "admits-no-two-of-a-port": "A host port is taken for both protocols and for every address.",
  "admits-by-soft-taints": "A pod is refused for a taint that only keeps the scheduler away.",
  "admits-by-all-terms": "All terms of a node affinity have to match, and not one of them.",
  "admits-by-label-names": "A node selector asks whether the node has the label, whatever its value is.",
  "admits-what-lacks-memory": "A pod that requests more memory than is left is run.",
  "refused-is-pending": "A pod that was refused is Pending for ever.",
});

const ofGiving = rowsOf("joined-nodes-give-what-pods-say", {
  "unknown-reference-is-empty":
    "A reference to a variable that is not there becomes nothing, and does not stay as it is.",
  "variables-by-name": "Variables are set in the order of their names, so that references are lost or come too early.",
  "escapes-stay": "Two dollars before a reference stay two.",
  "arguments-as-they-are": "References in arguments are not replaced.",
  "prefix-unheeded": "Variables that come from a whole object lack their prefix.",
  "first-source-wins": "Of two objects that give a variable the first wins.",
  "optional-is-required": "A container waits for an object that it only wants if it is there.",
  "divisor-unheeded": "A resource is told in its own unit, whatever the divisor is.",
  "items-unheeded": "A volume of an object has all of its keys, and not the items alone.",
  "since-unheeded": "A log is told from its beginning, whatever time it is asked from.",
  "previous-is-current": "The log of the instance before is that of the present one.",
  "limit-unheeded": "A log goes on beyond the bytes that it is limited to.",
});

const ofOthers = rowsOf("joined-nodes-keep-what-others-write", {
  "others-conditions-go": "A pod's conditions that the agent does not know go with its next status.",
  "others-annotations-go": "A pod's annotations go with its next status.",
  "nodes-conditions-go": "Conditions of a node that the agent does not know go with its next status.",
  "nodes-labels-go": "Labels that others gave to a node go with its next status.",
  "restart-begins-anew": "An agent that comes back starts every container again.",
  "restart-forgets-counts": "An agent that comes back counts the restarts of containers from zero.",
});

export const podBugs = { ...ofLives, ...ofAdmission, ...ofGiving, ...ofOthers };
