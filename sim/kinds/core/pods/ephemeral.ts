/**
 * Containers added to a running pod for a look inside: what they may have, and that they stay as they were added.
 * Source: the published validation of ephemeral containers.
 */
import { goQuote } from "../../../../wire/go-strings.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField } from "../../../objects/causes.ts";
import { jsonEqual } from "../../../objects/equality.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import type { Place } from "../../../objects/place.ts";
import { each, fields, forbidden, struct, unlessEmpty } from "../../../objects/rules.ts";
import { anyContainer, podImage } from "./containers.ts";
import { scopeOf } from "./scope.ts";

/** What a pod is run for, and what such a container is not, in the order of the type's fields. */
const unfit = [
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

const names = (list: readonly JsonObject[]): readonly string[] => list.map(({ name }) => (name ?? "") as string);

const common = struct(anyContainer, podImage);
const neither = fields(["subPath", "subPathExpr"], unlessEmpty(forbidden(forbiddenText)));
const wholeVolumes = each(struct(neither));

export function ephemeralContainers(list: readonly JsonObject[], at: Place): void {
  const { spec } = scopeOf(at);
  const others = new Set([...names(listOf(spec, "containers")), ...names(listOf(spec, "initContainers"))]);
  const taken = new Set(others);
  at.eachItem(list, (container: JsonObject) => {
    common.judge(container as never, at);
    const { name = "", targetContainerName: target = "" } = container as Readonly<Record<string, string>>;
    if (taken.has(name)) at.of("name").duplicate(name);
    taken.add(name);
    if (target !== "" && !others.has(target)) at.of("targetContainerName").notFound(target);
    for (const field of unfit) if (isSet(container[field])) at.of(field).forbidden(forbiddenText);
    at.judge("volumeMounts", container["volumeMounts"], wholeVolumes);
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
