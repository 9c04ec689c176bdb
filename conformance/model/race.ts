/**
 * Requests about one object that were sent at once: whatever their order was, there must be one that explains all of
 * their answers and what is there afterwards. Few at a time, so that every order can be tried.
 */
import type { Violation } from "../client/findings.ts";

export type RaceVerb = "create" | "apply" | "merge" | "put" | "hold" | "delete";

/** One request and its answer. Each that writes leaves a mark of its own, `hold` a finalizer. */
export interface Raced {
  readonly verb: RaceVerb;
  readonly mark: string;
  readonly status: number;
}

export interface RaceState {
  readonly exists: boolean;
  readonly marks: readonly string[];
  readonly held: boolean;
  readonly deleting: boolean;
}

/** What explains less than everything: it tells which promise is broken. */
type Blind = "marks" | "holds" | undefined;

/** The place of the first broken promise, as a requirement, and the violation. */
export interface RaceVerdict {
  readonly requirement: string;
  readonly violation: Violation;
}

export function judgeRace(before: RaceState, raced: readonly Raced[], after: RaceState): RaceVerdict | undefined {
  if (isExplained(before, raced, after, undefined)) return undefined;
  const requirement = isExplained(before, raced, after, "holds")
    ? "deletion.finalizers-hold"
    : isExplained(before, raced, after, "marks")
      ? "writes.patch-no-lost-update"
      : "writes.linearizable";
  const answers = raced.map(({ verb, mark, status }) => `${verb} ${mark} ${status}`).join(", ");
  const expected = `an order of ${answers} that leads from ${shown(before)} to what is there`;
  return { requirement, violation: { expected, actual: shown(after) } };
}

function isExplained(state: Moment, left: readonly Raced[], after: RaceState, blind: Blind): boolean {
  if (left.length === 0) return isSame(state, after, blind);
  return left.some((next, at) => {
    const then = afterOne(state, next, blind);
    return then !== undefined && isExplained(then, left.toSpliced(at, 1), after, blind);
  });
}

interface Moment extends RaceState {
  /** Since the version was read that a `put` names. */
  readonly changed?: boolean;
}

const nothing: Moment = { exists: false, marks: [], held: false, deleting: false, changed: true };

/** The state after a request that was answered so; undefined: it cannot be answered so in this state. */
function afterOne(state: Moment, { verb, mark, status }: Raced, blind: Blind): Moment | undefined {
  const isDone = status < 300;
  const marked = { ...state, marks: [...state.marks, mark], changed: true };
  switch (verb) {
    case "create":
      if (isDone) return state.exists ? undefined : { ...nothing, exists: true, marks: [mark] };
      return state.exists && status === 409 ? state : undefined;
    case "apply":
      if (isDone) return state.exists ? marked : { ...nothing, exists: true, marks: [mark] };
      return status === 409 ? state : undefined; // it may give up, when others are faster
    case "merge":
      if (isDone) return state.exists ? marked : undefined;
      return !state.exists && status === 404 ? state : undefined;
    case "put":
      if (isDone) return state.exists && state.changed !== true ? marked : undefined;
      if (status === 404) return state.exists ? undefined : state;
      return status === 409 && state.changed === true ? state : undefined;
    case "hold":
      if (isDone)
        return state.exists && (!state.deleting || state.held || blind === "holds")
          ? { ...marked, held: true }
          : undefined;
      if (status === 404) return state.exists ? undefined : state;
      return state.exists && state.deleting && !state.held ? state : undefined;
    case "delete":
      if (!isDone) return !state.exists && status === 404 ? state : undefined;
      if (!state.exists) return undefined;
      return state.held && blind !== "holds" ? { ...state, deleting: true, changed: true } : nothing;
  }
}

function isSame(state: RaceState, after: RaceState, blind: Blind): boolean {
  if (blind === "holds" && !after.exists) return true;
  if (state.exists !== after.exists) return false;
  if (!state.exists) return true;
  const sameMarks = blind === "marks" || state.marks.toSorted().join() === after.marks.toSorted().join();
  return sameMarks && (blind === "holds" || (state.held === after.held && state.deleting === after.deleting));
}

function shown({ exists, marks, held, deleting }: RaceState): string {
  if (!exists) return "nothing";
  return `an object marked ${marks.toSorted().join(" ") || "by nobody"}${held ? ", held" : ""}${deleting ? ", being deleted" : ""}`;
}
