/** From results and errors to responses: headers, representation, bytes on demand. */
import { inWordsOf } from "../../contract/value-texts.ts";
import type { ApiError } from "../../contract/errors.ts";
import type { JsonObject, Payload, ResponseHeaders } from "../../contract/http-message.ts";
import { type Encode, prettyJson } from "../encodings/encode.ts";
import { ListPayload } from "../encodings/list-payload.ts";
import { isInParts, ShownPayload } from "../encodings/shown-payload.ts";
import { isList } from "./partial-metadata.ts";
import { ObjectPayload, SharedPayload, TextPayload } from "../encodings/payload.ts";
import { transformed } from "./transform.ts";
import type { AnswerContext } from "./answer-context.ts";
import { type Negotiated, offerOf } from "./negotiate.ts";
import type { Run } from "../requests/run.ts";
import { warningHeaders } from "../requests/warnings.ts";

const noCache = "no-cache, private";

/** The headers of every response. */
export function baseHeaders(run: Run): ResponseHeaders {
  const headers: ResponseHeaders = {
    "cache-control": noCache,
    "audit-id": auditIdOf(run),
    ...run.flow?.headers,
  };
  if (run.warnings !== undefined) headers["warning"] = warningHeaders(run.warnings);
  return headers;
}

/** The client's own, or one that no other request of this server has. */
export function auditIdOf(run: Run): string {
  return run.request.headers["audit-id"] ?? auditId(run.number);
}

/** A stored object, or a list of them. */
export function respondObject(context: AnswerContext, run: Run, status: number, object: JsonObject): void {
  const negotiated = context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  run.respond(status, baseHeaders(run), objectPayload(context, run, negotiated, object));
}

/** The body for `object` as negotiated; Status objects are never transformed. */
export function objectPayload(context: AnswerContext, run: Run, negotiated: Negotiated, object: JsonObject): Payload {
  const { contentType, transform } = negotiated;
  const encode = encodeOf(context, run, negotiated);
  if (object["kind"] === "Status") return new ObjectPayload(object, contentType, encode);
  if (transform !== undefined) {
    const shown = transformed(context, run, transform, object);
    return isInParts(shown)
      ? new ShownPayload(shown, contentType, encode)
      : new ObjectPayload(shown, contentType, encode);
  }
  if (isList(object)) return new ListPayload(object, contentType, encode, context.encodings);
  return new SharedPayload(object, contentType, encode, context.encodings);
}

export function respondText(
  _context: AnswerContext,
  run: Run,
  status: number,
  text: string,
  headers: ResponseHeaders = {},
): void {
  const all = { ...baseHeaders(run), "x-content-type-options": "nosniff", ...headers };
  run.respond(status, all, new TextPayload(text));
}

/** A refusal in the representation asked for; when that cannot be had, as indented JSON. */
export function respondError(context: AnswerContext, run: Run, refusal: ApiError): void {
  const { negotiator, profile } = context;
  const { code, status, retryAfterSeconds } = refusal.retold?.((causes) => inWordsOf(profile, causes)) ?? refusal;
  const headers = baseHeaders(run);
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  if (code === 403) headers["x-content-type-options"] = "nosniff";
  const negotiated = negotiator.negotiateError(run.request.headers["accept"]);
  const payload =
    negotiated === undefined
      ? new ObjectPayload(status, "application/json", prettyJson)
      : new ObjectPayload(status, negotiated.contentType, encodeOf(context, run, negotiated));
  // A HEAD is refused without a word.
  const isHead = run.request.method === "HEAD";
  run.respond(code, headers, isHead ? new TextPayload("", payload.contentType) : payload);
}

const prettyAgents = ["curl", "Wget", "Mozilla/5.0"];

/** How the answer's bytes are made. */
export function encodeOf(context: AnswerContext, run: Run, negotiated: Negotiated): Encode {
  const { format } = negotiated;
  return format === "json" && isPretty(run, negotiated) ? prettyJson : context.encoders.of(format);
}

/** By the Accept clause, by `pretty`, else by a user agent with a person behind it. Source: the facts, section 5. */
function isPretty(run: Run, negotiated: Negotiated): boolean {
  if (negotiated.pretty) return true;
  const asked = run.query.first("pretty") ?? "";
  if (asked !== "") return trueWords.has(asked);
  const agent = run.request.headers["user-agent"];
  return agent !== undefined && prettyAgents.some((prefix) => agent.startsWith(prefix));
}

const trueWords = new Set(["1", "t", "T", "true", "TRUE", "True"]);

const lastDigits = Array.from({ length: 4096 }, (_, value) => value.toString(16).padStart(3, "0"));
let headOf = -1;
let head = "";

/** A UUID's form, from the number of the request: unique in a server's life, and the same in every run. */
function auditId(number: number): string {
  const high = Math.floor(number / 4096);
  if (high !== headOf) {
    headOf = high;
    head = `00000000-0000-4000-8000-${high.toString(16).padStart(9, "0")}`;
  }
  return head + (lastDigits[number & 4095] as string);
}
