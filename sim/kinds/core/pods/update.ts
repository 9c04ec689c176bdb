/**
 * What an update of a pod may change: images, the deadline downwards, tolerations by addition, gates by removal.
 * Source: recorded answers; the published validation of pod updates.
 * Simplification: the text about other fields goes on with a diff of the two specs in the real server.
 */
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField, goStringMap, invalidText, invalidValue, requiredValue } from "../../../objects/causes.ts";
import { jsonEqual } from "../../../objects/equality.ts";
import { listOf } from "../../shared/fields.ts";
import { judgeAt } from "../../../objects/place.ts";
import { each } from "../../../objects/rules.ts";
import { podImage } from "./containers.ts";
import { toleration } from "./scheduling.ts";

const tolerations = each(toleration);

const updateText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Causes of the step from `live` to `spec`. */
export function podUpdateCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): void {
  for (const field of ["containers", "initContainers"]) {
    const containers = listOf(spec, field);
    if (containers.length !== listOf(live, field).length) {
      causes.push(forbiddenField(`spec.${field}`, "pod updates may not add or remove containers"));
      return; // the real server stops here as well
    }
    containers.forEach((container, at) => {
      if ((container["image"] ?? "") === "") causes.push(requiredValue(`spec.${field}[${at}].image`));
      judgeAt(podImage, container, `spec.${field}[${at}]`, causes);
    });
  }
  if (deadlineCauses(spec, live, causes)) return;
  if (!keepsAll(listOf(live, "tolerations"), listOf(spec, "tolerations"))) {
    const detail = "existing toleration can not be modified except its tolerationSeconds";
    causes.push(forbiddenField("spec.tolerations", detail));
  } else judgeAt(tolerations, listOf(spec, "tolerations"), "spec.tolerations", causes);
  gateCauses(listOf(spec, "schedulingGates"), listOf(live, "schedulingGates"), causes);
  const isGated = listOf(live, "schedulingGates").length > 0;
  if (isGated) gatedCauses(spec, live, causes);
  if (!jsonEqual(unchangeable(spec, live, isGated), unchangeable(live, live, isGated))) {
    causes.push(forbiddenField("spec", updateText));
  }
}

/** A deadline comes nearer, and does not go again. True when nothing else is judged. */
function deadlineCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): boolean {
  const before = live["activeDeadlineSeconds"] as number | undefined;
  const after = spec["activeDeadlineSeconds"] as number | undefined;
  const path = "spec.activeDeadlineSeconds";
  if (after !== undefined && (after < 0 || after > secondsMax)) {
    causes.push(invalidValue(path, after, `must be between 0 and ${secondsMax}, inclusive`));
    return true;
  }
  if (before === undefined) return false;
  if (after === undefined) {
    causes.push(invalidValue(path, undefined, "must not update from a positive integer to nil value"));
    return false;
  }
  if (after <= before) return false;
  causes.push(invalidValue(path, after, "must be less than or equal to previous value"));
  return true;
}

const secondsMax = 2_147_483_647;

function gateCauses(gates: readonly JsonObject[], live: readonly JsonObject[], causes: Cause[]): void {
  const known = new Set(live.map(({ name }) => name));
  gates.forEach(({ name }, at) => {
    if (known.has(name)) return;
    const detail = `only deletion is allowed, but found new scheduling gate '${name as string}'`;
    causes.push(forbiddenField(`spec.schedulingGates[${at}].name`, detail));
  });
}

/** Every toleration is still there, for whatever time. */
function keepsAll(before: readonly JsonObject[], after: readonly JsonObject[]): boolean {
  if (before === after) return true;
  const timeless = ({ key, operator, value, effect }: JsonObject): string =>
    JSON.stringify([key, operator, value, effect]);
  const there = new Set(after.map(timeless));
  return before.every((toleration) => there.has(timeless(toleration)));
}

/** Where a pod may run can be narrowed while it waits at a gate. */
function gatedCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): void {
  const before = (live["nodeSelector"] ?? {}) as JsonObject;
  const after = (spec["nodeSelector"] ?? {}) as JsonObject;
  if (!Object.keys(before).every((key) => after[key] === before[key])) {
    const detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    causes.push(invalidText("spec.nodeSelector", goStringMap(after as Readonly<Record<string, string>>), detail));
  }
  const [old, now] = [requiredTerms(live), requiredTerms(spec)];
  const path = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  // Simplification: the real server prints the terms with all their fields.
  if (old.length > 0 && old.length !== now.length) {
    const detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    causes.push(invalidText(path, "[]core.NodeSelectorTerm{}", detail));
    return;
  }
  old.forEach((term, at) => {
    if (onlyAdds(term, now[at] as JsonObject)) return;
    const detail = "only additions are allowed (no mutations or deletions)";
    causes.push(invalidText(`${path}[${at}]`, "core.NodeSelectorTerm{}", detail));
  });
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";

function nodeAffinityOf(spec: JsonObject): JsonObject {
  return ((spec["affinity"] as JsonObject | undefined)?.["nodeAffinity"] ?? {}) as JsonObject;
}

const requiredTerms = (spec: JsonObject): readonly JsonObject[] =>
  listOf((nodeAffinityOf(spec)[required] ?? {}) as JsonObject, "nodeSelectorTerms");

function onlyAdds(before: JsonObject, after: JsonObject): boolean {
  const [old, now] = [before, after].map((term) => termFields.map((field) => listOf(term, field)));
  const isEmpty = (lists: readonly (readonly JsonObject[])[]): boolean => lists.every((list) => list.length === 0);
  if (isEmpty(old ?? []) && !isEmpty(now ?? [])) return false;
  return termFields.every((_, at) => (old?.[at] ?? []).every((each, index) => jsonEqual(each, now?.[at]?.[index])));
}

const termFields = ["matchExpressions", "matchFields"] as const;

/** The spec without what an update may change; without where it may run, for a pod that waits at a gate. */
function unchangeable(spec: JsonObject, live: JsonObject, isGated: boolean): JsonObject {
  const rest: Record<string, Json> = { ...spec };
  for (const field of ["containers", "initContainers"]) {
    if (rest[field] === undefined) continue;
    rest[field] = listOf(spec, field).map(({ image: _, ...container }) => container as JsonObject);
  }
  for (const field of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) delete rest[field];
  if (isGated) {
    delete rest["nodeSelector"];
    const { nodeAffinity: _, ...affinity } = (spec["affinity"] ?? {}) as JsonObject;
    if (Object.keys(affinity).length === 0) delete rest["affinity"];
    else rest["affinity"] = affinity as JsonObject;
  }
  // A period below zero means one second.
  const seconds = "terminationGracePeriodSeconds";
  if ((live[seconds] as number) < 0 && spec[seconds] === 1) rest[seconds] = live[seconds] as Json;
  return rest;
}
