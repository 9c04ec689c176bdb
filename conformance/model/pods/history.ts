/** What is known of one pod when its life is judged. Times are milliseconds of the suite's clock, which its nodes share. */
import type { Violation } from "../../client/findings.ts";
import type { PodProgram } from "./program.ts";

export interface PodHistory {
  readonly program: PodProgram;
  /** Before it was asked for. */
  readonly madeMillis: number;
  /** Ascending, one for each look. */
  readonly sightings: readonly PodSighting[];
  /** When its end was asked for: not before the one time, and not after the other. */
  readonly deletion?: { readonly fromMillis: number; readonly byMillis: number; readonly graceSeconds: number };
  /** How late a lawful agent may be, beside what the rules themselves allow; the documents set no bound. */
  readonly patienceMillis: number;
}

export interface PodSighting {
  /** The question went out at the one time, and the answer was there at the other. */
  readonly fromMillis: number;
  readonly atMillis: number;
  readonly phase: string;
  readonly reason: string;
  readonly startMillis: number | undefined;
  readonly conditions: readonly ConditionSighting[];
  readonly containers: Readonly<Record<string, ContainerSighting>>;
}

export interface ConditionSighting {
  readonly type: string;
  readonly status: string;
  /** Undefined: whoever wrote it did not say. */
  readonly sinceMillis: number | undefined;
}

export interface ContainerSighting {
  /** Empty: none was made yet. */
  readonly id: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: StateSighting;
  readonly lastEnd: EndSighting | undefined;
}

export type StateSighting =
  | { readonly is: "waiting"; readonly reason: string }
  | { readonly is: "running"; readonly startedMillis: number }
  | ({ readonly is: "ended" } & EndSighting);

export interface EndSighting {
  readonly id: string;
  readonly startedMillis: number;
  readonly finishedMillis: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

/** One instance of a container, as all sightings together tell of it. */
export interface Run {
  readonly container: string;
  readonly id: string;
  /** How often the container had been started before. */
  readonly count: number;
  readonly startedMillis: number;
  /** Undefined: it runs; or it was not heard of any more, where another came after it. */
  readonly end: EndSighting | undefined;
  /** No other came after it. */
  readonly isLast: boolean;
}

/** What a law found. `judged` is false where the history gave it no occasion: that proves nothing. */
export interface Judgement {
  readonly judged: boolean;
  readonly violation: Violation | undefined;
}

/** Judges each until one is wrong; judged when there was any. */
export function judgeEach<Item>(items: Iterable<Item>, judge: (item: Item) => Violation | undefined): Judgement {
  let judged = false;
  for (const item of items) {
    judged = true;
    const violation = judge(item);
    if (violation !== undefined) return { judged, violation };
  }
  return { judged, violation: undefined };
}

export const isTerminal = (phase: string): boolean => phase === "Succeeded" || phase === "Failed";

/** Every instance that was told of, by container in the order of their starts. */
export function runsOf({ sightings }: PodHistory): ReadonlyMap<string, readonly Run[]> {
  const runs = new Map<string, Map<string, Told>>();
  const note = (run: Told): void => {
    if (run.startedMillis === 0) return; // it was made, and never began
    const known = runs.get(run.container) ?? new Map<string, Told>();
    const before = known.get(run.id);
    known.set(run.id, { ...run, ...before, end: before?.end ?? run.end });
    runs.set(run.container, known);
  };
  for (const { containers } of sightings) {
    for (const [container, { id, restartCount, state, lastEnd }] of Object.entries(containers)) {
      // One that waits shows its last instance beside the state. An instance without an id was lost: nobody knows how it ended.
      if (lastEnd !== undefined && lastEnd.id !== "") {
        const count = state.is === "waiting" ? restartCount : restartCount - 1;
        note({ container, id: lastEnd.id, count, startedMillis: lastEnd.startedMillis, end: lastEnd });
      }
      if (state.is === "running")
        note({ container, id, count: restartCount, startedMillis: state.startedMillis, end: undefined });
      if (state.is === "ended")
        note({ container, id, count: restartCount, startedMillis: state.startedMillis, end: state });
    }
  }
  return new Map(
    [...runs].map(([container, known]) => [
      container,
      [...known.values()]
        .sort((left, right) => left.count - right.count || left.startedMillis - right.startedMillis)
        .map((run, at) => ({ ...run, isLast: at === known.size - 1 })),
    ]),
  );
}

type Told = Omit<Run, "isLast">;

/** Pairs of what comes after another. */
export function* neighbours<Item>(items: readonly Item[]): Iterable<readonly [before: Item, after: Item]> {
  for (const [at, after] of items.entries()) {
    const before = items[at - 1];
    if (before !== undefined) yield [before, after];
  }
}

/** Of an amount of time, for a reader. */
export const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`;
