/**
 * Hunts for bugs in a user's program (a controller, an informer, a client): plays the same work many times, and each time
 * something else goes wrong. Then the program is left alone, and what must hold is looked at. One seed names one run.
 */
import { prngStream } from "../../kernel/prng.ts";
import type { Cluster } from "../cluster.ts";
import { createTestCluster, type TestCluster } from "../test-cluster.ts";
import {
  type Act,
  actText,
  drawActs,
  type FaultPattern,
  faultPatterns,
  type Seen,
  singleActs,
  isWrite,
} from "./acts.ts";
import { checkHuntOptions } from "./check-hunt-options.ts";
import { Disturber } from "./disturber.ts";
import { type Counted, endDifference, endState } from "./end-state.ts";
import type { HuntOptions } from "./hunt-options.ts";

export interface HuntReport {
  readonly played: number;
  /** Runs with one fault that there are: seeds beyond it have several. */
  readonly singleCount: number;
  /** How many runs had a fault of each kind. A kind with none had no place: no watch, no Exact list, no protobuf. */
  readonly byPattern: Readonly<Partial<Record<FaultPattern, number>>>;
}

/** What a program did wrong under some seed. */
export interface Finding {
  readonly kind: "check" | "write" | "end" | "client" | "time" | "workload" | "without faults";
  readonly expected: string;
  readonly actual: string;
}

/** The program breaks what must hold. The message has the seed, what was done, and how to make it again. */
export class HuntFailure extends Error {
  override readonly name = "HuntFailure";
  /** 0: the run without faults. */
  readonly seed: number;
  readonly finding: Finding;
  /** The fewest acts that bring it about, in words. */
  readonly faults: readonly string[];

  constructor(seed: number, finding: Finding, faults: readonly string[]) {
    super(failureText(seed, finding, faults));
    this.seed = seed;
    this.finding = finding;
    this.faults = faults;
  }
}

/** Rejects with `HuntFailure` at the first seed that fails, and with `TypeError` for options that cannot be. */
export async function hunt(options: HuntOptions): Promise<HuntReport> {
  checkHuntOptions(options);
  const reference = await play(options, "1", []);
  if (reference.finding !== undefined) throw new HuntFailure(0, { ...reference.finding, kind: "without faults" }, []);
  const { seen, end } = reference;
  const faults = options.faults ?? faultPatterns;
  const single = singleActs(seen, faults);
  const idle = untouched(seen, faults, single);
  if (idle !== undefined) throw new HuntFailure(0, { kind: "without faults", ...idle }, []);
  const { seeds = 100 } = options;
  const numbers = typeof seeds === "number" ? Array.from({ length: seeds }, (_, index) => index + 1) : seeds;
  const byPattern: Partial<Record<FaultPattern, number>> = {};
  for (const seed of numbers) {
    const acts = actsOf(seed, single);
    // One fault goes wrong in the very run that it was found in; several come with another course of things.
    const clusterSeed = seed <= single.length ? "1" : String(seed);
    for (const { act } of acts) byPattern[act] = (byPattern[act] ?? 0) + 1;
    const { finding } = await play(options, clusterSeed, acts, end);
    if (finding === undefined) continue;
    const least = await fewest(acts, finding, (fewer) => play(options, clusterSeed, fewer, end));
    throw new HuntFailure(
      seed,
      least.finding,
      least.acts.map((act) => actText(act, seen.requests)),
    );
  }
  return { played: numbers.length, singleCount: single.length, byPattern };
}

/** A hunt in which nothing can go wrong finds nothing, and would pass whatever the program does. */
function untouched(
  { requests, eventCount }: Seen,
  faults: readonly FaultPattern[],
  single: readonly Act[],
): Omit<Finding, "kind"> | undefined {
  if (requests.length === 0)
    return {
      expected: "the program makes requests to the cluster",
      actual:
        "it makes none, and nothing can go wrong: let its client take the fetch or the dispatcher that it is given",
    };
  if (single.length > 0) return undefined;
  const writes = requests.filter(isWrite).length;
  return {
    expected: `one of the faults (${faults.join(", ")}) has a place in what the program does`,
    actual: `none has: requests ${requests.length}, of them writes ${writes}; events of watches ${eventCount}`,
  };
}

function actsOf(seed: number, single: readonly Act[]): readonly Act[] {
  const act = single[seed - 1];
  return act === undefined ? drawActs(single, prngStream(String(seed), "hunt")) : [act];
}

interface Played {
  readonly seen: Seen;
  readonly end: ReadonlyMap<string, readonly string[]>;
  readonly finding: Finding | undefined;
}

type EndState = Played["end"];

/** As a kubelet's first wait before it starts a container again. */
const restartMicros = 1_000_000;

async function play(options: HuntOptions, seed: string, acts: readonly Act[], wanted?: EndState): Promise<Played> {
  const disturber = new Disturber(acts, prngStream(seed, "opaque-versions"));
  await using cluster = await createTestCluster(
    { ...options.cluster, seed },
    { between: (fresh, held) => disturber.between(fresh, held) },
  );
  const found = await playOn(cluster, disturber, options);
  const counted: Counted = typeof options.sameEnd === "function" ? options.sameEnd : (object) => object;
  const end = endState(cluster.stored(), counted);
  const finding = found ?? judged(cluster, disturber, options) ?? endFinding(options, wanted, end);
  return { seen: disturber.seen, end, finding };
}

/** The work, and the quiet time after it. What goes wrong on the way is not judged yet, but for what ends the run. */
async function playOn(cluster: TestCluster, disturber: Disturber, options: HuntOptions): Promise<Finding | undefined> {
  let isOver = false;
  const restart = (delayMicros: number): void =>
    void cluster.later(delayMicros, () => {
      if (!isOver && !program.isAlive) program.start();
    });
  const program = cluster.prepare(options.program, () => restart(restartMicros));
  disturber.begin({
    crash: (downMicros) => {
      program.crash();
      restart(downMicros);
    },
    compact: () => cluster.compact(),
    holdCaches: (isHeld) => cluster.holdCaches(isHeld),
    later: (delayMicros, task) => cluster.later(delayMicros, task),
  });
  program.start();
  try {
    try {
      await options.workload(cluster);
    } catch (error) {
      return { kind: "workload", expected: "the workload comes to its end", actual: messageOf(error) };
    }
    await cluster.settle();
    disturber.end();
    await cluster.advance(options.quiet ?? "5m");
    try {
      await options.check?.(cluster);
    } catch (error) {
      return { kind: "check", expected: "the check holds", actual: messageOf(error) };
    }
  } catch (error) {
    return { kind: "time", expected: "time passes, and the program comes to rest", actual: messageOf(error) };
  } finally {
    isOver = true;
  }
  return undefined;
}

function judged(cluster: Cluster, disturber: Disturber, { eachWrite }: HuntOptions): Finding | undefined {
  const { broken } = disturber.laws;
  if (broken !== undefined)
    return { kind: "client", expected: `${broken.law} (${broken.source})`, actual: broken.actual };
  if (eachWrite === undefined) return undefined;
  for (const write of cluster.writes()) {
    try {
      eachWrite(write);
    } catch (error) {
      const what = `${write.type} ${write.kind} ${write.namespace}/${write.name} at ${write.atMicros / 1_000_000} s`;
      return { kind: "write", expected: "every write is one that may be", actual: `${what}: ${messageOf(error)}` };
    }
  }
  return undefined;
}

function endFinding({ sameEnd = true }: HuntOptions, wanted: EndState | undefined, end: EndState): Finding | undefined {
  if (sameEnd === false || wanted === undefined) return undefined;
  const difference = endDifference(wanted, end);
  return difference === undefined ? undefined : { kind: "end", ...difference };
}

/** Leaves out acts for as long as the finding stays of its kind. */
async function fewest(
  acts: readonly Act[],
  finding: Finding,
  again: (acts: readonly Act[]) => Promise<Played>,
): Promise<{ readonly acts: readonly Act[]; readonly finding: Finding }> {
  let least = { acts, finding };
  for (const act of acts) {
    if (least.acts.length === 1) break;
    const fewer = least.acts.filter((other) => other !== act);
    const { finding: still } = await again(fewer);
    if (still?.kind === finding.kind) least = { acts: fewer, finding: still };
  }
  return least;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function failureText(seed: number, { kind, expected, actual }: Finding, faults: readonly string[]): string {
  if (kind === "without faults")
    return `what must hold does not hold even without faults: mend that first\n  expected  ${expected}\n  actual    ${actual}`;
  return [
    `seed ${seed}: the program breaks what must hold`,
    `  expected  ${expected}`,
    `  actual    ${actual}`,
    ...faults.map((fault, index) => `  ${index === 0 ? "fault    " : "and      "} ${fault}`),
    `  again     hunt({ ..., seeds: [${seed}] })`,
  ].join("\n");
}
