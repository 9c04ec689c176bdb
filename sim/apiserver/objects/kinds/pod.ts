/**
 * Pods. Source: recorded answers (04, 05, 06); the published rule of what an update of a pod may change.
 */
import type { Dialect } from "../../../../wire/dialect.ts";
import type { Cause } from "../../errors.ts";
import type { Json, JsonObject } from "../../http-message.ts";
import { forbiddenField } from "../causes.ts";
import { type Draft, ownChild } from "../types.ts";
import { listOf } from "./fields.ts";
import type { KindRules } from "./kind-rules.ts";
import { podUpdateCauses } from "./pods/update.ts";
import { eachItem, podSpecCauses, podSpecDefaults } from "./pod-template.ts";

export const podRules: KindRules = {
  defaults(draft) {
    if (Object.isFrozen(draft["spec"])) return;
    const spec = ownChild(draft, "spec");
    podSpecDefaults(spec);
    spec["enableServiceLinks"] ??= true;
    for (const field of ["containers", "initContainers"]) eachItem(spec, field, requestDefaults);
  },
  prepareForCreate(draft, dialect) {
    admit(draft, dialect);
    draft["status"] = { phase: "Pending", qosClass: qosClass(draft["spec"] as JsonObject) };
  },
  prepareForUpdate(draft, live, subresource, dialect) {
    if (subresource !== "") return;
    const before = (live["spec"] ?? {}) as JsonObject;
    const { priority, preemptionPolicy } = draft["spec"] as JsonObject;
    if (priority === undefined && before["priority"] !== undefined)
      ownChild(draft, "spec")["priority"] = before["priority"];
    if (preemptionPolicy === undefined && before["preemptionPolicy"] !== undefined) {
      ownChild(draft, "spec")["preemptionPolicy"] = before["preemptionPolicy"];
    }
    addTolerations(draft, dialect);
  },
  validate(object, causes, _dialect, live) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    podSpecCauses(spec, "spec", causes, true);
    if (live === undefined) newPodCauses(spec, causes);
  },
  validateUpdate(object, live, causes) {
    podUpdateCauses((object["spec"] ?? {}) as JsonObject, (live["spec"] ?? {}) as JsonObject, causes);
  },
};

/** A resource that is limited but not requested is requested to its limit. */
function requestDefaults(container: Draft): void {
  const resources = container["resources"] as JsonObject | undefined;
  const limits = resources?.["limits"] as JsonObject | undefined;
  if (limits === undefined) return;
  const requests = (resources?.["requests"] ?? {}) as JsonObject;
  if (Object.keys(limits).every((name) => Object.hasOwn(requests, name))) return;
  const merged = { ...limits, ...requests };
  ownChild(container, "resources")["requests"] = Object.fromEntries(
    Object.keys(merged)
      .sort()
      .map((name) => [name, merged[name] as Json]),
  );
}

/** What the observed server's admission adds to every pod, after managed fields were computed: nobody owns these. */
function admit(draft: Draft, dialect: Dialect): void {
  addTolerations(draft, dialect);
  const spec = ownChild(draft, "spec");
  spec["priority"] ??= 0;
  spec["preemptionPolicy"] ??= "PreemptLowerPriority";
}

/** A pod stays for five minutes on a node that has gone, unless it says otherwise. */
function addTolerations(draft: Draft, dialect: Dialect): void {
  const spec = (draft["spec"] ?? {}) as JsonObject;
  const tolerations = (spec["tolerations"] ?? []) as readonly JsonObject[];
  const added = ["not-ready", "unreachable"]
    .map((name) => `node.${dialect.labelSuffix}/${name}`)
    .filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  if (added.length > 0) ownChild(draft, "spec")["tolerations"] = [...tolerations, ...added];
}

function tolerates(toleration: JsonObject, key: string): boolean {
  const { effect, key: own } = toleration;
  return (own === key || own === undefined) && (effect === "NoExecute" || effect === undefined);
}

/** Guaranteed: every container limits cpu and memory and requests just that. BestEffort: none says anything. */
export function qosClass(spec: JsonObject): "BestEffort" | "Burstable" | "Guaranteed" {
  const containers = [
    ...((spec["containers"] ?? []) as readonly JsonObject[]),
    ...((spec["initContainers"] ?? []) as readonly JsonObject[]),
  ];
  let mentioned = false;
  let guaranteed = true;
  for (const container of containers) {
    const resources = (container["resources"] ?? {}) as JsonObject;
    const limits = (resources["limits"] ?? {}) as JsonObject;
    const requests = (resources["requests"] ?? {}) as JsonObject;
    for (const name of ["cpu", "memory"]) {
      if (limits[name] !== undefined || requests[name] !== undefined) mentioned = true;
      if (limits[name] === undefined || (requests[name] ?? limits[name]) !== limits[name]) guaranteed = false;
    }
  }
  if (!mentioned) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

/** What can only come to a pod later. */
function newPodCauses(spec: JsonObject, causes: Cause[]): void {
  if (listOf(spec, "ephemeralContainers").length > 0) {
    causes.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  }
  if ((spec["nodeName"] ?? "") !== "" && listOf(spec, "schedulingGates").length > 0) {
    causes.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}
