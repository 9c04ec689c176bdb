import { append } from "../../wire/lists.ts";
import { findingId } from "../../reports/gate/finding.ts";
import type { ExchangeRecord, SuiteFailure, SuiteLaw, TargetDescription } from "../../reports/schema/suite-report.ts";
import { suiteReportVersion } from "../../reports/schema/suite-report.ts";
import type { Verdict } from "../../reports/schema/verdict.ts";
import type { NodeHost } from "../../wire/node-host.ts";
import type { SuiteClock, Transport, WebhookHost } from "../../wire/ports.ts";
import { Client, isOfGateway, LostAnswer, whyStopped } from "../client/client.ts";
import { type CurlStyle, curlLine } from "../client/exchange.ts";
import { endWhereUnserved } from "../client/optional-verbs.ts";
import { Recorder } from "../client/recorder.ts";
import { Cancelled, CheckFailure, HistoryExpired, Inconclusive, Unserved, Unsupported } from "../client/findings.ts";
import { Witness } from "../model/everywhere/witness.ts";
import { isOfLaw } from "./plan.ts";
import type { SuiteProfile } from "../profiles/profile.ts";
import type { Requirement } from "../requirements/rows.ts";
import { againLines } from "./again-lines.ts";
import { type AccessDesks, Attempt, JudgedRequirements } from "./attempt.ts";
import {
  type AgedCheck,
  type Check,
  type CheckInfo,
  type Exploration,
  infoOf,
  type QuickCheck,
} from "./define-check.ts";
import { awaitFurnished, type Furnishing, type Lodging, Vacancies, vacated } from "./lodging.ts";
import { programSeed } from "./program-seed.ts";
import type { Features } from "./features.ts";
import { type Leaving, type NameSource, Sandbox } from "./sandbox.ts";
import { shownExchange } from "./shown-exchange.ts";

/** What every check of a run shares. */
export interface SuiteRun {
  readonly transport: Transport;
  readonly clock: SuiteClock;
  /** Absent: the target cannot reach the suite. */
  readonly webhooks?: WebhookHost | undefined;
  /** Absent: no agent is bound that would run nodes of the suite. */
  readonly nodes?: NodeHost | undefined;
  readonly access?: AccessDesks | undefined;
  readonly profile: SuiteProfile;
  readonly rows: ReadonlyMap<string, Requirement>;
  /** What every exchange is judged by, whichever check it belongs to. */
  readonly law: SuiteLaw;
  readonly names: NameSource;
  readonly features: Features;
  /** What the target's controllers put into each new namespace. */
  readonly furnishing: Furnishing;
  /** Empty namespaces that programs have left, for programs of any check. */
  readonly lodgings: Lodging[];
  readonly seed: number;
  readonly path: string | undefined;
  readonly runs: number;
  /** False: what fails is not made smaller. Default true. */
  readonly shrinks?: boolean | undefined;
  /** Nobody asked for so many: a check that has taken its time leaves the rest out. */
  readonly mayRunFewer: boolean;
  readonly target: TargetDescription;
  readonly curl: CurlStyle;
  /** Of a target at a URL: what its replay lines need beside the address. */
  readonly replayFlags: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Told of each program once it has ended, in order, with its exchanges. */
  readonly onHistory?: ((history: readonly ExchangeRecord[]) => void) | undefined;
  /** Told after each program of a check how many have ended, and how many there are if nothing is found. */
  readonly onProgram?: ((check: string, done: number, of: number) => void) | undefined;
  /** Told of every namespace made, so that the end can be awaited. */
  readonly leaving: Leaving[];
}

/** Plain data, so that it can come from another thread. */
export interface CheckOutcome {
  readonly check: CheckInfo;
  readonly verdict: Verdict;
  readonly results: JudgedRequirements;
  readonly runs: number;
  /** Programs that the target was too slow for. Default 0. */
  readonly leftOut?: number | undefined;
  readonly exchanges: number;
  readonly durationMillis: number;
  readonly failure: SuiteFailure | undefined;
  /** A verb that some programs asked for and the target does not serve, as `patch of configmaps`. */
  readonly unserved?: string | undefined;
}

/** Runs all programs of one check. Never rejects: what goes wrong is a verdict. */
export async function runCheck(run: SuiteRun, check: QuickCheck): Promise<CheckOutcome> {
  const startedMillis = run.clock.nowMillis();
  const results = new JudgedRequirements();
  const missing = missingFeature(run, check);
  if (missing !== undefined) return unsupportedOutcome(check, missing);
  let exchanges = 0;
  let failedRecorder: Recorder | undefined;
  let programs = 0;
  const vacancies = new Vacancies(run.lodgings);
  const asked = programCount(run, check);
  const of = run.path === undefined ? check.programCount(asked) : 1;
  let done = 0;
  // In real time a smaller program is worth a while, and no more; where time is virtual, every report has the smallest.
  let failedMillis: number | undefined;
  const mayShrink = (): boolean => run.clock.nowMillis() - (failedMillis ?? 0) < shrinkMillisMax;
  const mayGoOn = (needed: boolean): boolean =>
    run.clock.nowMillis() - startedMillis < (needed ? neededMillisMax : drawMillisMax);
  const exploration = await check.explore(
    {
      seed: programSeed(run.seed, check.id),
      path: run.path,
      runs: asked,
      shrinks: run.shrinks,
      mayShrink: run.target.kind === "url" ? mayShrink : undefined,
      mayGoOn: run.target.kind === "url" && run.mayRunFewer ? mayGoOn : undefined,
    },
    async (body) => {
      const tryIn = async (lodging: Lodging | undefined): Promise<Error | undefined> => {
        const witness = witnessOf(run);
        const recorder = new Recorder(run.clock, witness);
        programs += 1;
        const place = { lodging, vacancies };
        const end = witnessed(await attemptOnce(run, check, programs, recorder, results, body, place), witness);
        exchanges += recorder.count;
        run.onHistory?.(recorder.records(run.curl));
        if (end instanceof CheckFailure || end instanceof HistoryExpired) failedRecorder = recorder;
        if (end instanceof CheckFailure) failedMillis ??= run.clock.nowMillis();
        return end;
      };
      // Whoever replays a program does so in namespaces of its own: what fails is tried there, and made smaller there.
      const tryOnce = async (): Promise<Error | undefined> => {
        const lodging = failedMillis === undefined ? vacancies.take() : undefined;
        const end = await tryIn(lodging);
        if (lodging === undefined || !(end instanceof CheckFailure)) return end;
        const recorder = failedRecorder;
        const alone = await tryIn(undefined);
        if (alone instanceof CheckFailure && alone.requirement === end.requirement) return alone;
        failedRecorder = recorder;
        return end;
      };
      const end = await unlessUnlucky(tryOnce);
      done += 1;
      run.onProgram?.(check.id, done, Math.max(done, of));
      return end;
    },
  );
  await leaveAll(run, check.id, vacancies.own);
  const verdict = verdictOf(exploration, results, check);
  const failure =
    exploration.decisive instanceof CheckFailure
      ? failureOf(run, check, exploration.decisive, exploration, failedRecorder as Recorder)
      : undefined;
  const durationMillis = run.clock.nowMillis() - startedMillis;
  const { runs, leftOut, unserved } = exploration;
  return {
    check: infoOf(check),
    verdict,
    results,
    runs,
    leftOut,
    exchanges,
    durationMillis,
    failure,
    unserved: unserved?.feature,
  };
}

/**
 * Again when the target's history did not last for a slow program, or a gateway did not reach the target: now and then
 * that is bad luck. A program begins anew in a namespace of its own: the write that got no answer stays one of which
 * nothing is known.
 */
async function unlessUnlucky(tryOnce: () => Promise<Error | undefined>): Promise<Error | undefined> {
  let end = await tryOnce();
  for (let again = 1; again < triesMax && isUnlucky(end); again++) end = await tryOnce();
  return end instanceof HistoryExpired ? (end.failure ?? end) : end;
}

const isUnlucky = (end: Error | undefined): boolean =>
  end instanceof HistoryExpired || (end instanceof LostAnswer && isUnreached(end));

const isUnreached = ({ exchange: { status = 0, headers } }: LostAnswer): boolean => isOfGateway({ status, headers });

const triesMax = 3;
const shrinkMillisMax = 10_000;
/** So long a check may take by URL before it leaves out what is drawn, and before it leaves out all that is left. */
const drawMillisMax = 30_000;
const neededMillisMax = 120_000;

const witnessOf = ({ law, rows }: SuiteRun): Witness =>
  new Witness((requirement) => isOfLaw(law, rows.get(requirement)));

/** What held for the check may have shown something that must hold everywhere, and does not. */
export function witnessed(end: Error | undefined, { first }: Witness): Error | undefined {
  if (first === undefined || end instanceof CheckFailure || end instanceof Cancelled) return end;
  return new CheckFailure(first.requirement, first.violation, first.exchange);
}

/** A check that has captured what must grow old. `settle` judges it, not later than the deadline. */
export interface AgingCheck {
  readonly check: AgedCheck;
  settle(deadlineMillis: number): Promise<CheckOutcome>;
}

export async function captureCheck(run: SuiteRun, check: AgedCheck): Promise<AgingCheck> {
  const missing = missingFeature(run, check);
  if (missing !== undefined) return { check, settle: async () => unsupportedOutcome(check, missing) };
  const startedMillis = run.clock.nowMillis();
  const results = new JudgedRequirements();
  const tries: Capture[] = [];
  const close = async ({ recorder, client, attempt }: Capture): Promise<void> => {
    await finish(run, check, client, attempt.target);
    run.onHistory?.(recorder.records(run.curl));
  };
  const captureEnd = await unlessUnlucky(async () => {
    const before = tries.at(-1);
    if (before !== undefined) await close(before);
    const capture = captureOf(run, check, tries.length + 1, results);
    tries.push(capture);
    return endOf(run, async () => {
      capture.settle = await check.begin(capture.attempt);
    });
  });
  const capture = tries.at(-1) as Capture;
  return {
    check,
    async settle(deadlineMillis) {
      const { recorder, attempt } = capture;
      // What was captured is still there: it is judged again where it is.
      const settleOnce = () => endOf(run, async () => capture.settle?.(attempt, deadlineMillis));
      const end = witnessed(captureEnd ?? (await unlessUnlucky(settleOnce)), capture.witness);
      await close(capture);
      const exploration = {
        runs: 1,
        leftOut: 0,
        decisive: end,
        unserved: end instanceof Unserved ? end : undefined,
        path: "",
        counterexample: null,
        counterexampleText: "",
        shrinks: 0,
      };
      const verdict = verdictOf(exploration, results, check);
      const unserved = exploration.unserved?.feature;
      const failure = end instanceof CheckFailure ? failureOf(run, check, end, exploration, recorder) : undefined;
      const durationMillis = run.clock.nowMillis() - startedMillis;
      const exchanges = tries.reduce((sum, each) => sum + each.recorder.count, 0);
      return { check: infoOf(check), verdict, results, runs: 1, exchanges, durationMillis, failure, unserved };
    },
  };
}

interface Capture {
  readonly recorder: Recorder;
  readonly witness: Witness;
  readonly client: Client;
  readonly attempt: Attempt;
  settle?: Awaited<ReturnType<AgedCheck["begin"]>>;
}

function captureOf(run: SuiteRun, check: AgedCheck, program: number, results: JudgedRequirements): Capture {
  const witness = witnessOf(run);
  const recorder = new Recorder(run.clock, witness);
  const client = programClient(run, check, program, recorder);
  return { recorder, witness, client, attempt: attemptOf(run, client, results, program) };
}

async function attemptOnce(
  run: SuiteRun,
  check: Check,
  program: number,
  recorder: Recorder,
  results: JudgedRequirements,
  body: (attempt: Attempt) => Promise<void>,
  { lodging, vacancies }: { readonly lodging: Lodging | undefined; readonly vacancies: Vacancies },
): Promise<Error | undefined> {
  const client = programClient(run, check, program, recorder);
  const attempt = attemptOf(run, client, results, program, lodging);
  const end = await endOf(run, () => body(attempt));
  // What a failure has left behind is evidence, and of unknown extent.
  const mayStay = run.target.kind === "url" && end === undefined && recorder.droppedCount === 0;
  await finish(run, check, client, attempt.target, async (cleaner) => {
    const exchanges = recorder.all();
    if (!mayStay || !(await vacated(cleaner, exchanges, attempt.target.lodging, run.furnishing))) return false;
    vacancies.give(attempt.target.lodging, exchanges);
    return true;
  });
  return end;
}

/** Nobody lives there any more: a check is done, or all are. */
export async function leaveAll(run: SuiteRun, check: string, lodgings: readonly Lodging[]): Promise<void> {
  const { transport, clock, names } = run;
  const cleaner = new Client(transport, clock, new Recorder(clock), userAgentOf(run, check, 0));
  for (const lodging of lodgings) append(run.leaving, await new Sandbox(cleaner, names, { lodging }).cleanUp(cleaner));
}

function attemptOf(
  run: SuiteRun,
  client: Client,
  results: JudgedRequirements,
  program: number,
  lodging?: Lodging,
): Attempt {
  const { transport, clock, furnishing } = run;
  const aside = new Client(transport, clock, new Recorder(clock), `touchstone/1 (run ${run.names.runId}; lodging)`);
  const onNamespace = (name: string): Promise<void> => awaitFurnished(aside, name, furnishing);
  const sandbox = new Sandbox(client, run.names, { lodging, onNamespace });
  const passes = program % passesEvery === 1 ? urlPassMillis : 0;
  const passMillis = run.target.kind === "url" ? passes : Number.POSITIVE_INFINITY;
  const { profile, features, webhooks, nodes, access } = run;
  return new Attempt(client, sandbox, profile, features, results, webhooks, nodes, passMillis, access);
}

/** More than a second, which is what times of objects are told in. */
const urlPassMillis = 1100;
/** By a real clock only some programs let time pass; one that is replayed is the first. */
const passesEvery = 8;

/** The signal ends a program at its next request; cleanup has a client that does not know it. */
async function endOf(run: SuiteRun, body: () => Promise<void>): Promise<Error | undefined> {
  if (run.signal?.aborted === true) return new Cancelled(whyStopped(run.signal));
  try {
    await body();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function finish(
  run: SuiteRun,
  check: Check,
  client: Client,
  sandbox: Sandbox,
  keep: (cleaner: Client) => Promise<boolean> = async () => false,
): Promise<void> {
  client.closeWatches();
  const { transport, clock } = run;
  const cleaner = new Client(transport, clock, new Recorder(clock), userAgentOf(run, check.id, 0));
  append(run.leaving, await sandbox.cleanUp(cleaner, () => keep(cleaner)));
}

function programClient(run: SuiteRun, check: Check, program: number, recorder: Recorder): Client {
  const { transport, clock, signal } = run;
  return new Client(transport, clock, recorder, userAgentOf(run, check.id, program), signal, endWhereUnserved);
}

/** A server's log can be joined to the report by this; what comes before the first slash names the field manager. */
const userAgentOf = (run: SuiteRun, check: string, program: number): string =>
  `touchstone/1 (run ${run.names.runId}; check ${check}; program ${program})`;

function programCount(run: SuiteRun, check: QuickCheck): number {
  const isTenth = check.cost === "heavy" || (check.cost === "slow" && run.target.kind !== "embedded");
  return isTenth ? Math.max(1, Math.ceil(run.runs / 10)) : run.runs;
}

function missingFeature(run: SuiteRun, check: Check): string | undefined {
  return check.features.find((feature) => run.features.get(feature)?.supported === false);
}

function unsupportedOutcome(check: Check, feature: string): CheckOutcome {
  const verdict: Verdict = { status: "unsupported", feature };
  const results = new JudgedRequirements();
  return { check: infoOf(check), verdict, results, runs: 0, exchanges: 0, durationMillis: 0, failure: undefined };
}

function verdictOf(
  { decisive: end, runs, unserved }: Pick<Exploration, "decisive" | "runs" | "unserved">,
  results: JudgedRequirements,
  check: Check,
): Verdict {
  if (end instanceof CheckFailure) return { status: "failed", ...end.violation };
  if (end instanceof Unsupported) return { status: "unsupported", feature: end.feature };
  if (end instanceof Inconclusive || end instanceof Cancelled) return { status: "inconclusive", why: end.message };
  if (end?.name === "LostAnswer") return { status: "inconclusive", why: end.message };
  if (end !== undefined) return { status: "error", cause: end.stack ?? end.message };
  const judgedSome = check.requirements.some((id) => results.judged.has(id)) || results.deviationsOccurred.size > 0;
  if (!judgedSome && unserved !== undefined) return { status: "unsupported", feature: unserved.feature };
  if (runs < 1 || !judgedSome) return { status: "inconclusive", why: `${runs} programs ran and judged nothing` };
  return { status: "passed", runs };
}

function failureOf(
  run: SuiteRun,
  check: Check,
  end: CheckFailure,
  exploration: Exploration,
  recorder: Recorder,
): SuiteFailure {
  const row = run.rows.get(end.requirement);
  const shown = shownExchange(recorder.all(), end.exchange ?? recorder.last(), end.violation.actual);
  return {
    apiVersion: suiteReportVersion,
    kind: "SuiteFailure",
    finding: findingId(end.requirement, check.id),
    check: check.id,
    requirement: end.requirement,
    level: row?.level ?? "must",
    promised: row?.text ?? "",
    ...end.violation,
    target: run.target,
    profile: run.profile.name,
    seed: run.seed,
    path: exploration.path,
    counterexample: plain(exploration.counterexample),
    counterexampleText: exploration.counterexampleText,
    shrinks: exploration.shrinks,
    replay: replayLine(run, check, exploration.path),
    curl: shown === undefined ? "" : curlLine(shown.request, run.curl),
    again:
      shown === undefined
        ? undefined
        : againLines(recorder.all(), shown, run.names.runId, run.curl, end.violation.actual),
    history: recorder.records(run.curl),
    historyDropped: recorder.droppedCount,
  };
}

/** As the report's JSON will have it. */
function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value) ?? "null");
}

function replayLine(run: SuiteRun, check: Check, path: string): string {
  const isUrl = run.target.kind === "url";
  const isFiled = run.replayFlags.includes("--svcconfig"); // then the file says where
  const address = isUrl && !isFiled ? [run.target.address] : [];
  const words = ["npx", "touchstone", "conform", ...address, ...(isUrl ? run.replayFlags : [])];
  words.push("--profile", run.profile.name, "--only", check.id, "--seed", String(run.seed));
  if (run.law !== "observed") words.push("--law", run.law);
  if (path !== "") words.push("--path", path);
  return words.join(" ");
}
