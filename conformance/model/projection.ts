/**
 * Every stream of one collection tells the same story: a filtered one what its filter shows of it, a later one its
 * end. The story is the log of one unfiltered stream that was open before the first write.
 */
import type { ApiObject } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { describeEvent, describeEvents, type LogEvent } from "./history.ts";
import { fold, type State } from "./replay.ts";

export type Filter = (object: ApiObject) => boolean;
export const everything: Filter = () => true;

/** What a filter shows of the events after `before`: objects appear and vanish as they start and stop to match. */
export function project(before: State, log: readonly LogEvent[], matches: Filter): LogEvent[] {
  const state = new Map(before);
  const shown: LogEvent[] = [];
  for (const event of log) {
    const previous = state.get(event.key);
    const matched = previous !== undefined && matches(previous);
    const matchesNow = event.type !== "DELETED" && matches(event.object);
    if (event.type === "DELETED") state.delete(event.key);
    else state.set(event.key, event.object);
    if (matched && matchesNow) shown.push({ ...event, type: "MODIFIED" });
    else if (matchesNow) shown.push({ ...event, type: "ADDED" });
    else if (matched) shown.push({ ...event, type: "DELETED" });
  }
  return shown;
}

/** Where a stream began: right after a version that the log (or the base) shows, or at a state that a list showed. */
export type Start = { readonly after: string } | { readonly state: State };

/**
 * The stream is what the filter shows of the log from its start on. A start given as a state may fit several places
 * of the log; any of them will do. `shownInitially` tells that the stream had to begin with ADDED for the state itself.
 */
export function judgeStreamAgainstLog(
  base: State,
  log: readonly LogEvent[],
  start: Start,
  matches: Filter,
  stream: readonly LogEvent[],
): Violation | undefined {
  const places = placesOf(base, log, start);
  let closest: Violation | undefined;
  for (const place of places) {
    const expected = project(fold(base, log.slice(0, place)), log.slice(place), matches);
    const violation = judgeSameEvents(expected, stream);
    if (violation === undefined) return undefined;
    closest ??= violation;
  }
  return closest ?? { expected: `a start that the log knows: ${describeStart(start)}`, actual: describeEvents(log) };
}

/** How many events of the log come before the start. Several answers: the state was the same at several places. */
function placesOf(base: State, log: readonly LogEvent[], start: Start): number[] {
  if ("after" in start) {
    const last = log.findLastIndex((event) => event.version === start.after);
    if (last >= 0) return [last + 1];
    return [...base.values()].some((object) => object.metadata.resourceVersion === start.after) ? [0] : [];
  }
  const places: number[] = [];
  const state = new Map(base);
  for (let place = 0; place <= log.length; place += 1) {
    const event = place === 0 ? undefined : log[place - 1];
    if (event?.type === "DELETED") state.delete(event.key);
    else if (event !== undefined) state.set(event.key, event.object);
    if (sameVersions(state, start.state)) places.push(place);
  }
  return places;
}

function sameVersions(a: State, b: State): boolean {
  if (a.size !== b.size) return false;
  for (const [key, object] of a) {
    if (b.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion) return false;
  }
  return true;
}

/** Same events in the same order: type, key, uid and version. */
export function judgeSameEvents(expected: readonly LogEvent[], actual: readonly LogEvent[]): Violation | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index += 1) {
    const wanted = expected[index];
    const got = actual[index];
    if (wanted !== undefined && got !== undefined && sameEvent(wanted, got)) continue;
    return {
      expected: `event ${index + 1}: ${wanted === undefined ? "none" : describeEvent(wanted)}`,
      actual: `${got === undefined ? "none" : describeEvent(got)} (stream: ${describeEvents(actual, index)})`,
    };
  }
  return undefined;
}

function sameEvent(a: LogEvent, b: LogEvent): boolean {
  return a.type === b.type && a.key === b.key && a.uid === b.uid && a.version === b.version;
}

function describeStart(start: Start): string {
  if ("after" in start) return `after version ${start.after}`;
  const versions = [...start.state].map(([key, object]) => `${key}@${object.metadata.resourceVersion}`);
  return `at the state ${versions.join(", ") || "without objects"}`;
}
