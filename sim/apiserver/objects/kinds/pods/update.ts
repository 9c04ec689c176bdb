/**
 * What an update of a pod may change: images, the deadline downwards, tolerations by addition, gates by removal.
 * Source: recorded answers; the published validation of pod updates.
 * Simplification: the text about other fields goes on with a diff of the two specs in the real server. Where a pod may
 * run cannot be narrowed while it is gated.
 */
import type { Cause } from "../../../errors.ts";
import type { Json, JsonObject } from "../../../http-message.ts";
import { forbiddenField, invalidValue } from "../../causes.ts";
import { jsonEqual } from "../../equality.ts";
import { listOf } from "../fields.ts";

const updateText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Causes of the step from `live` to `spec`. */
export function podUpdateCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): void {
  let countChanged = false;
  for (const field of ["containers", "initContainers"]) {
    if (listOf(spec, field).length === listOf(live, field).length) continue;
    const what = field === "containers" ? "containers" : "init containers";
    causes.push(forbiddenField(`spec.${field}`, `pod updates may not add or remove ${what}`));
    countChanged = true;
  }
  if (countChanged) return; // the real server stops here as well
  deadlineCauses(spec, live, causes);
  gateCauses(listOf(spec, "schedulingGates"), listOf(live, "schedulingGates"), causes);
  if (!keepsAll(listOf(live, "tolerations"), listOf(spec, "tolerations"))) {
    const detail = "existing toleration can not be modified except its tolerationSeconds";
    causes.push(forbiddenField("spec.tolerations", detail));
  }
  if (!jsonEqual(unchangeable(spec, live), unchangeable(live, live))) causes.push(forbiddenField("spec", updateText));
}

/** A deadline comes nearer, and does not go again. */
function deadlineCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): void {
  const before = live["activeDeadlineSeconds"] as number | undefined;
  const after = spec["activeDeadlineSeconds"] as number | undefined;
  const path = "spec.activeDeadlineSeconds";
  if (before === undefined) return;
  if (after === undefined) {
    causes.push(invalidValue(path, undefined, "must not update from a positive integer to nil value"));
  } else if (after > before) causes.push(invalidValue(path, after, "must be less than or equal to previous value"));
}

function gateCauses(gates: readonly JsonObject[], live: readonly JsonObject[], causes: Cause[]): void {
  gates.forEach(({ name }, at) => {
    if (live.some((gate) => gate["name"] === name)) return;
    const detail = `only deletion is allowed, but found new scheduling gate '${name as string}'`;
    causes.push(forbiddenField(`spec.schedulingGates[${at}].name`, detail));
  });
}

/** Every toleration is still there, for whatever time. */
function keepsAll(before: readonly JsonObject[], after: readonly JsonObject[]): boolean {
  const timeless = ({ tolerationSeconds: _, ...rest }: JsonObject): JsonObject => rest as JsonObject;
  return before.every((toleration) => after.some((other) => jsonEqual(timeless(toleration), timeless(other))));
}

function unchangeable(spec: JsonObject, live: JsonObject): JsonObject {
  const rest: Record<string, Json> = { ...spec };
  for (const field of ["containers", "initContainers"]) {
    if (rest[field] === undefined) continue;
    rest[field] = listOf(spec, field).map(({ image: _, ...container }) => container as JsonObject);
  }
  for (const field of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) delete rest[field];
  // A period below zero means one second.
  const seconds = "terminationGracePeriodSeconds";
  if ((live[seconds] as number) < 0 && spec[seconds] === 1) rest[seconds] = live[seconds] as Json;
  return rest;
}
