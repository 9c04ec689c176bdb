/**
 * What a hunt does to a program, as data: one act is one thing that goes wrong at one of its requests, or at one of the
 * events that it is told of. Which acts there are follows from what the program does when nothing goes wrong.
 * The three ways to disturb what a controller believes (a stale state, a state that it never sees, a state that it left
 * half done) are those of the paper "Automatic Reliability Testing for Cluster Management Controllers" (OSDI 2022).
 */
import type { Micros, Prng } from "../../kernel/types.ts";

export const faultPatterns = [
  "crash",
  "lost-answer",
  "stale",
  "unobserved",
  "late-events",
  "expired",
  "conflict",
  "throttle",
  "opaque-versions",
  "unknown-protobuf",
  "exact-ignored",
] as const;

export type FaultPattern = (typeof faultPatterns)[number];

/** Requests and events are counted from 1, in the order in which the program makes and hears them, over all of its lives. */
export type Act =
  /** It dies before the request leaves, or after it was done and before the answer is heard; the next life begins later. */
  | { readonly act: "crash"; readonly request: number; readonly side: "before" | "after"; readonly downMicros: Micros }
  /** The request is done, and the connection breaks before the answer is heard. */
  | { readonly act: "lost-answer"; readonly request: number }
  /** It dies after the request, and begins anew at a server whose caches stand still since `heldFrom`, for a while. */
  | { readonly act: "stale"; readonly request: number; readonly heldFrom: number; readonly forMicros: Micros }
  /** From this event on its watch is silent; then the connection breaks, and the history in between is gone. */
  | { readonly act: "unobserved"; readonly event: number; readonly forMicros: Micros }
  /** This watch is late: other answers overtake its events. */
  | { readonly act: "late-events"; readonly event: number; readonly forMicros: Micros }
  /** Instead of this event there is an ERROR event with 410, and the history is gone. */
  | { readonly act: "expired"; readonly event: number }
  /** Somebody else was quicker: 409, and nothing is done. */
  | { readonly act: "conflict"; readonly request: number }
  /** 429, and to be asked again in a second. */
  | { readonly act: "throttle"; readonly request: number }
  /** For the whole run versions are long numbers whose order means nothing. */
  | { readonly act: "opaque-versions" }
  /** The answer's protobuf begins with a prefix that nobody knows. */
  | { readonly act: "unknown-protobuf"; readonly request: number }
  /** The server does not know `resourceVersionMatch`, as old ones do not. */
  | { readonly act: "exact-ignored"; readonly request: number };

/** One request of the program, as far as acts care. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly isWatch: boolean;
  readonly isExact: boolean;
  readonly isProtobuf: boolean;
}

/** What a program did when nothing went wrong. */
export interface Seen {
  readonly requests: readonly SeenRequest[];
  /** Changes that its watches told it. */
  readonly eventCount: number;
}

const second: Micros = 1_000_000;
export const isWrite = ({ method }: SeenRequest): boolean => method !== "GET" && method !== "HEAD";

/** Every single act, those of all patterns in turn, so that the first few are of every kind. */
export function singleActs({ requests, eventCount }: Seen, patterns: readonly FaultPattern[]): readonly Act[] {
  const where = (holds: (request: SeenRequest) => boolean): readonly number[] =>
    requests.flatMap((request, index) => (holds(request) ? [index + 1] : []));
  const [all, writes, events] = [where(() => true), where(isWrite), range(eventCount)];
  const rows: Readonly<Record<FaultPattern, () => readonly Act[]>> = {
    crash: () =>
      writes
        .map((request): Act => ({ act: "crash", request, side: "after", downMicros: second }))
        .concat(all.map((request) => ({ act: "crash", request, side: "before", downMicros: second }))),
    "lost-answer": () => writes.map((request) => ({ act: "lost-answer", request })),
    stale: () =>
      writes.flatMap((request) =>
        writes
          .filter((earlier) => earlier <= request)
          .slice(-heldFromMax)
          .map((heldFrom): Act => ({ act: "stale", request, heldFrom, forMicros: 30 * second })),
      ),
    unobserved: () => events.map((event) => ({ act: "unobserved", event, forMicros: 20 * second })),
    "late-events": () => events.map((event) => ({ act: "late-events", event, forMicros: 5 * second })),
    expired: () => events.map((event) => ({ act: "expired", event })),
    conflict: () => where(({ method }) => method === "PUT" || method === "PATCH").map(at("conflict")),
    throttle: () => all.map(at("throttle")),
    "opaque-versions": () => [{ act: "opaque-versions" }],
    "unknown-protobuf": () => where(({ isProtobuf, isWatch }) => isProtobuf && !isWatch).map(at("unknown-protobuf")),
    "exact-ignored": () => where(({ isExact }) => isExact).map(at("exact-ignored")),
  };
  return inTurn(faultPatterns.filter((name) => patterns.includes(name)).map((name) => rows[name]()));
}

const heldFromMax = 4;

const at =
  <Name extends "conflict" | "throttle" | "unknown-protobuf" | "exact-ignored">(act: Name) =>
  (request: number): Act => ({ act, request });

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

function inTurn<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const result: T[] = [];
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  for (let index = 0; index < longest; index++)
    for (const list of lists) if (index < list.length) result.push(list[index] as T);
  return result;
}

/** Several acts for one run, and other lengths of time. Empty when there is nothing to draw from. */
export function drawActs(single: readonly Act[], prng: Prng): readonly Act[] {
  if (single.length === 0) return [];
  const drawn = range(prng.intInclusive(2, 4)).map(() => {
    const act = single[prng.intInclusive(0, single.length - 1)] as Act;
    const micros = prng.intInclusive(1, 60) * second;
    if (act.act === "crash") return { ...act, downMicros: prng.chance(1, 3) ? 0 : micros };
    return "forMicros" in act ? { ...act, forMicros: micros } : act;
  });
  // One life at a time on caches that stand still.
  const firstStale = drawn.find(({ act }) => act === "stale");
  return drawn.filter((act) => act.act !== "stale" || act === firstStale);
}

/** The act in words; `requests` are those of the run without faults. */
export function actText(act: Act, requests: readonly SeenRequest[]): string {
  const name = (number: number): string => {
    const seen = requests[number - 1];
    return `request ${number}${seen === undefined ? "" : ` (${seen.isWatch ? "WATCH" : seen.method} ${seen.path})`}`;
  };
  const time = (micros: Micros): string => `${micros / second} s`;
  switch (act.act) {
    case "crash":
      return `it dies ${act.side === "before" ? `before ${name(act.request)} leaves` : `after ${name(act.request)} is done, and before it hears the answer`}; it begins anew ${time(act.downMicros)} later`;
    case "lost-answer":
      return `${name(act.request)} is done, and the connection breaks before it hears the answer`;
    case "stale":
      return `it dies after ${name(act.request)}, and begins anew at a server whose caches stand still since ${name(act.heldFrom)}, for ${time(act.forMicros)}`;
    case "unobserved":
      return `event ${act.event} of its watches and what follows in ${time(act.forMicros)} is never told; then it must list anew`;
    case "late-events":
      return `event ${act.event} and what follows on that watch comes ${time(act.forMicros)} late`;
    case "expired":
      return `instead of event ${act.event} it is told 410`;
    case "conflict":
      return `${name(act.request)} is answered 409`;
    case "throttle":
      return `${name(act.request)} is answered 429`;
    case "opaque-versions":
      return "resourceVersions are long numbers whose order means nothing";
    case "unknown-protobuf":
      return `the answer to ${name(act.request)} begins with an unknown protobuf prefix`;
    case "exact-ignored":
      return `the server ignores resourceVersionMatch in ${name(act.request)}`;
  }
}
