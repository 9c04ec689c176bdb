/**
 * What the request that showed a failure needs before it shows it again: the program's namespaces are gone by then, and
 * what the target gave out (uids, versions, tokens) will be others. Shell lines for bash or zsh, with jq.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { WireRequest } from "../../wire/ports.ts";
import { type CurlStyle, curlLine, type Exchange } from "../client/exchange.ts";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import { namespaceLabel, runLabel } from "./sandbox.ts";

/** More than these nobody pastes: a replay does the same. */
const linesMax = 16;

/**
 * `actual` is what was found wrong. Returns undefined where the request can be sent as it stands, since it names nothing that the run
 * has made, and no lines where no few of them bring it about again: only a replay does.
 */
export function againLines(
  history: readonly Exchange[],
  shown: Exchange,
  runId: string,
  usualStyle: CurlStyle,
  actual = "",
): readonly string[] | undefined {
  // Whoever sends them is the manager of the same fields.
  const style = { ...usualStyle, flags: ["-A touchstone", ...usualStyle.flags] };
  const isOfRun = shown.request.path.includes(`touchstone-${runId}-`);
  if (!isOfRun && valuesOf(shown.request).length === 0) return undefined;
  const steps = stepsOf(history, shown, actual.includes(fenceName));
  if (steps === undefined || !isOfRun) return [];
  const namespaces = missingNamespaces(steps.requests, runId);
  const lines = [
    ...namespaces.map((request) => quietly(curlLine(request, style))),
    ...steps.requests.flatMap((request, i) => linesOf(request, steps.exchanges[i] as Exchange, steps, shown, style)),
    ...(asksForWatch(shown.request.path) ? ["wait"] : []),
    ...endings([...namespaces, ...steps.requests]).map((request) => quietly(curlLine(request, style))),
  ];
  return lines.length > linesMax ? [] : lines;
}

interface Steps {
  /** In the order of sending, the one that is shown among them. */
  readonly exchanges: readonly Exchange[];
  /** The same, with places for what earlier answers will have given out. */
  readonly requests: readonly WireRequest[];
  /** What the answers are called that later requests need. */
  readonly names: ReadonlyMap<Exchange, string>;
}

/** Undefined: too many, or something was given out in a way that no line can follow. */
function stepsOf(history: readonly Exchange[], shown: Exchange, withFences: boolean): Steps | undefined {
  const isStream = asksForWatch(shown.request.path);
  const isNeeded = (each: Exchange): boolean => changes(each) && (withFences || !isOfFence(each));
  const needed = new Set(history.filter((each) => isNeeded(each) && (isStream || each.began < shown.began)));
  needed.add(shown);
  const givers = new Map<Exchange, Map<string, Exchange>>();
  const texts = new Map(history.map((each) => [each, each.text()]));
  const metadata = new Map(history.map((each) => [each, metadataOf(each)]));
  for (const exchange of needed) {
    if (needed.size > linesMax || (exchange.lost !== undefined && exchange !== shown)) return undefined;
    const given = new Map<string, Exchange>();
    for (const { key, value } of valuesOf(exchange.request)) {
      const earlier = history.filter((other) => other.ended !== undefined && other.ended < exchange.began);
      const giver = earlier.find((other) => metadata.get(other)?.[key] === value);
      if (giver !== undefined) given.set(`${key} ${value}`, giver);
      else if (earlier.some((other) => texts.get(other)?.includes(`"${value}"`))) return undefined;
      if (giver !== undefined) needed.add(giver); // and is looked at in its turn
    }
    givers.set(exchange, given);
  }
  const exchanges = [...needed].toSorted((one, other) => one.began - other.began);
  const asked = new Set([...givers.values()].flatMap((given) => [...given.values()]));
  const names = new Map(exchanges.filter((each) => asked.has(each)).map((each, i) => [each, `a${i + 1}`]));
  const requests = exchanges.map(({ request }, i) => withPlaces(request, givers.get(exchanges[i] as Exchange), names));
  return { exchanges, requests, names };
}

/** Writes that had an effect. */
const changes = ({ request: { method, path }, status = 0 }: Exchange): boolean =>
  method !== "GET" && status < 400 && !path.includes("dryRun=");

/** The suite's own, which show nothing, unless what is wrong is about one of them. */
const fenceName = "zz-fence-";
const isOfFence = ({ request: { body } }: Exchange): boolean =>
  typeof body === "string" && body.includes(`"name":"${fenceName}`);

interface Value {
  readonly key: "uid" | "resourceVersion" | "continue";
  readonly value: string;
}

const inBody = /"(uid|resourceVersion)": ?"([^"]*)"/g;
const inQuery = /(?<=[?&])(resourceVersion|continue)=([^&]*)/g;

/** What a request says that only the target can have given out. */
function valuesOf({ path, body }: WireRequest): Value[] {
  const found = [...(typeof body === "string" ? body.matchAll(inBody) : []), ...path.matchAll(inQuery)];
  return found
    .map(([, key, value = ""]) => ({ key: key as Value["key"], value: decoded(value) }))
    .filter(({ value }) => value !== "" && value !== "0");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function metadataOf(exchange: Exchange): JsonObject | undefined {
  if ((exchange.status ?? 500) >= 300) return undefined;
  try {
    const document = JSON.parse(exchange.text()) as Json;
    const metadata = isJsonObject(document) ? document["metadata"] : undefined;
    return isJsonObject(metadata) ? metadata : undefined;
  } catch {
    return undefined;
  }
}

/** A place is closed off from the quotes that it stands in, once the line is made. */
function withPlaces(
  request: WireRequest,
  given: ReadonlyMap<string, Exchange> | undefined,
  names: ReadonlyMap<Exchange, string>,
): WireRequest {
  const placeOf = (key: string, value: string): string | undefined => {
    const giver = given?.get(`${key} ${value}`);
    return giver === undefined ? undefined : `{{${names.get(giver)} ${key}}}`;
  };
  const path = request.path.replaceAll(inQuery, (whole, key: string, value: string) => {
    const place = placeOf(key, decoded(value));
    return place === undefined ? whole : `${key}=${place}`;
  });
  if (typeof request.body !== "string") return { ...request, path };
  const body = request.body.replaceAll(inBody, (whole, key: string, value: string) => {
    const place = placeOf(key, value);
    return place === undefined ? whole : `"${key}":"${place}"`;
  });
  return { ...request, path, body };
}

function linesOf(
  request: WireRequest,
  exchange: Exchange,
  { names }: Steps,
  shown: Exchange,
  style: CurlStyle,
): string[] {
  const isLong = typeof request.body === "string" && request.body.includes("\n");
  const line = curlLine(request, style).replaceAll(
    /\{\{(a\d+) (\w+)\}\}/g,
    (_, name: string, key: string) =>
      `'"$(jq -r '.metadata.${key}${key === "continue" ? "|@uri" : ""}' <<<"$${name}")"${isLong ? "$" : ""}'`,
  );
  const name = names.get(exchange);
  if (exchange === shown && asksForWatch(request.path)) return [`${line} --max-time 10 &`, "sleep 1"];
  if (name !== undefined) return [`${name}=$(${line})`, ...(exchange === shown ? [`jq . <<<"$${name}"`] : [])];
  if (exchange === shown) return [line];
  const isDefinition = request.method === "POST" && request.path.includes("/customresourcedefinitions");
  return [quietly(line), ...(isDefinition ? ["sleep 2"] : [])];
}

const quietly = (line: string): string => `${line} -o /dev/null`;

/** Those of an earlier program of the same check, which has left them to the next. */
function missingNamespaces(requests: readonly WireRequest[], runId: string): WireRequest[] {
  const isOwn = (name: string): boolean => name.startsWith(`touchstone-${runId}-`);
  const used = requests.flatMap(({ path }) => /\/namespaces\/([^/?]+)\//.exec(path)?.[1] ?? []);
  const made = new Set(requests.filter(({ path }) => path === namespaces).map(nameOf));
  return [...new Set(used)]
    .filter((name) => isOwn(name) && !made.has(name))
    .map((name) => ({
      method: "POST",
      path: namespaces,
      headers: { accept: json, "content-type": json },
      body: JSON.stringify({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, labels: { [runLabel]: runId, [namespaceLabel]: name } },
      }),
    }));
}

/** What belongs to no namespace is taken away again, the latest first. */
function endings(requests: readonly WireRequest[]): WireRequest[] {
  return requests
    .filter(({ method, path }) => method === "POST" && !path.includes(`${namespaces}/`))
    .flatMap((request) => {
      const name = nameOf(request);
      const path = `${request.path.split("?", 1)[0]}/${name}`;
      return name === undefined ? [] : [{ method: "DELETE", path, headers: { accept: json } }];
    })
    .toReversed();
}

const namespaces = "/api/v1/namespaces";
const json = "application/json";

function nameOf({ body }: WireRequest): string | undefined {
  if (typeof body !== "string") return undefined;
  return /"metadata":\s*\{[^{}]*?"name":\s*"([^"]+)"/.exec(body)?.[1];
}
