/**
 * What eviction reads of a pod's object: its limits, its volumes and what it tolerates. Objects are shared with the
 * watch cache and never copied; each is read when it is needed.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";

/** Seconds that the pod asks for to end, 30 where it says nothing. */
export function graceSecondsOf(pod: JsonObject): number {
  const seconds = objectIn(pod, "spec")["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds : 30;
}

/** Of one container; undefined where it has none, or none above zero. */
export function ephemeralLimitOf(container: JsonObject): Quantity | undefined {
  const limit = quantityOf(resourceIn(container, "limits", "ephemeral-storage"));
  return limit === undefined || limit.digits <= 0n ? undefined : limit;
}

/** Of the whole pod: the limits of those containers that have one. Undefined: none has. */
export function podEphemeralLimitOf(pod: JsonObject): Quantity | undefined {
  const spec = objectIn(pod, "spec");
  const limitOf = (container: JsonObject): Quantity | undefined =>
    quantityOf(resourceIn(container, "limits", "ephemeral-storage"));
  const sum = listIn(spec, "containers").reduce<Quantity | undefined>((total, container) => {
    const limit = limitOf(container);
    if (limit === undefined) return total;
    return total === undefined ? limit : addQuantities(total, limit);
  }, undefined);
  return listIn(spec, "initContainers").reduce<Quantity | undefined>((most, container) => {
    const limit = limitOf(container);
    if (limit === undefined) return most;
    return most === undefined || compareQuantities(limit, most) > 0 ? limit : most;
  }, sum);
}

/** Volumes whose bytes lie on nodefs. */
export function localVolumesOf(pod: JsonObject): readonly string[] {
  return listIn(objectIn(pod, "spec"), "volumes")
    .filter((volume) => {
      const emptyDir = volume["emptyDir"];
      const onDisk = isObject(emptyDir) && (emptyDir["medium"] ?? "") === "";
      return onDisk || ["hostPath", "configMap", "gitRepo"].some((source) => isObject(volume[source]));
    })
    .map((volume) => String(volume["name"]));
}

export interface SizedVolume {
  readonly name: string;
  readonly limit: Quantity;
}

/** Volumes of the pod's own that say how large they may become. */
export function sizedVolumesOf(pod: JsonObject): readonly SizedVolume[] {
  return listIn(objectIn(pod, "spec"), "volumes").flatMap((volume) => {
    const limit = quantityOf(objectIn(volume, "emptyDir")["sizeLimit"]);
    return limit === undefined || limit.digits <= 0n ? [] : [{ name: String(volume["name"]), limit }];
  });
}

/** Containers and init containers; ephemeral ones cannot have resources and are not blamed. */
export function blamableContainersOf(pod: JsonObject): readonly JsonObject[] {
  const spec = objectIn(pod, "spec");
  return [...listIn(spec, "containers"), ...listIn(spec, "initContainers")];
}

/** Sum over the containers, 0 where there is none. */
export function limitOf(pod: JsonObject, resource: string): number {
  return containersOf(pod).reduce((sum, container) => {
    const limit = quantityOf(resourceIn(container, "limits", resource));
    return sum + (limit === undefined ? 0 : Number(quantityAt(limit, 0)));
  }, 0);
}

export function containersOf(pod: JsonObject): readonly JsonObject[] {
  return listIn(objectIn(pod, "spec"), "containers");
}

export function containerRequest(container: JsonObject, resource: string): Quantity | undefined {
  return quantityOf(resourceIn(container, "requests", resource));
}

/** A toleration of the taint `key` with the effect NoSchedule. */
export function toleratesNoSchedule(pod: JsonObject, key: string): boolean {
  return listIn(objectIn(pod, "spec"), "tolerations").some((toleration) => {
    const effect = toleration["effect"] ?? "";
    if (effect !== "" && effect !== "NoSchedule") return false;
    const named = toleration["key"] ?? "";
    if (named !== "" && named !== key) return false;
    // The taint has no value: an equality holds with an empty one alone.
    return toleration["operator"] === "Exists" || (named !== "" && (toleration["value"] ?? "") === "");
  });
}

function resourceIn(container: JsonObject, list: "requests" | "limits", resource: string): Json | undefined {
  return objectIn(objectIn(container, "resources"), list)[resource];
}

function quantityOf(value: Json | undefined): Quantity | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const quantity = parseQuantity(String(value));
  return "error" in quantity ? undefined : quantity;
}

const nothing: JsonObject = {};

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isObject(value) ? value : nothing;
}

function listIn(object: JsonObject, field: string): readonly JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? (value.filter(isObject) as JsonObject[]) : [];
}
