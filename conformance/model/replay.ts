/** A list plus the events after it is a later list. */
import { type ApiObject, keyOf, versionOf } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { type LogEvent, sameContent } from "./history.ts";

export type State = ReadonlyMap<string, ApiObject>;

export function stateOf(items: readonly ApiObject[]): State {
  return new Map(items.map((item) => [keyOf(item), item]));
}

/** The state after the events. */
export function fold(before: State, log: readonly LogEvent[]): State {
  const state = new Map(before);
  for (const event of log) {
    if (event.type === "DELETED") state.delete(event.key);
    else state.set(event.key, event.object);
  }
  return state;
}

/** Two states are one: same keys, uids, versions and contents. */
export function judgeSameState(
  expected: State,
  actual: State,
  named: { expected: string; actual: string },
): Violation | undefined {
  for (const [key, object] of expected) {
    const other = actual.get(key);
    if (other === undefined) {
      return {
        expected: `${key} at ${versionOf(object)}, as in ${named.expected}`,
        actual: `${key} is missing in ${named.actual}`,
      };
    }
    if (versionOf(other) !== versionOf(object) || other.metadata.uid !== object.metadata.uid) {
      return {
        expected: `${key} at ${versionOf(object)} (uid ${object.metadata.uid}), as in ${named.expected}`,
        actual: `${versionOf(other)} (uid ${other.metadata.uid}) in ${named.actual}`,
      };
    }
    if (!sameContent(object, other)) {
      return {
        expected: `${key} at ${versionOf(object)} is ${JSON.stringify(object).slice(0, 600)}`,
        actual: `${JSON.stringify(other).slice(0, 600)} in ${named.actual}`,
      };
    }
  }
  for (const [key, object] of actual) {
    if (!expected.has(key)) {
      return {
        expected: `no ${key}, as in ${named.expected}`,
        actual: `${key} at ${versionOf(object)} in ${named.actual}`,
      };
    }
  }
  return undefined;
}

export function judgeReplay(
  before: readonly ApiObject[],
  log: readonly LogEvent[],
  after: readonly ApiObject[],
): Violation | undefined {
  return judgeSameState(fold(stateOf(before), log), stateOf(after), {
    expected: `the first list and the ${log.length} events after it`,
    actual: "the later list",
  });
}
