/** The states of one collection as its only writer knows them, and what lists and watches of it must therefore show. */
import type { Violation } from "../client/findings.ts";

/** One object, as far as looks at the collection tell of it. */
export interface Member {
  readonly key: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type Members = ReadonlyMap<string, Member>;

/** True for the members that a look asks for. */
export type Chosen = (member: Member) => boolean;

/** One change of what a look shows. `version` is undefined where no answer has told it: of a deletion. */
interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  readonly version: string | undefined;
}

/** What a look has shown: a key with the version of its object. */
export interface Shown {
  readonly type: string;
  readonly key: string;
  readonly version: string;
}

/** What is wrong, and with what: what is missing, or what is there that must not be. */
interface Mismatch extends Violation {
  readonly what: "missing" | "not chosen" | "unknown" | "twice" | "order" | "beginning";
}

/** The members that are shown are those of one of the states, no more and no less. */
export function judgeShown(
  states: readonly Members[],
  chosen: Chosen,
  shown: readonly Pick<Shown, "key" | "version">[],
): Mismatch | undefined {
  const keys = new Set<string>();
  for (const { key } of shown) {
    if (keys.has(key)) return { what: "twice", expected: `${key} once`, actual: textOf(shown) };
    keys.add(key);
  }
  let last: Mismatch | undefined;
  for (const state of states) {
    last = judgeState(state, chosen, shown);
    if (last === undefined) return undefined;
  }
  return last;
}

function judgeState(
  state: Members,
  chosen: Chosen,
  shown: readonly Pick<Shown, "key" | "version">[],
): Mismatch | undefined {
  const expected = [...state.values()].filter(chosen);
  const both = { expected: textOf(expected), actual: textOf(shown) };
  for (const { key, version } of shown) {
    const member = state.get(key);
    if (member?.version !== version) return { what: "unknown", ...both };
    if (!chosen(member)) return { what: "not chosen", ...both };
  }
  return expected.length === shown.length ? undefined : { what: "missing", ...both };
}

/** What a look at each state in turn shows to change, from one of them on. */
export function changesFrom(states: readonly Members[], from: number, chosen: Chosen): readonly Change[] {
  const changes: Change[] = [];
  for (let at = from + 1; at < states.length; at++) {
    const [before, after] = [states[at - 1] as Members, states[at] as Members];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [old, now] = [before.get(key), after.get(key)];
      if (old === now) continue;
      const [was, is] = [old !== undefined && chosen(old), now !== undefined && chosen(now)];
      if (is && now !== undefined) changes.push({ type: was ? "MODIFIED" : "ADDED", key, version: now.version });
      else if (was) changes.push({ type: "DELETED", key, version: now === undefined ? undefined : now.version });
    }
  }
  return changes;
}

interface Watched {
  /** Places of the states that it may have begun with. */
  readonly from: readonly number[];
  /** It begins with what there is; otherwise with what changes. */
  readonly isInitial: boolean;
  readonly chosen: Chosen;
}

/**
 * The events of a watch, in order. They are those of one of the beginnings, or the first of them: that some are still to
 * come is `isWhole` false.
 */
export function judgeWatched(
  states: readonly Members[],
  { from, isInitial, chosen }: Watched,
  events: readonly Shown[],
): { readonly mismatch: Mismatch | undefined; readonly isWhole: boolean } {
  let last: { mismatch: Mismatch | undefined; isWhole: boolean } = { mismatch: undefined, isWhole: false };
  let isCut = false;
  for (const place of from) {
    const initial = isInitial ? [...(states[place] as Members).values()].filter(chosen) : [];
    last = judgeEvents(initial, changesFrom(states, place, chosen), events, states, chosen);
    if (last.mismatch === undefined && last.isWhole) return last;
    isCut ||= last.mismatch === undefined;
  }
  return isCut ? { mismatch: undefined, isWhole: false } : last;
}

function judgeEvents(
  initial: readonly Member[],
  changes: readonly Change[],
  events: readonly Shown[],
  states: readonly Members[],
  chosen: Chosen,
): { mismatch: Mismatch | undefined; isWhole: boolean } {
  const expected = `${textOf(initial.map((member) => ({ ...member, type: "ADDED" })))}; ${textOf(changes)}`;
  const wrong = (what: Mismatch["what"]): { mismatch: Mismatch; isWhole: boolean } => ({
    mismatch: { what, expected, actual: textOf(events) },
    isWhole: false,
  });
  // What there is may be told in any order.
  const owed = new Map(initial.map((member) => [member.key, member.version]));
  const begun = events.slice(0, initial.length);
  for (const { type, key, version } of begun) {
    if (type !== "ADDED" || owed.get(key) !== version) return wrong("beginning");
    owed.delete(key);
  }
  if (owed.size > 0) return { mismatch: undefined, isWhole: false };
  for (const [at, event] of events.slice(initial.length).entries()) {
    const change = changes[at];
    if (change === undefined) return wrong(isOfAny(states, event, chosen) ? "twice" : "not chosen");
    const isSame = change.type === event.type && change.key === event.key;
    if (isSame && (change.version === undefined || change.version === event.version)) continue;
    if (!isOfAny(states, event, chosen)) return wrong("not chosen");
    const isLate = changes.slice(at).some((later) => later.key === event.key && later.type === event.type);
    return wrong(isSame ? "unknown" : isLate ? "missing" : "order");
  }
  return { mismatch: undefined, isWhole: events.length === initial.length + changes.length };
}

/** Whether some state has this, chosen; of a deletion, whether the key was ever chosen. */
function isOfAny(states: readonly Members[], { type, key, version }: Shown, chosen: Chosen): boolean {
  return states.some((state) => {
    const member = state.get(key);
    return member !== undefined && chosen(member) && (type === "DELETED" || member.version === version);
  });
}

const textOf = (
  list: readonly { readonly type?: string; readonly key: string; readonly version?: string | undefined }[],
) =>
  list.map(({ type, key, version }) => `${type === undefined ? "" : `${type} `}${key}@${version ?? "?"}`).join(", ") ||
  "nothing";
