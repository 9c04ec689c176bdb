/** What a streaming list shows, set beside the whole history of its collection. */
import { largest } from "../../wire/lists.ts";
import { isJsonObject, type WatchEvent } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { acknowledged, describeEvents, type LogEvent, type Write } from "./history.ts";
import { fold, judgeSameState, type State } from "./replay.ts";

/** How many changes a state must show at least: all up to the last one that was acknowledged before `began`. */
export function placeKnownAt(history: readonly LogEvent[], writes: readonly Write[], began: number): number {
  const known = writes.filter((write) => acknowledged(write) && write.ended !== undefined && write.ended < began);
  return largest(
    known.map((write) => placeOf(history, write)),
    0,
  );
}

/** How many changes there are up to a version's, that one included; none when no change has it. */
export function placeOfVersion(history: readonly LogEvent[], version: string): number {
  return history.findLastIndex((event) => event.version === version) + 1;
}

function placeOf(history: readonly LogEvent[], { verb, uid, object }: Write): number {
  if (verb === "delete") return history.findLastIndex((event) => event.type === "DELETED" && event.uid === uid) + 1;
  return placeOfVersion(history, object?.metadata.resourceVersion ?? "");
}

/** What was told up to the mark makes the state of one moment, after at least `placeMin` changes of the history. */
export function judgeMoment(
  base: State,
  history: readonly LogEvent[],
  placeMin: number,
  told: readonly LogEvent[],
): Violation | undefined {
  const shown = fold(new Map(), told);
  const named = { expected: "a moment of the history", actual: "what was told" };
  for (let place = placeMin; place <= history.length; place += 1) {
    if (judgeSameState(fold(base, history.slice(0, place)), shown, named) === undefined) return undefined;
  }
  return {
    expected: `the state after at least ${placeMin} of the changes ${describeEvents(history, Math.max(0, placeMin - 1))}`,
    actual: `${describeEvents(told)}, then the mark`,
  };
}

/**
 * One bookmark is marked as the end of the initial events, and none is sent before it; where bookmarks are not allowed,
 * there are none.
 */
export function judgeEndMark(
  events: readonly WatchEvent[],
  annotation: string,
  allowed: boolean,
): Violation | undefined {
  const bookmarks = events.filter(({ type }) => type === "BOOKMARK");
  const marked = bookmarks.filter((event) => isEndMark(event, annotation));
  const actual = `${bookmarks.length} bookmarks, ${marked.length} of them marked, among ${events.map(({ type }) => type).join(", ") || "no event"}`;
  if (!allowed) return bookmarks.length === 0 ? undefined : { expected: "no bookmark", actual };
  const isLawful = marked.length === 1 && marked[0] === bookmarks[0];
  return isLawful ? undefined : { expected: `one bookmark marked ${annotation}, before all others`, actual };
}

export function isEndMark({ type, object }: WatchEvent, annotation: string): boolean {
  const metadata = object["metadata"];
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return type === "BOOKMARK" && isJsonObject(annotations) && annotations[annotation] === "true";
}
