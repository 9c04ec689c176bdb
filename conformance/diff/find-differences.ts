/** The same random programs on two servers: what differs, grouped by cause, each with the smallest program found. */
import fc from "fast-check";
import {
  conclusionOf,
  type DiffReport,
  type Difference,
  diffReportVersion,
  type TopicResult,
} from "../../reports/schema/diff-report.ts";
import { programSeed } from "../runner/program-seed.ts";
import { type MaskedAnswer, type Parting, partings } from "./compare.ts";
import type { Outcome, Side } from "./side.ts";
import type { Program } from "./step.ts";
import type { TopicName } from "./topic-names.ts";
import { topics } from "./topics.ts";

export interface DiffOptions {
  readonly a: Side;
  readonly b: Side;
  /** 32 bits. */
  readonly seed: number;
  /** Programs a topic, at least 1. */
  readonly runs: number;
  readonly topics: readonly TopicName[];
  readonly signal: AbortSignal;
  /** How the two are called, and the command line that meets a topic's differences again. */
  readonly names: { readonly a: string; readonly b: string };
  readonly replayOf: (topic: TopicName) => string;
  readonly onProgress?: (text: string) => void;
}

export async function findDifferences(options: DiffOptions): Promise<DiffReport> {
  const { seed, runs, signal, names } = options;
  const results: TopicResult[] = [];
  const undecided = new Set<string>();
  const found = new Map<string, Difference>();
  for (const topic of options.topics) {
    if (signal.aborted) break;
    options.onProgress?.(`${results.length}/${options.topics.length} topics, ${found.size} differences  ${topic}`);
    results.push(await compareTopic(options, topic, found, undecided));
  }
  const leftovers = { a: await options.a.leave(), b: await options.b.leave() };
  const report = {
    complete: !signal.aborted && results.length === options.topics.length,
    ...names,
    seed,
    runs,
    topics: results,
    differences: [...found.values()],
    undecided: [...undecided].sort(),
    leftovers,
  };
  return { apiVersion: diffReportVersion, kind: "DiffReport", conclusion: conclusionOf(report), ...report };
}

async function compareTopic(
  options: DiffOptions,
  topic: TopicName,
  found: Map<string, Difference>,
  reasons: Set<string>,
): Promise<TopicResult> {
  const programs = fc.sample(topics[topic], { seed: programSeed(options.seed, topic), numRuns: options.runs });
  const compared = await comparisons(options, programs);
  let undecided = 0;
  for (const [index, comparison] of compared.entries()) {
    if ("undecided" in comparison) {
      undecided += 1;
      reasons.add(comparison.undecided);
      continue;
    }
    for (const cause of new Set(comparison.map((row) => row.cause))) {
      const known = found.get(cause);
      if (known !== undefined) found.set(cause, { ...known, programs: known.programs + 1 });
      else if (!options.signal.aborted) {
        options.onProgress?.(`${topic}: ${cause}`);
        found.set(cause, await made(options, topic, cause, programs[index] as Program, comparison));
      }
    }
  }
  return { topic, programs: programs.length, undecided };
}

/** One difference, and where in a program it is. */
interface Found extends Parting {
  readonly step: number;
  readonly answers: { readonly a: MaskedAnswer; readonly b: MaskedAnswer };
}

type Comparison = readonly Found[] | { readonly undecided: string };

/** One server after the other: neither waits while the other works, so virtual time stays virtual. */
async function comparisons({ a, b }: DiffOptions, programs: readonly Program[]): Promise<Comparison[]> {
  const ofA = await a.playAll(programs);
  const ofB = await b.playAll(programs);
  return programs.map((program, index) => compared(program, ofA[index] as Outcome, ofB[index] as Outcome));
}

function compared(program: Program, a: Outcome, b: Outcome): Comparison {
  if ("undecided" in a) return { undecided: `A: ${a.undecided}` };
  if ("undecided" in b) return { undecided: `B: ${b.undecided}` };
  return program.flatMap(({ what }, step) => {
    const [ofA, ofB] = [a[step]?.answer, b[step]?.answer];
    // What only one server could be asked follows from what they answered before.
    if (ofA === undefined || ofB === undefined) return [];
    return partings(what, ofA, ofB).map((parting) => ({ ...parting, step, answers: { a: ofA, b: ofB } }));
  });
}

/** Steps are taken out one after the other, as long as the cause is still met. */
async function made(
  options: DiffOptions,
  topic: TopicName,
  cause: string,
  program: Program,
  first: readonly Found[],
): Promise<Difference> {
  const showing = (comparison: Comparison): Found | undefined =>
    "undecided" in comparison ? undefined : comparison.find((row) => row.cause === cause);
  let seen = first.find((row) => row.cause === cause) as Found;
  let all = first;
  let smallest = program.slice(0, seen.step + 1); // what comes after it has nothing to do with it
  for (let smaller = true; smaller && smallest.length > 1 && !options.signal.aborted; ) {
    const candidates = smallerThan(smallest);
    const outcomes = await comparisons(options, candidates);
    const at = outcomes.findIndex((outcome) => showing(outcome) !== undefined);
    smaller = at >= 0;
    if (!smaller) break;
    all = outcomes[at] as readonly Found[];
    seen = showing(all) as Found;
    smallest = (candidates[at] as Program).slice(0, seen.step + 1);
  }
  const [again] = await comparisons(options, [smallest]);
  const places = all.filter(({ step }) => step === seen.step);
  return {
    cause,
    topic,
    programs: 1,
    steady: again !== undefined && showing(again) !== undefined,
    follows: all.find(({ step }) => step < seen.step)?.cause,
    program: smallest,
    path: seen.path,
    a: seen.a,
    b: seen.b,
    places: places.slice(0, placesMax).map(({ path, a, b }) => ({ path, a, b })),
    placesCount: places.length,
    answers: seen.answers,
    replay: options.replayOf(topic),
  };
}

/** Of one answer, no more than these are told one by one. */
const placesMax = 20;

/** The last step alone first, then without each of the others: the last one shows it, and stays. */
function smallerThan(program: Program): Program[] {
  const alone = program.length > 2 ? [program.slice(-1)] : [];
  return [...alone, ...program.slice(0, -1).map((_, index) => program.filter((_step, at) => at !== index))];
}
