/**
 * Resizing a running pod: what containers say of it beforehand, and what the `resize` subresource may change.
 * Source: the published validation of resize policies and of resizes.
 */
import { compareQuantities, parseQuantity } from "../../../../wire/quantity.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField, invalidValue } from "../../../objects/causes.ts";
import { jsonEqual } from "../../../objects/equality.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import type { Place } from "../../../objects/place.ts";
import { oneOf, required } from "../../../objects/rules.ts";
import { qosClass } from "./qos.ts";
import { scopeOf } from "./scope.ts";

const resizable = ["cpu", "memory"];
const policyWords = [
  ["resourceName", required(oneOf(resizable))],
  ["restartPolicy", required(oneOf(["NotRequired", "RestartContainer"]))],
] as const;

/** But for what is there twice, all is told of the list. */
export function resizePolicies(policies: readonly JsonObject[], at: Place): void {
  const seen = new Set<unknown>();
  policies.forEach((policy, index) => {
    const { resourceName = "", restartPolicy = "" } = policy;
    if (seen.has(resourceName)) at.of(index).duplicate(resourceName);
    seen.add(resourceName);
    for (const [field, { judge }] of policyWords) judge((policy[field] ?? "") as never, at);
    if (scopeOf(at).spec["restartPolicy"] === "Never" && restartPolicy !== "NotRequired") {
      at.invalid(restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  });
}

/** Causes of the step from `live` to `pod` through `resize`. */
export function resizeCauses(pod: JsonObject, live: JsonObject, causes: Cause[]): void {
  const [spec, before] = [pod["spec"] as JsonObject, live["spec"] as JsonObject];
  const status = (live["status"] ?? {}) as JsonObject;
  if ((status["qosClass"] ?? qosClass(before)) !== qosClass(spec)) {
    const shown = (pod["status"] as JsonObject | undefined)?.["qosClass"] ?? "";
    causes.push(invalidValue("spec", shown, "Pod QOS Class may not change as a result of resizing"));
  }
  const running = listOf(status, "containerStatuses").find(
    (one) => (one["state"] as JsonObject | undefined)?.["running"] !== undefined,
  );
  if (running !== undefined && running["resources"] === undefined) {
    causes.push(forbiddenField("spec", "Pod running on node without support for resize"));
  }
  for (const field of ["initContainers", "containers"]) {
    const old = listOf(before, field);
    listOf(spec, field).forEach((container, at) => {
      if (field === "initContainers" && !isSidecar(old[at] as JsonObject)) return;
      const path = `spec.${field}[${at}].resources`;
      containerResizeCauses(container, old[at] as JsonObject, path, causes);
    });
  }
  for (const field of ["containers", "initContainers"]) onlyResizedCauses(spec, before, field, causes);
}

const isSidecar = (container: JsonObject): boolean => container["restartPolicy"] === "Always";

const amountsOf = (container: JsonObject, field: string): Readonly<Record<string, Json>> =>
  (((container["resources"] ?? {}) as JsonObject)[field] ?? {}) as Readonly<Record<string, Json>>;

function containerResizeCauses(container: JsonObject, live: JsonObject, path: string, causes: Cause[]): void {
  for (const field of ["requests", "limits"]) {
    const after = amountsOf(container, field);
    if (Object.keys(amountsOf(live, field)).every((name) => Object.hasOwn(after, name))) continue;
    causes.push(forbiddenField(`${path}.${field}`, `resource ${field} cannot be removed`));
  }
  const policy = listOf(container, "resizePolicy").find(({ resourceName }) => resourceName === "memory");
  if ((policy?.["restartPolicy"] ?? "NotRequired") !== "NotRequired") return;
  const after = amountsOf(container, "limits")["memory"];
  const before = amountsOf(live, "limits")["memory"];
  if (after === undefined || (before !== undefined && !isLess(after, before))) return;
  const what = before === undefined ? "added" : "decreased";
  const detail = `memory limits cannot be ${what} unless resizePolicy is RestartContainer`;
  causes.push(forbiddenField(`${path}.limits[memory]`, detail));
}

function isLess(left: Json, right: Json): boolean {
  const [a, b] = [parseQuantity(String(left)), parseQuantity(String(right))];
  return !("error" in a) && !("error" in b) && compareQuantities(a, b) < 0;
}

/** Of containers that go on running cpu and memory alone may be others. */
function onlyResizedCauses(spec: JsonObject, live: JsonObject, field: string, causes: Cause[]): void {
  const old = listOf(live, field);
  listOf(spec, field).forEach((container, at) => {
    const before = old[at] as JsonObject;
    const sidecar = isSidecar(container);
    const resizes = field === "containers" || sidecar;
    if (jsonEqual(resizes ? unsized(container, before) : container, before)) return;
    if (!resizes) causes.push(forbiddenField("spec", "resources for non-sidecar init containers are immutable"));
    else {
      const which = field === "containers" ? "" : "for sidecar containers ";
      causes.push(forbiddenField("spec", `only cpu and memory resources ${which}are mutable`));
    }
  });
}

/** The container with the cpu and memory that it had. */
function unsized(container: JsonObject, live: JsonObject): JsonObject {
  const resources: Record<string, Json> = { ...((container["resources"] ?? {}) as JsonObject) };
  const before = (live["resources"] ?? {}) as JsonObject;
  delete resources["claims"]; // the real server forgets them here
  for (const field of ["limits", "requests"]) {
    if (!isObject(before[field])) {
      delete resources[field];
      continue;
    }
    const amounts: Record<string, Json> = { ...((resources[field] ?? {}) as JsonObject) };
    for (const name of resizable) {
      const amount = before[field][name];
      if (amount === undefined) delete amounts[name];
      else amounts[name] = amount;
    }
    resources[field] = amounts;
  }
  return { ...container, resources };
}
