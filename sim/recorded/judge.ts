/** Compares a replayed answer with the recorded one: first its outcome, then every word of it. */
import type { Json, JsonObject } from "../contract/http-message.ts";
import type { Answer } from "./exchanges.ts";
import type { Replayed } from "./replay.ts";

export interface Judgement {
  readonly id: string;
  readonly send: string;
  /** Status and reason, or status and the sequence of event types. */
  readonly expected: string;
  readonly actual: string;
  readonly sameOutcome: boolean;
  /** The outcome, the headers that say something, and the whole masked body. */
  readonly sameContent: boolean;
  /** First place where the contents part; undefined when they do not. */
  readonly difference: string | undefined;
}

/** Headers that are compared both ways: present in one answer only is a difference. */
const comparedHeaders = ["content-type", "content-encoding", "warning", "retry-after", "vary"];

export function judge({ step, actual }: Replayed): Judgement {
  const expect = step.expect as Answer;
  const expected = outcome(expect);
  const got = actual === undefined ? "no answer" : outcome(asFarAsKnown(expect, actual));
  const difference = actual === undefined ? "no answer" : differenceOf(expect, actual);
  return {
    id: step.id,
    send: step.send,
    expected,
    actual: got,
    sameOutcome: expected === got,
    sameContent: expected === got && difference === undefined,
    difference,
  };
}

/** `409 AlreadyExists`, `200`, `200 ADDED MODIFIED`. */
function outcome({ status, body, text, events }: Answer): string {
  if (events !== undefined) return [status, ...events.map((event) => (event as { type: string }).type)].join(" ");
  const reason =
    body === undefined ? /^reason: (\w+)$/m.exec(text ?? "")?.[1] : (body as JsonObject | null)?.["reason"];
  return status >= 400 && typeof reason === "string" ? `${status} ${reason}` : String(status);
}

/** Of a body that was not kept only the status is known. */
function asFarAsKnown(expected: Answer, actual: Answer): Answer {
  const kept = expected.body !== undefined || expected.text !== undefined || expected.events !== undefined;
  return kept ? actual : { status: actual.status };
}

function differenceOf(expected: Answer, actual: Answer): string | undefined {
  for (const name of comparedHeaders) {
    const fallback = name === "content-type" ? "application/json" : "";
    const difference = firstDifference(
      expected.headers?.[name] ?? fallback,
      actual.headers?.[name] ?? "",
      `header ${name}`,
    );
    if (difference !== undefined) return difference;
  }
  if (expected.events !== undefined) return firstDifference(expected.events, actual.events ?? [], "events");
  if (expected.text !== undefined) return firstDifference(expected.text, actual.text ?? "", "text");
  return expected.body === undefined ? undefined : firstDifference(expected.body, actual.body ?? null, "body");
}

/** Path and values of the first difference in key order. */
export function firstDifference(expected: Json, actual: Json, path: string): string | undefined {
  if (isBranch(expected) && isBranch(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)].sort())) {
      const [one, other] = [child(expected, key), child(actual, key)];
      if (one === undefined) return `${path}.${key}: absent, but is ${brief(other)}`;
      if (other === undefined) return `${path}.${key}: ${brief(one)}, but is absent`;
      const difference = firstDifference(one, other, `${path}.${key}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return sameLeaf(expected, actual) ? undefined : `${path}: ${brief(expected)}, but is ${brief(actual)}`;
}

const isBranch = (value: Json): value is JsonObject | readonly Json[] => typeof value === "object" && value !== null;

const child = (value: JsonObject | readonly Json[], key: string): Json | undefined => (value as JsonObject)[key];

/** The recordings cut long strings (`…(n characters)`) and leave descriptions out (`…`). */
function sameLeaf(expected: Json, actual: Json): boolean {
  if (typeof expected !== "string" || typeof actual !== "string") return expected === actual;
  const cut = /^(.*)…(\(\d+ characters\))?$/s.exec(expected);
  return cut === null ? expected === actual : actual.startsWith(cut[1] as string);
}

function brief(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length <= 120 ? text : `${text.slice(0, 117)}…`;
}
