/** How a recorded history and one that was played in real time are held against each other. Pure. */
import type { Recorded } from "../sim/agent/recorded/histories.ts";
import { pairs, type Seen } from "../sim/agent/recorded/observed.fixture.ts";

const drawn = "a look more or fewer near its end, by the draw of the waits after a failure";
const minute = "its sandbox goes with the minute, which comes just before the recording's end or just after";
const between = "what begins and ends within a second is seen or not, by where the looks of that second fall";

/** Why recordings can differ that are played in real time. One that is not listed has to be looked into. */
export const reasons: Readonly<Record<string, string>> = {
  "command-not-found": `${drawn}; ${between}`,
  "configmap-missing": drawn,
  "deleted-by-force": minute,
  "emptydir-over-limit": minute,
  "fails-never": between,
  "fails-onfailure": `${drawn}; ${between}`,
  "ignores-term": minute,
  "image-cannot-be-pulled": drawn,
  "image-name-invalid": drawn,
  "image-never-there": drawn,
  "init-two-then-main": minute,
  "liveness-fails": `${drawn}; a probe that meets the new container's start, by the phase of its period`,
  "out-of-memory-always": `${drawn}; ${between}`,
  "prestop-outlives-grace": minute,
  "readiness-toggles": minute,
  "runs-and-is-deleted": minute,
  "static-pod":
    "a mirror is told of its pod with the next status of any other pod; one look at the pod more where the watch tells of a new mirror after the look that made it",
  "succeeds-always": `${drawn}; ${between}`,
  "succeeds-never": between,
  "two-containers-one-fails-always": drawn,
  "two-containers-one-fails-never": between,
  "volume-configmap-missing": drawn,
};

const kinds = ["statuses", "events", "calls"] as const;

type Played = Readonly<Record<(typeof kinds)[number], readonly Seen[]>>;

export interface Score {
  /** Rows that both have in the same order, and rows of the longer of the two. */
  readonly same: number;
  readonly all: number;
  /** Of the rows that both have: those that no drawn wait comes before, and of these the ones that came as soon as recorded. */
  readonly timed: number;
  readonly inTime: number;
  /** Those that came sooner or later, with both times. */
  readonly late: readonly string[];
  /** The others of them. */
  readonly drawn: number;
  /** `-` rows of the recording alone, `+` rows that were only played; with their seconds. */
  readonly differs: readonly string[];
}

/** What comes later than the recording's end has no counterpart. */
const graceSeconds = 0.5;

export function scoreOf(recorded: Recorded, played: Played): Score {
  const until = endOf(recorded) + graceSeconds;
  const drawnFrom = drawnFromSecond(recorded);
  const differs: string[] = [];
  const found: (readonly [Seen, Seen])[] = [];
  let all = 0;
  for (const kind of kinds) {
    const here = played[kind].filter(({ at }) => at <= until);
    const paired = pairs(recorded[kind], here);
    for (const pair of paired) found.push(pair);
    all += Math.max(recorded[kind].length, here.length);
    const both = new Set(paired.flat());
    for (const row of recorded[kind]) if (!both.has(row)) differs.push(`- ${row.at} ${row.text}`);
    for (const row of here) if (!both.has(row)) differs.push(`+ ${row.at} ${row.text}`);
  }
  const timed = found.filter(([there]) => there.at < drawnFrom);
  const late = timed
    .filter(([there, here]) => Math.abs(there.at - here.at) > Math.max(1, there.at / 10))
    .map(([there, here]) => `${there.at}, here ${here.at}: ${there.text}`);
  const drawn = found.length - timed.length;
  return { same: found.length, all, timed: timed.length, inTime: timed.length - late.length, drawn, differs, late };
}

export function endOf(recorded: Recorded): number {
  return kinds.flatMap((kind) => recorded[kind]).reduce((last, { at }) => Math.max(last, at), 0);
}

/** What an agent waits after something has failed, and a static pod until another of its name is gone: from so many seconds on. */
const waitSecondsMin = 10;

/** From when on a drawn wait may come before a row; Infinity: none is ever drawn. */
export function drawnFromSecond({ name, events, steps }: Recorded): number {
  const failure = events.find(({ text }) => /^\w+ (BackOff|Failed|FailedMount) /.test(text))?.at;
  const change = name === "static-pod" ? steps[1] : undefined;
  return Math.min(failure ?? Infinity, change ?? Infinity) + waitSecondsMin;
}

/** When within a minute remains were taken away, which an agent does once a minute; undefined: they were not. */
export function minuteOf({ calls }: Recorded): number | undefined {
  const removed = calls.find(({ text }) => text === "RemovePodSandbox");
  return removed === undefined ? undefined : removed.at % 60;
}

/** The one with the greatest share of rows that are the same, and of those alike the one with fewer that are late. */
export function bestOf(scores: readonly Score[]): Score {
  return scores.reduce((one, other) => {
    const ahead = other.same * one.all - one.same * other.all;
    return ahead > 0 || (ahead === 0 && other.late.length < one.late.length) ? other : one;
  });
}
