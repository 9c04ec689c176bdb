/**
 * A recorded audit log as requests that are asked again: JSON lines, one event each, as API servers write them. Each
 * request counts once, by the stage ResponseComplete; watches and reads without an object are asked as they were.
 */
import type { JsonObject } from "../../sim/contract/http-message.ts";
import type { ReplayedRequest } from "../../sim/capacity/stage.ts";
import { UsageError } from "./usage-error.ts";

interface AuditEvent {
  readonly stage?: string;
  readonly verb?: string;
  readonly requestURI?: string;
  readonly requestReceivedTimestamp?: string;
  readonly requestObject?: JsonObject;
  readonly user?: { readonly username?: string };
}

const methods: Readonly<Record<string, string>> = {
  get: "GET",
  list: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** In the order of their times. Throws `UsageError` with the line. */
export function replayedRequests(text: string, path: string): readonly ReplayedRequest[] {
  const requests: (ReplayedRequest & { readonly unixMicros: number })[] = [];
  let line = 0;
  for (const source of text.split("\n")) {
    line++;
    if (source.trim() === "") continue;
    const request = requestOf(parsed(source, path, line), `${path}:${line}`);
    if (request !== undefined) requests.push(request);
  }
  requests.sort((one, other) => one.unixMicros - other.unixMicros);
  const first = requests[0]?.unixMicros ?? 0;
  return requests.map(({ unixMicros, ...request }) => ({ ...request, atMicros: unixMicros - first }));
}

function parsed(source: string, path: string, line: number): AuditEvent {
  try {
    const event: unknown = JSON.parse(source);
    if (typeof event === "object" && event !== null && !Array.isArray(event)) return event;
  } catch {
    // Told below.
  }
  throw new UsageError(`${path}:${line}: no audit event: expected one JSON object a line.`);
}

/** Undefined for stages other than the last one, and for what is no request of objects. */
function requestOf(event: AuditEvent, where: string): (ReplayedRequest & { readonly unixMicros: number }) | undefined {
  const {
    stage = "ResponseComplete",
    verb = "",
    requestURI,
    requestReceivedTimestamp = "",
    requestObject,
    user,
  } = event;
  const method = methods[verb];
  if (stage !== "ResponseComplete" || method === undefined) return undefined;
  const millis = Date.parse(requestReceivedTimestamp);
  if (requestURI === undefined || !requestURI.startsWith("/") || Number.isNaN(millis))
    throw new UsageError(`${where}: an audit event has a requestURI and a requestReceivedTimestamp.`);
  const fraction = /\.\d{3}(\d{1,3})/.exec(requestReceivedTimestamp)?.[1] ?? "";
  const question = requestURI.indexOf("?");
  return {
    unixMicros: millis * 1000 + Number(fraction.padEnd(3, "0")),
    atMicros: 0,
    method,
    path: question < 0 ? requestURI : requestURI.slice(0, question),
    query: question < 0 ? "" : requestURI.slice(question + 1),
    body: requestObject,
    contentType: method === "PATCH" ? patchType(requestURI, requestObject) : "application/json",
    user: user?.username ?? "",
  };
}

/** Logs do not say it: a list of operations, or as the published clients patch what is built in and what is not. */
function patchType(uri: string, body: unknown): string {
  if (Array.isArray(body)) return "application/json-patch+json";
  const group = uri.startsWith("/api/") ? "" : (uri.split("/")[2] ?? "");
  const isBuiltIn = !group.includes(".") || /\.(k8s|svc)\.io$/.test(group);
  return isBuiltIn ? "application/strategic-merge-patch+json" : "application/merge-patch+json";
}
