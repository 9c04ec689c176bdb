/**
 * A check is one property with the programs that try to break it. The type of its programs is known only in here:
 * to the runner, every check explores with a seed and answers what it found.
 */
import fc from "fast-check";
import { CheckFailure, Unseen, Unserved } from "../client/findings.ts";
import type { Attempt } from "./attempt.ts";
import type { FeatureName } from "./features.ts";
import { drawnInAll, drawnToChoose, seldomSeen } from "./seldom-seen.ts";

export interface CheckDefinition<Input> {
  /** A slug, unique; also the name of the file. */
  readonly id: string;
  /** The folder. */
  readonly area: string;
  /** One sentence. */
  readonly property: string;
  /** Requirements that it judges, each a row. The first is the one that the check is about. */
  readonly requirements: readonly [string, ...string[]];
  readonly features: readonly FeatureName[];
  /** Default: no random input, so one run says all, but for what shows now and then. */
  readonly input?: fc.Arbitrary<Input>;
  /** Programs that are always tried first. */
  readonly examples?: readonly Input[];
  /**
   * By URL, what waits on the target's clock begins first. Programs that are `slow` wait for seconds: a tenth as many of
   * them are run there, at least one. Those that are `heavy` move megabytes besides, and are a tenth as many embedded, too.
   * Those that are `waiting` wait now and then, for a moment, and all are run.
   */
  readonly cost?: Cost;
  run(attempt: Attempt, input: Input): Promise<void>;
}

export type Cost = "quick" | "waiting" | "slow" | "heavy";

/** A check that has to wait for the target to forget: what it needs is captured first, and judged when all else is done. */
export interface AgedCheckDefinition<Captured> {
  readonly id: string;
  readonly area: string;
  readonly property: string;
  readonly requirements: readonly [string, ...string[]];
  readonly features: readonly FeatureName[];
  capture(attempt: Attempt): Promise<Captured>;
  /** `deadlineMillis` is a time of the suite's clock: what has not expired by then is inconclusive. */
  settle(attempt: Attempt, captured: Captured, deadlineMillis: number): Promise<void>;
}

export interface CheckInfo {
  readonly id: string;
  readonly area: string;
  readonly property: string;
  readonly requirements: readonly string[];
  readonly features: readonly FeatureName[];
}

export interface QuickCheck extends CheckInfo {
  readonly kind: "property";
  readonly cost: Cost;
  /** False: it has one course, and no program below the seed. */
  readonly isRandom: boolean;
  /** How many programs it has when so many random ones are asked for. */
  programCount(runs: number): number;
  explore(options: ExploreOptions, attempt: RunAttempt): Promise<Exploration>;
}

export interface AgedCheck extends CheckInfo {
  readonly kind: "aged";
  /** Captures now; the returned function settles. Both run in the same attempt. */
  begin(attempt: Attempt): Promise<(attempt: Attempt, deadlineMillis: number) => Promise<void>>;
}

export type Check = QuickCheck | AgedCheck;

export interface ExploreOptions {
  readonly seed: number;
  readonly path: string | undefined;
  readonly runs: number;
  /** False: the first program that fails is told as it is. Default true: smaller ones are looked for. */
  readonly shrinks?: boolean | undefined;
  /** Asked before each smaller program, of the time since the first failure: false ends the search. Default true. */
  readonly mayShrink?: (() => boolean) | undefined;
  /**
   * Asked before each program but the first, with whether it is an example or one of the first few that are drawn, which
   * a verdict hangs on: false leaves it and all that follow out. Default true. Not asked once a program was undecided: what
   * keeps silent takes time, and may be what is broken.
   */
  readonly mayGoOn?: ((needed: boolean) => boolean) | undefined;
}

/** Runs a body in a namespace of its own. Undefined: it held. Never rejects. */
export type RunAttempt = (body: (attempt: Attempt) => Promise<void>) => Promise<Error | undefined>;

export interface Exploration {
  readonly runs: number;
  /** Programs that were left out, since `mayGoOn` ended it. */
  readonly leftOut: number;
  /** The end of the run that decided: a `CheckFailure` is of the smallest program found. Undefined: all runs held. */
  readonly decisive: Error | undefined;
  /** A program met a verb that the target does not serve, and ended there. */
  readonly unserved: Unserved | undefined;
  readonly path: string;
  readonly counterexample: unknown;
  readonly counterexampleText: string;
  readonly shrinks: number;
}

export function defineCheck<Input>(definition: CheckDefinition<Input>): QuickCheck {
  return {
    ...infoOf(definition),
    kind: "property",
    cost: definition.cost ?? "quick",
    isRandom: definition.input !== undefined,
    programCount: (runs) => programCount(definition, runs),
    explore: (options, attempt) => explore(definition, options, attempt),
  };
}

export function defineAgedCheck<Captured>(definition: AgedCheckDefinition<Captured>): AgedCheck {
  return {
    ...infoOf(definition),
    kind: "aged",
    async begin(attempt) {
      const captured = await definition.capture(attempt);
      return (later, deadlineMillis) => definition.settle(later, captured, deadlineMillis);
    },
  };
}

/** Without its programs: plain data. */
export function infoOf(definition: CheckInfo): CheckInfo {
  const { id, area, property, requirements, features } = definition;
  return { id, area, property, requirements, features };
}

/** Examples are what somebody has thought of; they take no program from those that nobody has. */
function programCount<Input>({ input, examples = [] }: CheckDefinition<Input>, runs: number): number {
  return input === undefined
    ? 1 + Math.floor(Math.max(0, runs - usualRuns) / runsOfFixedCourse)
    : runs + examples.length;
}

/** A check that draws nothing is carried out once more for so many programs above the usual: a rare bug may show the next time. */
const runsOfFixedCourse = 10;
const usualRuns = 100;

/** After this many smaller programs the smallest so far will do: by URL each costs seconds, and a slow one minutes. */
const shrinkAttemptsMax: Readonly<Record<Cost, number>> = { quick: 150, waiting: 150, slow: 10, heavy: 10 };

/** Where there are no examples, the first programs that are drawn are all that judges. */
const drawnNeeded = 3;

async function explore<Input>(
  definition: CheckDefinition<Input>,
  options: ExploreOptions,
  attempt: RunAttempt,
): Promise<Exploration> {
  const { examples = [] } = definition;
  const input = definition.input ?? (fc.constant(undefined) as fc.Arbitrary<unknown> as fc.Arbitrary<Input>);
  let runs = 0;
  const attemptsMax = shrinkAttemptsMax[definition.cost ?? "quick"];
  let shrinkAttempts = 0;
  let failure: CheckFailure | undefined;
  let other: Error | undefined; // ended the run, but is no verdict about the program: nothing to shrink
  let unseen: Unseen | undefined;
  let unserved: Unserved | undefined;
  let seenCount = 0;
  let place = 0; // of the next program, examples first, while nothing has failed
  let leftOut = 0;
  const neededCount = examples.length + drawnNeeded;
  const isRandom = definition.input !== undefined;
  const drawing = isRandom && options.path === undefined ? drawingOf(input, options, examples) : undefined;
  let drawn = -examples.length; // place of the next one that is drawn
  const property = fc.asyncProperty(input, async (value) => {
    if (stops(other) || shrinkAttempts > attemptsMax) return;
    if (failure === undefined && drawing !== undefined) {
      drawn += 1;
      if (drawn > 0 && !drawing.isRun(drawn - 1)) return;
    }
    if (failure !== undefined) {
      if (options.mayShrink?.() === false) return;
      shrinkAttempts += 1;
    } else {
      place += 1;
      if (options.path !== undefined && place > 1) return; // the one that it names, and none of those after it
      const mayGoOn = place === 1 || other !== undefined || options.mayGoOn?.(place <= neededCount) !== false;
      if (leftOut > 0 || !mayGoOn) {
        leftOut += 1;
        return;
      }
    }
    runs += 1;
    const end = await attempt((context) => definition.run(context, value));
    if (end instanceof CheckFailure) {
      // A smaller program that breaks another promise is another finding: which one it is must not depend on how far this goes.
      if (failure !== undefined && end.requirement !== failure.requirement) return;
      failure = end;
      throw end;
    }
    if (end === undefined) seenCount += 1;
    if (end instanceof Unseen) {
      unseen ??= end;
      if (end instanceof Unserved) unserved ??= end;
      return;
    }
    // While a failure is made smaller, an undecided program is just not a smaller one.
    if (end !== undefined && failure === undefined) other ??= end;
  });
  const found = await fc.check(property, {
    seed: options.seed,
    numRuns: drawing === undefined ? programCount(definition, options.runs) : examples.length + drawing.count,
    ...(options.path === undefined ? {} : { path: options.path }),
    endOnFailure: options.path !== undefined || options.shrinks === false,
    examples: examples.map((example): [Input] => [example]),
  });
  const counterexample = found.counterexample?.[0];
  return {
    runs,
    leftOut,
    decisive: failure ?? other ?? (seenCount === 0 ? unseen : undefined),
    unserved,
    path: isRandom ? (found.counterexamplePath ?? "") : "",
    counterexample,
    counterexampleText: isRandom && found.counterexample !== null ? fc.stringify(asWritten(counterexample)) : "",
    shrinks: found.numShrinks,
  };
}

/** Objects without a prototype as others: nobody who reads a program cares for that. Programs are no deeper than what they were drawn by. */
function asWritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asWritten);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asWritten(member)]));
}

interface Drawing {
  /** How many are drawn. */
  readonly count: number;
  /** Whether the one at this place is run, or another was chosen in its stead. */
  isRun(place: number): boolean;
}

/** What is drawn is known beforehand: it hangs on the seed alone. Nothing is drawn when an example has failed before. */
function drawingOf<Input>(
  input: fc.Arbitrary<Input>,
  { seed, runs }: ExploreOptions,
  examples: readonly Input[],
): Drawing {
  const among = drawnToChoose(runs);
  let chosen: ReadonlySet<number> | undefined;
  const isChosen = (place: number): boolean => {
    chosen ??= new Set(seldomSeen(fc.sample(input, { seed, numRuns: among }), examples));
    return chosen.has(place);
  };
  return { count: drawnInAll(runs), isRun: (place) => place >= among || isChosen(place) };
}

/** An undecided program leaves the others worth running; anything else would only happen again. */
function stops(end: Error | undefined): boolean {
  return end !== undefined && end.name !== "Inconclusive";
}
