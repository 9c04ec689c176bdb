/**
 * The exchanges of a failure that has a watch in it, as one sequence of moments: what was asked beside what the
 * watches told meanwhile. Drawn by `timeline.ts`. Pure.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { ExchangeRecord } from "../schema/suite-report.ts";

/** A watch of the story, from its request to its end. */
export interface WatchLane {
  readonly exchange: ExchangeRecord;
  /** `watch of configmaps from 49`; with a number where there are several. */
  readonly title: string;
  /** `team=red`: what it asked for alone; empty: everything. */
  readonly selector: string;
}

/** Something that happened, at one place of the one order of sendings and answers. */
export interface Moment {
  readonly place: number;
  readonly atMillis: number | undefined;
  /** Of the watches; undefined for other requests. */
  readonly lane: number | undefined;
  readonly kind: "request" | "opened" | "event" | "ended";
  /** Of an event: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, or what the server made of it. */
  readonly type?: string;
  /** One line. */
  readonly text: string;
  /** The same event was told before on the same stream. */
  readonly again?: boolean;
  /** The command line of a request, or of the one that opened a watch. */
  readonly curl?: string;
}

export interface WatchStory {
  readonly lanes: readonly WatchLane[];
  readonly moments: readonly Moment[];
  /** Older moments that are left out. */
  readonly dropped: number;
}

const momentsMax = 240;

/** Undefined when the history has no watch that was answered. */
export function watchStory(history: readonly ExchangeRecord[]): WatchStory | undefined {
  const watches = history.filter(isWatch);
  const lanes = watches.map((exchange, lane) => {
    const number = watches.length === 1 ? "" : ` ${lane + 1}`;
    return { exchange, title: `watch${number} ${laneTitle(exchange)}`, selector: selectorOf(exchange) };
  });
  if (lanes.length === 0) return undefined;
  const requests = history.filter((exchange) => !isWatch(exchange)).map(requestMoment);
  const all = [...requests, ...lanes.flatMap(watchMoments)].sort((one, other) => one.place - other.place);
  return { lanes, moments: all.slice(-momentsMax), dropped: Math.max(0, all.length - momentsMax) };
}

export function isWatch({ path, status }: ExchangeRecord): boolean {
  return status === 200 && asksForWatch(path);
}

function laneTitle({ path }: ExchangeRecord): string {
  const [place = "", query = ""] = path.split("?", 2);
  const parameters = new URLSearchParams(query);
  const version = parameters.get("resourceVersion");
  return `of ${place.split("/").at(-1)}${version === null ? "" : ` from ${version}`}`;
}

function selectorOf({ path }: ExchangeRecord): string {
  const parameters = new URLSearchParams(path.split("?", 2)[1]);
  const selectors = [parameters.get("labelSelector"), parameters.get("fieldSelector")];
  return selectors.filter((selector) => selector !== null && selector !== "").join(", ");
}

function requestMoment(exchange: ExchangeRecord): Moment {
  const { method, path, status, lost, responseBody, curl } = exchange;
  const [place = "", query] = path.split("?", 2);
  const { name, version } = identityOf(parsed(responseBody));
  const short = place.replace(/^\/(api\/v1|apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+(?=\/))?\//, "");
  const said = lost === undefined ? String(status ?? "no answer yet") : "answer lost";
  const target = method === "POST" && name !== undefined ? `${short}/${name}` : short;
  return {
    place: exchange.began,
    atMillis: exchange.sentAtMillis,
    lane: undefined,
    kind: "request",
    curl,
    text: `${method} ${target}${query === undefined ? "" : `?${query}`} → ${said}${version === undefined ? "" : ` at ${version}`}`,
  };
}

function watchMoments({ exchange, title }: WatchLane, lane: number): Moment[] {
  const { began, ended, sentAtMillis, endedAtMillis, lost } = exchange;
  const documents = documentsOf(exchange.responseBody).flatMap((text) => parsed(text) ?? []);
  const seen = new Set<string>();
  const events = documents.map((document, i): Moment => {
    const { type, text } = eventText(document);
    const again = seen.has(text) && type !== "BOOKMARK";
    seen.add(text);
    const arrival = exchange.arrivals?.[i];
    // Of a report without arrivals only the order is known.
    const place = arrival?.place ?? began + (((ended ?? began + 1) - began) * (i + 1)) / (documents.length + 1);
    return { place, atMillis: arrival?.atMillis, lane, kind: "event", type, text, again };
  });
  const { curl } = exchange;
  const opened: Moment = { place: began, atMillis: sentAtMillis, lane, kind: "opened", text: title, curl };
  const end: Moment[] =
    ended === undefined
      ? []
      : [{ place: ended, atMillis: endedAtMillis, lane, kind: "ended", text: lost ?? "stream ends" }];
  return [opened, ...events, ...end];
}

/** One after another, whether lines part them or nothing does. What was cut off at the end is left out. */
function documentsOf(body: string): string[] {
  const documents: string[] = [];
  let depth = 0;
  let began = 0;
  // A string is skipped as one: its braces part nothing.
  for (const { 0: token, index } of body.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{" && depth++ === 0) began = index;
    if (token === "}" && --depth === 0) documents.push(body.slice(began, index + 1));
  }
  return documents;
}

function eventText(document: unknown): { type: string; text: string } {
  const { type, object } = document as { type?: unknown; object?: unknown };
  const { name, version } = identityOf(object);
  const label = typeof type === "string" ? type : "no event";
  const status = label === "ERROR" ? ` ${String((object as { code?: unknown } | null)?.code ?? "")}` : "";
  return {
    type: label,
    text: `${label}${status}${name === undefined ? "" : ` ${name}`}${version === undefined ? "" : ` at ${version}`}`,
  };
}

function identityOf(object: unknown): { name: string | undefined; version: string | undefined } {
  const metadata = (object as { metadata?: { name?: unknown; resourceVersion?: unknown } } | null | undefined)
    ?.metadata;
  const textOf = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;
  return { name: textOf(metadata?.name), version: textOf(metadata?.resourceVersion) };
}

/** Undefined when it is no JSON object, as when evidence was cut. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
