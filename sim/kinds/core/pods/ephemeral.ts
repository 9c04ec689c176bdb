/**
 * Containers added to a running pod for a look inside: what they may have, and that they stay as they were added.
 * Source: the published validation of ephemeral containers.
 */
import { goQuote } from "../../../../wire/go-strings.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { duplicateValue, forbiddenField, notFoundValue } from "../../../objects/causes.ts";
import { jsonEqual } from "../../../objects/equality.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { commonCauses, imageCauses, type PodScope } from "./containers.ts";

/** What a pod is run for, and what such a container is not, in the order of the type's fields. */
const forbidden = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;
const forbiddenText = "cannot be set for an Ephemeral Container";

/** `path` is that of the pod's spec. */
export function ephemeralCauses(spec: JsonObject, scope: PodScope, path: string, causes: Cause[]): void {
  const others = new Set(
    [...listOf(spec, "containers"), ...listOf(spec, "initContainers")].map(({ name }) => (name ?? "") as string),
  );
  const names = new Set(others);
  listOf(spec, "ephemeralContainers").forEach((container, at) => {
    const here = `${path}.ephemeralContainers[${at}]`;
    commonCauses(container, scope, here, causes);
    imageCauses(container, here, causes);
    const { name = "", targetContainerName: target = "" } = container as Readonly<Record<string, string>>;
    if (names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    names.add(name);
    if (target !== "" && !others.has(target)) causes.push(notFoundValue(`${here}.targetContainerName`, target));
    for (const field of forbidden) {
      if (isSet(container[field])) causes.push(forbiddenField(`${here}.${field}`, forbiddenText));
    }
    listOf(container, "volumeMounts").forEach((mount, index) => {
      for (const field of ["subPath", "subPathExpr"]) {
        if ((mount[field] ?? "") === "") continue;
        causes.push(forbiddenField(`${here}.volumeMounts[${index}].${field}`, forbiddenText));
      }
    });
  });
}

function isSet(value: Json | undefined): boolean {
  if (Array.isArray(value)) return true; // an empty list counts as one that was given
  return isObject(value) ? Object.keys(value).length > 0 : value !== undefined && value !== "";
}

/** Causes of the step from `live` to `pod` through `ephemeralcontainers`: nothing goes, nothing changes. */
export function ephemeralStepCauses(pod: JsonObject, live: JsonObject, causes: Cause[]): void {
  const after = new Map(listOf(pod["spec"] as JsonObject, "ephemeralContainers").map((one) => [one["name"], one]));
  for (const old of listOf(live["spec"] as JsonObject, "ephemeralContainers")) {
    const container = after.get(old["name"]);
    if (container !== undefined && jsonEqual(container, old)) continue;
    // Simplification: of a change the real server goes on with a diff.
    const what = container === undefined ? "removed" : "changed";
    const detail = `existing ephemeral containers ${goQuote(old["name"] as string)} may not be ${what}\n`;
    causes.push(forbiddenField("spec.ephemeralContainers", detail));
  }
}
