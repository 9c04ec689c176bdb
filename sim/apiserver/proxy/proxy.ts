/**
 * `proxy`: a request that is handed on to a service, a pod or a node, and answered with what that one says. Path, query,
 * body and end-to-end headers go as they came, but for credentials.
 *
 * Simplifications: an answer is handed back once it is whole, where the real server lets it flow; links in HTML are not
 * rewritten; `X-Forwarded-For` is as the client sent it.
 * Source: document 1, Verbs, proxy; the published proxy handler and its transport.
 */
import { badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { requireBodySize } from "../requests/body-size.ts";
import type { Payload, ResponseHeaders } from "../../contract/http-message.ts";
import { baseHeaders } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { parsePath } from "../requests/url.ts";
import { compactJson } from "../encodings/encode.ts";
import { TextPayload } from "../encodings/payload.ts";
import type { Forward, ForwardedAnswer, ForwardedRequest } from "./forward.ts";
import { forwardedHeaders, returnedHeaders, returnedLocation } from "./headers.ts";
import { addressNotAllowed, type Location, type LocationPorts, locations, unavailable } from "./locations.ts";

export interface ProxyPorts extends LocationPorts {
  readonly forward: Forward;
  /** Asks those who may refuse the connection or change its options; throws what they say. */
  readonly admitted: (run: Run, options: JsonObject, done: (options: JsonObject) => void) => void;
}

/** Throws what `locations` throws, 400 for a dry run, and 413. */
export function handOn(ports: ProxyPorts, run: Run): void {
  const { resourcePlace, request, query } = run;
  if (!run.canHandOver) refuseUpgrade(run);
  if (query.has("dryRun")) throw badRequest("dryRun is not supported");
  const { prefix, tail } = splitPath(request.path, resourcePlace.namespace === "" ? 5 : 7);
  const path = trimmed(tail).split("/").map(decodeURIComponent).join("/");
  const { kind = "", version = "" } = resourcePlace.subresource ?? {};
  const options = { kind, apiVersion: version, ...(path === "" ? {} : { path }) };
  ports.admitted(run, options, (admitted) => {
    const wanted = typeof admitted["path"] === "string" ? admitted["path"] : "";
    connect(ports, run, prefix, wanted === path ? tail : tailOf(wanted, tail.endsWith("/")));
  });
}

/** Whether the request asks for another protocol than a later version of this one. */
export function asksForUpgrade({ request }: Run): boolean {
  const { upgrade = "", connection = "" } = request.headers;
  return upgrade !== "" && upgrade !== "h2c" && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);
}

/** Throws 400 for a request for another protocol: answered in this one, it would fail without saying why. */
export function refuseUpgrade(run: Run): void {
  if (!asksForUpgrade(run)) return;
  const { upgrade } = run.request.headers;
  throw badRequest(`this server does not upgrade connections to other protocols: ${upgrade} was asked for`);
}

/** Of a request that is handed on with its connection: what is said of the new protocol goes along. */
export function upgradeHeaders(
  headers: Readonly<Record<string, string>>,
  { host, port }: Location,
): Record<string, string> {
  const { upgrade = "" } = headers;
  const name = host.includes(":") ? `[${host}]` : host;
  const { "x-forwarded-uri": _, ...rest } = forwardedHeaders(headers, "");
  return { ...rest, host: port === "" ? name : `${name}:${port}`, connection: "Upgrade", upgrade };
}

/** Without its slashes at either end. */
const trimmed = (path: string): string => path.replaceAll(/^\/+|\/+$/g, "");

function tailOf(path: string, isFolder: boolean): string {
  const text = trimmed(path).split("/").map(escapeSegment).join("/");
  return `${text === "" ? "" : `/${text}`}${isFolder || path.endsWith("/") ? "/" : ""}`;
}

function connect(ports: ProxyPorts, run: Run, prefix: string, tail: string): void {
  const { request, resourcePlace } = run;
  const { row, namespace, name } = resourcePlace;
  const location = (locations[row.resource] as (typeof locations)[string])(ports, namespace, name);
  const query = request.query === "" ? "" : `?${request.query}`;
  if (tail === "" && (request.method === "GET" || request.method === "HEAD")) {
    const headers = { ...baseHeaders(run), location: `${prefix}/${query}` };
    run.respond(301, headers, new TextPayload(""));
    return;
  }
  const target = (tail || "/") + query;
  if (asksForUpgrade(run)) {
    const headers = upgradeHeaders(request.headers, location);
    run.handOver({ ...location, method: request.method, target, headers }, (why) =>
      unavailable(`error trying to reach service: ${why}`),
    );
    return;
  }
  requireBodySize(run);
  const { body } = request;
  const sent: ForwardedRequest = {
    ...location,
    method: request.method,
    target,
    headers: forwardedHeaders(request.headers, prefix + tail),
    body: body === undefined || body instanceof Uint8Array ? body : compactJson(body),
  };
  const span = run.span?.child(`forward ${request.method}`, "client", { "server.address": location.host });
  const handedOn = span === undefined ? sent : { ...sent, headers: { ...sent.headers, ...span.headers } };
  let isOver = false;
  const cancel = ports.forward(handedOn, (answer) => {
    isOver = true;
    span?.end({}, "error" in answer ? answer.error : undefined);
    if (run.state === "waiting") run.unpark("executing");
    run.stage(() => handBack(run, sent, prefix, answer));
  });
  if (!isOver) run.park("waiting", cancel, true);
}

/** What names the resource, and what is behind it: empty, or a path as it will be sent. `count`: segments that name it. */
function splitPath(path: string, count: number): { readonly prefix: string; readonly tail: string } {
  const segments = parsePath(path).map(escapeSegment);
  const deeper = segments.slice(count);
  const slash = path.endsWith("/") ? "/" : "";
  const tail = deeper.length === 0 ? slash : `/${deeper.join("/")}${slash}`;
  return { prefix: `/${segments.slice(0, count).join("/")}`, tail };
}

/** Characters that may stand in a path as they are do so: whoever is behind may compare letter by letter. */
const escapeSegment = (segment: string): string =>
  encodeURIComponent(segment).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);

function handBack(
  run: Run,
  { host, port, headers: sent }: ForwardedRequest,
  prefix: string,
  answer: ForwardedAnswer,
): void {
  if ("error" in answer && answer.error === addressNotAllowed) throw badRequest(addressNotAllowed);
  if ("error" in answer) throw unavailable(`error trying to reach service: ${answer.error}`);
  const { "content-type": type, location, "content-length": length, ...rest } = returnedHeaders(answer.headers);
  const own = baseHeaders(run);
  // What every object inherits is a name like any other here.
  const values = (name: string, value: string | readonly string[]): string[] =>
    [Object.hasOwn(own, name) ? (own[name] as string | string[]) : [], value].flat();
  const theirs = Object.entries(rest).map(([name, value]) => [name, values(name, value)]);
  const headers: ResponseHeaders = { ...own, ...(Object.fromEntries(theirs) as ResponseHeaders) };
  if (location !== undefined) {
    const hosts = [sent["host"] ?? "", `${host.includes(":") ? `[${host}]` : host}${port === "" ? "" : `:${port}`}`];
    headers["location"] = returnedLocation(String(location), prefix, hosts);
  }
  // Of a HEAD it is the length of what a GET would have brought.
  if (length !== undefined && run.request.method === "HEAD") headers["content-length"] = String(length);
  const payload = new ForwardedPayload(answer, String(type ?? "application/octet-stream"));
  run.respond(answer.status, headers, payload);
}

/** Bytes of somebody else's: perhaps packed already. */
export class ForwardedPayload implements Payload {
  readonly object = undefined;
  readonly contentType: string;
  readonly isVerbatim = true;
  private readonly answer: ForwardedBody;

  constructor(answer: ForwardedBody, contentType: string) {
    this.answer = answer;
    this.contentType = contentType;
  }

  get sizeBytes(): number {
    return this.pieces().reduce((sum, { length }) => sum + length, 0);
  }

  bytes(): Uint8Array {
    return this.answer.body;
  }

  pieces(): readonly Uint8Array[] {
    return this.answer.pieces ?? [this.answer.body];
  }
}

interface ForwardedBody {
  readonly body: Uint8Array;
  readonly pieces?: readonly Uint8Array[];
}
