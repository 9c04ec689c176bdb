/**
 * `conform --faults` and `--seeds`: the suite itself is on trial. Each planted bug must be found by some check, and a
 * server without one must be found fault with by none.
 */
import { planSuite } from "../../conformance/run-suite.ts";
import type { SuiteFailure } from "../../reports/schema/suite-report.ts";
import {
  type FalseFinding,
  type FaultReport,
  type FaultResult,
  faultReportVersion,
} from "../../reports/schema/fault-report.ts";
import type { CheckInfo } from "../../conformance/runner/define-check.ts";
import { type ServerBugName, serverBugRows } from "../../sim/planted/server-bugs.ts";
import type { EmbeddedPart } from "../targets/embedded-part.ts";
import type { EmbeddedDetails } from "../targets/embedded.ts";
import { defaultThreads } from "../targets/default-threads.ts";
import { type EmbeddedPool, embeddedPool, inParallel } from "../targets/embedded-pool.ts";
import { gatesWith } from "./fault-gates.ts";
import { type Selection, replayLine } from "../targets/suite-target.ts";

export interface Campaign {
  readonly faults: readonly ServerBugName[];
  /** Each bug shows in one request of so many. Absent: in all. */
  readonly rarity?: number | undefined;
  readonly featureGates: EmbeddedDetails["featureGates"];
  /** Seeds on which a server without a fault is judged. */
  readonly cleanSeeds: number;
  readonly selection: Selection & { readonly seed: number };
  /** Told after each fault and each seed. */
  readonly onStep: (done: number, steps: number, what: string) => void;
}

export async function runFaultCampaign(campaign: Campaign): Promise<FaultReport> {
  const { selection, faults, rarity, featureGates, cleanSeeds } = campaign;
  const { signal = new AbortController().signal, seed } = selection;
  const { plan, settings } = planSuite({ ...selection, targetKind: "embedded" });
  const { checks } = plan;
  const threads = selection.jobs ?? defaultThreads();
  const pool = embeddedPool(threads, signal);
  const steps = faults.length + cleanSeeds;
  let done = 0;
  const step = (what: string): void => campaign.onStep(++done, steps, what);
  try {
    const results = await inParallel(faults, threads, async (fault) => {
      const result = await hunt(pool, campaign, checks, fault);
      step(fault);
      return result;
    });
    const seeds = Array.from({ length: cleanSeeds }, (_, i) => (seed + i) >>> 0);
    const judged = await inParallel(seeds, threads, async (cleanSeed) => {
      const found = await judgeClean(pool, campaign, checks, cleanSeed);
      step(`seed ${cleanSeed}`);
      return found;
    });
    return {
      apiVersion: faultReportVersion,
      kind: "FaultReport",
      profile: selection.profile,
      seed,
      runs: settings.runs,
      featureGates,
      complete: !signal.aborted,
      rarity,
      faultsAsked: faults.length,
      faults: results.filter((result) => result !== undefined),
      cleanSeedsAsked: cleanSeeds,
      cleanSeeds: judged.filter(({ whole }) => whole).length,
      falseFindings: judged.flatMap(({ findings }) => findings),
    };
  } finally {
    await pool.close();
  }
}

/**
 * One check after another until one fails, the one that the bug's row names first. Each meets a server of its own, under the profile
 * that was asked for, or the one whose law the bug breaks. Undefined when a
 * person stopped the hunt: not every check has had its chance.
 */
async function hunt(
  pool: EmbeddedPool,
  { selection: asked, rarity, featureGates }: Campaign,
  checks: readonly CheckInfo[],
  fault: ServerBugName,
): Promise<FaultResult | undefined> {
  const selection = { ...asked, profile: serverBugRows[fault].profile ?? asked.profile };
  let programs = 0;
  let virtualMillis = 0;
  let measuredMillis = 0;
  const details = { seed: selection.seed, faults: [fault], rarity, featureGates: gatesWith([fault], featureGates) };
  if (isStopped(selection)) return undefined;
  for (const { id: check } of soonestFirst(checks, serverBugRows[fault].foundBy)) {
    // That it is found is all that counts: the replay line makes the same program again, and nobody reads this one.
    const asIs = { ...plain(selection), shrinks: false };
    const found = await pool.run({ details, selection: asIs, check }, () => {});
    virtualMillis += found.part.durationMillis;
    measuredMillis += found.measuredMillis;
    const failure = failureIn(found);
    if (failure !== undefined) {
      programs += programsUntil(failure);
      const { requirement } = failure;
      const replay = replayLine(failure, details);
      return { fault, found: true, check, requirement, programs, virtualMillis, measuredMillis, replay };
    }
    if (isStopped(selection)) return undefined;
    programs += found.part.outcomes[0]?.runs ?? 0;
  }
  const nothing = { check: undefined, requirement: undefined, replay: undefined };
  return { fault, found: false, ...nothing, programs, virtualMillis, measuredMillis };
}

/** The same checks: the named one first. */
export function soonestFirst<Row extends Pick<CheckInfo, "id">>(
  checks: readonly Row[],
  soonest: string,
): readonly Row[] {
  return checks.toSorted((left, right) => Number(right.id === soonest) - Number(left.id === soonest));
}

/** `whole` is false when a person stopped it before every check had its turn. */
interface JudgedSeed {
  readonly whole: boolean;
  readonly findings: readonly FalseFinding[];
}

async function judgeClean(
  pool: EmbeddedPool,
  { selection, featureGates }: Campaign,
  checks: readonly CheckInfo[],
  seed: number,
): Promise<JudgedSeed> {
  const findings: FalseFinding[] = [];
  const details = { seed, faults: [], featureGates };
  for (const { id: check } of checks) {
    if (isStopped(selection)) return { whole: false, findings };
    const failure = failureIn(await pool.run({ details, selection: { ...plain(selection), seed }, check }, () => {}));
    if (failure === undefined) continue;
    const { requirement } = failure;
    findings.push({ seed, check, requirement, replay: replayLine(failure, details) });
  }
  return { whole: !isStopped(selection), findings };
}

const isStopped = ({ signal }: Selection): boolean => signal?.aborted === true;

function plain({ signal: _signal, onProgress: _onProgress, only: _only, skip: _skip, ...rest }: Selection) {
  return rest;
}

function failureIn({ part }: EmbeddedPart): SuiteFailure | undefined {
  const [outcome] = part.outcomes;
  // An error is ours, and would hide what it stands for.
  if (outcome?.verdict.status === "error") throw new Error(`${outcome.check.id}: ${outcome.verdict.cause}`);
  return outcome?.failure;
}

/** A path begins with the place of the program that failed first; what follows is how it was made smaller. */
function programsUntil({ path }: SuiteFailure): number {
  return path === "" ? 1 : Number(path.split(":", 1)[0]) + 1;
}
