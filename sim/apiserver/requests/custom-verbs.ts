/**
 * What a request may ask of a custom resource. The real server routes these by hand, so its refusals differ from those
 * of built-in resources. Source: the facts, section 1 (404 and 405 forms); the published handler.
 */
import { patchMediaTypes, withoutParameters } from "../../../wire/media-types.ts";
import { ApiError, badRequest, type ResourceName, unsupportedMediaType } from "../../contract/errors.ts";
import type { ResourcePlace, Verb } from "./route.ts";
import type { Run } from "./run.ts";
import type { FeatureGates } from "../../contract/profile.ts";

/** Collections over all namespaces can only be read; anything else there is a path that nobody has. */
export function isCustomPlace({ row, namespace }: ResourcePlace, verb: Verb | ""): boolean {
  return !row.namespaced || namespace !== "" || verb === "list" || verb === "watch";
}

/** Throws 400 or 405 when the resource does not have the verb at this place. */
export function requireCustomVerb(place: ResourcePlace, verb: Verb | "", method: string): asserts verb is Verb {
  const { subresource, name, row } = place;
  if (name === "" && (method === "PUT" || method === "PATCH")) throw badRequest("name must be provided");
  const word = verb === "" ? method.toLowerCase() : verb;
  const verbs: readonly string[] = subresource?.verbs ?? row.verbs;
  if (verb !== "" && verbs.includes(verb)) return;
  // A definition that is being deleted takes nothing new; what is there may still be changed.
  if (verb === "create" && subresource === undefined) {
    throw notSupported(place.resourceName, "create not allowed while custom resource definition is terminating");
  }
  if (verb !== "" && subresource === undefined && (verb === "update" || verb === "patch")) return;
  const { group, resource } = place.resourceName;
  throw notSupported(place.resourceName, `${word} is not supported on resources of kind "${resource}.${group}"`);
}

function notSupported({ group, resource }: ResourceName, message: string): ApiError {
  return new ApiError(405, "MethodNotAllowed", message, { group, kind: resource });
}

/** There is no strategic merge without a type that says how. Throws 415. */
export function requireCustomPatchType(run: Run, { CBORServingAndStorage }: FeatureGates): void {
  const accepted = [
    patchMediaTypes.json,
    patchMediaTypes.merge,
    patchMediaTypes.apply,
    ...(CBORServingAndStorage ? [patchMediaTypes.applyCbor] : []),
  ];
  if (accepted.some((type) => type === withoutParameters(run.request.headers["content-type"] ?? ""))) return;
  const text = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  throw unsupportedMediaType(text, false);
}
