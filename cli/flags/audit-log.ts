/**
 * A recorded audit log as requests that are asked again: JSON lines, one event each, as API servers write them. Each
 * request counts once, by the stage ResponseComplete; a watch lasts as long as it did.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { JsonObject } from "../../sim/contract/http-message.ts";
import type { ReplayedRequest } from "../../sim/capacity/stage.ts";
import { unreadable } from "./file-problem.ts";
import { UsageError } from "./usage-error.ts";

interface AuditEvent {
  readonly stage?: unknown;
  readonly verb?: unknown;
  readonly requestURI?: unknown;
  readonly requestReceivedTimestamp?: unknown;
  readonly stageTimestamp?: unknown;
  readonly requestObject?: unknown;
  readonly user?: { readonly username?: unknown } | null;
}

export interface AuditLog {
  /** In the order of their times. */
  readonly requests: readonly ReplayedRequest[];
  /** Writes whose object was not recorded: they cannot be asked again. */
  readonly bodilessCount: number;
}

const methods: Readonly<Record<string, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

const requestsMax = 2_000_000;
const lineBytesMax = 16 << 20;

/** Throws `UsageError` with the line. */
export function readAuditLog(path: string): AuditLog {
  const requests: Timed[] = [];
  let bodilessCount = 0;
  for (const { text, line } of linesOf(path)) {
    const where = `${path}:${line}`;
    const request = requestOf(parsed(text, where), where);
    if (request === "bodiless") bodilessCount++;
    else if (request !== undefined) requests.push(request);
    if (requests.length > requestsMax)
      throw new UsageError(`${where}: more than ${requestsMax} requests: give a part of the log.`);
  }
  requests.sort((one, other) => one.unixMicros - other.unixMicros);
  const first = requests[0]?.unixMicros ?? 0;
  return {
    requests: requests.map(({ unixMicros, ...request }) => ({ ...request, atMicros: unixMicros - first })),
    bodilessCount,
  };
}

type Timed = ReplayedRequest & { readonly unixMicros: number };

/** Line by line: logs are longer than a text may be. */
function* linesOf(path: string): Generator<{ readonly text: string; readonly line: number }> {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    throw new UsageError(`${path}: ${unreadable(error)}`);
  }
  try {
    const chunk = Buffer.allocUnsafe(1 << 20);
    let rest: Buffer[] = [];
    let restBytes = 0;
    let line = 0;
    const whole = (last: Buffer): string => {
      const text = Buffer.concat([...rest, last])
        .toString("utf8")
        .trim();
      rest = [];
      restBytes = 0;
      line++;
      return text;
    };
    for (;;) {
      const count = readSync(descriptor, chunk, 0, chunk.length, null);
      if (count === 0) break;
      let from = 0;
      for (let end = chunk.indexOf(newline); end >= 0 && end < count; end = chunk.indexOf(newline, from)) {
        const text = whole(chunk.subarray(from, end));
        if (text !== "") yield { text, line };
        from = end + 1;
        if (from >= count) break;
      }
      restBytes += count - from;
      if (restBytes > lineBytesMax)
        throw new UsageError(
          `${path}:${line + 1}: a line of more than ${lineBytesMax >> 20} MiB: expected one audit event a line.`,
        );
      if (from < count) rest.push(Buffer.from(chunk.subarray(from, count)));
    }
    const text = whole(Buffer.alloc(0));
    if (text !== "") yield { text, line };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${unreadable(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

const newline = 0x0a;

function parsed(source: string, where: string): AuditEvent {
  try {
    const event: unknown = JSON.parse(source);
    if (typeof event === "object" && event !== null && !Array.isArray(event)) return event;
  } catch {
    // Told below.
  }
  throw new UsageError(`${where}: no audit event: expected one JSON object a line.`);
}

/** Undefined for stages other than the last one, and for what is no request of objects. */
function requestOf(event: AuditEvent, where: string): Timed | "bodiless" | undefined {
  const { stage = "ResponseComplete", verb, requestURI, requestObject, user } = event;
  const method = typeof verb === "string" && Object.hasOwn(methods, verb) ? methods[verb] : undefined;
  if (stage !== "ResponseComplete" || method === undefined) return undefined;
  const unixMicros = microsOf(event.requestReceivedTimestamp);
  if (typeof requestURI !== "string" || !requestURI.startsWith("/") || unixMicros === undefined)
    throw new UsageError(`${where}: an audit event has a requestURI and a requestReceivedTimestamp.`);
  const hasBody = typeof requestObject === "object" && requestObject !== null;
  if (!hasBody && (method === "POST" || method === "PUT" || method === "PATCH")) return "bodiless";
  const question = requestURI.indexOf("?");
  const ended = microsOf(event.stageTimestamp) ?? unixMicros;
  const { username } = user ?? {};
  return {
    unixMicros,
    atMicros: 0,
    method,
    path: question < 0 ? requestURI : requestURI.slice(0, question),
    query: question < 0 ? "" : requestURI.slice(question + 1),
    body: hasBody ? (requestObject as JsonObject) : undefined,
    contentType: method === "PATCH" ? patchType(requestURI, requestObject) : "application/json",
    user: typeof username === "string" ? username : "",
    ...(verb === "watch" ? { watchMicros: Math.max(0, ended - unixMicros) } : {}),
  };
}

/** `2026-01-02T03:04:05.678901Z`, which Date reads to the millisecond. */
function microsOf(time: unknown): number | undefined {
  if (typeof time !== "string") return undefined;
  const millis = Date.parse(time);
  if (Number.isNaN(millis)) return undefined;
  const fraction = /\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? "";
  return millis * 1000 + Number(fraction.padEnd(3, "0"));
}

/** Logs do not say it: a list of operations, or as the published clients patch what is built in and what is not. */
function patchType(uri: string, body: unknown): string {
  if (Array.isArray(body)) return "application/json-patch+json";
  const group = uri.startsWith("/api/") ? "" : (uri.split("/")[2] ?? "");
  const isBuiltIn = !group.includes(".") || /\.(k8s|svc)\.io$/.test(group);
  return isBuiltIn ? "application/strategic-merge-patch+json" : "application/merge-patch+json";
}
