/**
 * Subresources that connect a client to what runs on a node: logs, commands, ports. Nothing runs here; what can be said
 * without a node is said as the real server does. Source: the published registry of pods.
 */
import { ApiError, badRequest, notFound } from "../errors.ts";
import type { JsonObject } from "../http-message.ts";
import type { ResourcePlace } from "../pipeline/route.ts";
import type { ServedResource } from "../served-resources.ts";
import type { Writer } from "./writer.ts";

const needHost: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward"]);

/** Why there is no connection to the object: it does not exist, it is on no node, or nobody is at the other end. */
export function noConnection(writer: Writer, resource: ServedResource, place: ResourcePlace): ApiError {
  const { namespace, name, row, subresource } = place;
  const what = subresource?.subresource ?? "";
  const live = writer.live(resource, namespace, name);
  if (live === undefined) return notFound(resource.name, name);
  const host = (live.object["spec"] as JsonObject | undefined)?.["nodeName"] ?? "";
  if (needHost.has(what) && host === "") return badRequest(`pod ${name} does not have a host assigned`);
  return notServed(`${row.resource}/${what}`);
}

/** In the tables, but carried out by nobody here. */
export function notServed(what: string): ApiError {
  return new ApiError(405, "MethodNotAllowed", `this server does not carry out requests on ${what}`, {});
}
