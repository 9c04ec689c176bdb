/**
 * Makes a failing run smaller, as long as it fails the same way: less time, fewer faults, fewer clients, fewer writes.
 * Every attempt is a whole run, so the number of attempts is limited.
 */
import type { CapsuleEdits } from "../../reports/schema/capsule.ts";
import type { SimulationFailure } from "../../reports/schema/simulation-report.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { Plan, PlannedFault } from "../faults/plan.ts";
import type { Bugs } from "./bugs.ts";
import { type Played, playScenario } from "./play.ts";
import type { Watcher } from "./watcher.ts";

/** A run that can be made again. */
export interface Reproduction {
  readonly scenario: Scenario;
  readonly edits: CapsuleEdits;
  readonly seed: number;
  readonly mode: Plan["mode"];
  readonly bugs: Bugs;
  readonly faults: readonly PlannedFault[];
}

export interface Shrunk {
  readonly reproduction: Reproduction;
  readonly failure: SimulationFailure;
  readonly attempts: number;
}

/** The failure that a reproduction ends in, if any. */
export function reproduce(reproduction: Reproduction): SimulationFailure | undefined {
  return replayed(reproduction).report.failure;
}

/** The run itself, up to its failure. */
export function replayed({ scenario, edits, seed, mode, bugs, faults }: Reproduction, watcher?: Watcher): Played {
  const plan: Plan = { mode, faults, drawn: [] };
  const seen = watcher === undefined ? {} : { watcher };
  return playScenario(edited(scenario, edits), { seed, plan, bugs, stopsAtFailure: true, ...seen });
}

/** A scenario with some of it left out. What a fault or an expectation says of what is gone goes with it. */
export function edited(scenario: Scenario, { without, untilMicros, quietFromMicros }: CapsuleEdits): Scenario {
  const until = untilMicros ?? scenario.until;
  const { safety, ...rest } = scenario;
  return {
    ...rest,
    until,
    // A safety phase that never ends is one without an end.
    ...(safety !== undefined && safety < until ? { safety } : {}),
    clients: scenario.clients
      .filter(({ name }) => !without.includes(name))
      .map((client) =>
        quietFromMicros !== undefined && client.kind === "writer"
          ? { ...client, until: Math.min(client.until ?? quietFromMicros, quietFromMicros) }
          : client,
      ),
    expect: scenario.expect.filter(({ by }) => by <= until),
  };
}

/**
 * The smallest so far before each attempt, of `attemptsMax` at most; returns the smallest of all after the last one. `failure` is what
 * the whole run ends in; only its signature has to stay.
 */
export const shrinking = (
  whole: Reproduction,
  failure: SimulationFailure,
  attemptsMax: number,
): Generator<Shrunk, Shrunk> => new Shrinker(whole, failure, attemptsMax).run();

/** Before each attempt, the smallest so far. */
type Attempts<Result = void> = Generator<Shrunk, Result>;

class Shrinker {
  private best: Reproduction;
  private failure: SimulationFailure;
  private attempts = 0;
  private readonly attemptsMax: number;

  constructor(whole: Reproduction, failure: SimulationFailure, attemptsMax: number) {
    this.best = whole;
    this.failure = failure;
    this.attemptsMax = attemptsMax;
  }

  *run(): Attempts<Shrunk> {
    for (let before = Infinity; this.size() < before && this.attempts < this.attemptsMax; ) {
      before = this.size();
      yield* this.cutTime();
      yield* this.dropFaults();
      yield* this.dropClients();
      yield* this.stopWriters();
    }
    return this.smallest();
  }

  private smallest(): Shrunk {
    return { reproduction: this.best, failure: this.failure, attempts: this.attempts };
  }

  private size(): number {
    const { faults, edits, scenario } = this.best;
    const quiet = edits.quietFromMicros ?? scenario.until;
    return faults.length * 1e12 - edits.without.length * 1e12 + (edits.untilMicros ?? scenario.until) + quiet;
  }

  /** Keeps the change when the run still fails the same way. */
  private *attempt(change: Partial<Pick<Reproduction, "edits" | "faults">>): Attempts<boolean> {
    if (this.attempts >= this.attemptsMax) return false;
    yield this.smallest();
    this.attempts++;
    const candidate = { ...this.best, ...change };
    const failure = reproduce(candidate);
    const isSame = failure?.signature === this.failure.signature;
    if (isSame && failure !== undefined) {
      this.best = candidate;
      this.failure = failure;
    }
    return isSame;
  }

  /** Nothing that happens after the failure is needed. */
  private *cutTime(): Attempts {
    const { scenario, edits, faults } = this.best;
    const untilMicros = Math.max(1, this.failure.atMicros);
    if (untilMicros >= (edits.untilMicros ?? scenario.until)) return;
    yield* this.attempt({
      edits: { ...edits, untilMicros },
      faults: faults.filter(({ atMicros }) => atMicros <= untilMicros),
    });
  }

  /** By halves, then by quarters, and so on down to one by one. */
  private *dropFaults(): Attempts {
    let chunk = Math.ceil(this.best.faults.length / 2);
    while (chunk >= 1 && this.attempts < this.attemptsMax) {
      for (let from = 0; from < this.best.faults.length; ) {
        const { faults } = this.best;
        const fewer = faults.filter((_, index) => index < from || index >= from + chunk);
        if (!(yield* this.attempt({ faults: fewer }))) from += chunk;
      }
      if (chunk === 1) return;
      chunk = Math.ceil(chunk / 2);
    }
  }

  private *dropClients(): Attempts {
    for (const { name } of this.best.scenario.clients) {
      const { edits, scenario } = this.best;
      const isLast = scenario.clients.length - edits.without.length <= 1;
      if (!edits.without.includes(name) && !isLast)
        yield* this.attempt({ edits: { ...edits, without: [...edits.without, name] } });
    }
  }

  /** Operations: writers stop ever earlier, by halves. */
  private *stopWriters(): Attempts {
    const { scenario, edits } = this.best;
    if (!scenario.clients.some(({ kind, name }) => kind === "writer" && !edits.without.includes(name))) return;
    let low = 0;
    let high = Math.min(edits.quietFromMicros ?? Infinity, edits.untilMicros ?? scenario.until);
    const step = 100_000;
    while (high - low > step && this.attempts < this.attemptsMax) {
      const middle = Math.floor((low + high) / 2);
      if (yield* this.attempt({ edits: { ...this.best.edits, quietFromMicros: Math.max(1, middle) } })) high = middle;
      else low = middle;
    }
  }
}
