/** One part of a run: some checks against one target, from the probe to the cleanup. */
import type { Dialect } from "../../wire/dialect.ts";
import type { TargetDescription } from "../../reports/schema/suite-report.ts";
import type { Verdict } from "../../reports/schema/verdict.ts";
import { Client, LostAnswer, whyStopped } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { isApiObject, isJsonObject, type Json } from "../client/types.ts";
import type { SuiteProgress } from "./progress.ts";
import type { AccessHosts } from "../../wire/ports.ts";
import { type AccessDesks, JudgedRequirements } from "./attempt.ts";
import { type Check, infoOf, type QuickCheck } from "./define-check.ts";
import { unfitTarget } from "./preflight.ts";
import { watchfulTransport } from "./watchful-transport.ts";
import { detectFeatures, type Features } from "./features.ts";
import { type AgingCheck, type CheckOutcome, captureCheck, leaveAll, runCheck, type SuiteRun } from "./run-check.ts";
import { profileFor } from "../profiles/index.ts";
import { Furnishing, furnishingOf } from "./lodging.ts";
import { remove } from "./remove.ts";
import { detectAccess } from "./access-features.ts";
import { ReviewDesk } from "./review-desk.ts";
import { type Leaving, type NameSource, runLabel } from "./sandbox.ts";
import { TokenDesk } from "./token-desk.ts";

/** Plain data: it can be told from one thread to another. */
export interface SuitePart {
  readonly target: TargetDescription;
  readonly features: Features;
  readonly outcomes: readonly CheckOutcome[];
  /** Paths of what cleanup could not remove. */
  readonly leftovers: readonly string[];
  /** Of the suite's clock. */
  readonly startedMillis: number;
  readonly durationMillis: number;
}

export interface PartOptions
  extends Omit<SuiteRun, "names" | "features" | "furnishing" | "lodgings" | "leaving" | "target" | "access"> {
  readonly target: Omit<TargetDescription, "version">;
  readonly runId: string;
  /** Default: the target's configuration files name nothing of the suite's. */
  readonly hosts?: AccessHosts | undefined;
  /** Checks at a time. */
  readonly jobs: number;
  readonly maxWaitMillis: number;
  readonly compact: (() => Promise<void>) | undefined;
}

type Tell = (progress: SuiteProgress) => void;

export async function runChecks(options: PartOptions, checks: readonly Check[], tell: Tell): Promise<SuitePart> {
  const { clock, runId, jobs, maxWaitMillis, compact, hosts, ...shared } = options;
  const access = desksAt(hosts); // before anything is waited for: the target may ask at any time
  const isEmbedded = options.target.kind === "embedded";
  const transport = isEmbedded ? options.transport : watchfulTransport(options.transport, clock);
  const startedMillis = clock.nowMillis();
  if (options.signal?.aborted === true)
    return stoppedPart(options.target, checks, startedMillis, whyStopped(options.signal));
  tell({ kind: "phase", phase: "probing" });
  const probe = await probeTarget(
    new Client(transport, clock, new Recorder(clock), `touchstone/1 (run ${runId}; probe)`),
    options.profile.dialect,
    options.webhooks !== undefined,
    access,
    runId,
  );
  const run: SuiteRun = {
    ...shared,
    transport,
    clock,
    profile: profileFor(shared.profile.name, probe.version),
    names: nameSource(runId),
    features: probe.features,
    furnishing: probe.furnishing,
    lodgings: [],
    target: { ...options.target, version: probe.version },
    leaving: [],
    // Where time is virtual nobody waits for so little, and the tale would cross to another thread.
    onProgram: isEmbedded ? undefined : (check, done, of) => tell({ kind: "program-ended", check, done, of }),
    access,
  };
  const outcomes =
    probe.unreachable === undefined
      ? await judgeAll(run, checks, { jobs, maxWaitMillis, compact }, tell)
      : checks.map((check) => unprovenOutcome(check, probe.unreachable as string));
  tell({ kind: "phase", phase: "cleaning" });
  access.tokens?.close();
  access.reviews?.close();
  const leftovers = await awaitNamespacesGone({ ...run, embedded: run.target.kind === "embedded" });
  const durationMillis = clock.nowMillis() - startedMillis;
  return { target: run.target, features: run.features, outcomes, leftovers, startedMillis, durationMillis };
}

/** What must grow old is captured first and judged last; all else runs in between. */
async function judgeAll(
  run: SuiteRun,
  checks: readonly Check[],
  { jobs, maxWaitMillis, compact }: Pick<PartOptions, "jobs" | "maxWaitMillis" | "compact">,
  tell: Tell,
): Promise<CheckOutcome[]> {
  const aging: AgingCheck[] = [];
  const outcomes = new Map<string, CheckOutcome>();
  const judge = async (check: Check, outcome: () => Promise<CheckOutcome>) => {
    tell({ kind: "check-started", check: check.id, area: check.area });
    const found = await outcome();
    outcomes.set(check.id, found);
    const { verdict, runs, failure } = found;
    tell({ kind: "check-ended", check: check.id, area: check.area, verdict, runs });
    if (failure !== undefined) tell({ kind: "finding", finding: failure.finding, level: failure.level, failure });
  };

  tell({ kind: "phase", phase: "capturing" });
  const capturedMillis = run.clock.nowMillis();
  for (const check of checks) if (check.kind === "aged") aging.push(await captureCheck(run, check));

  tell({ kind: "phase", phase: "checking" });
  const quick = checks.filter((check) => check.kind === "property");
  // In real time what waits begins first: it costs nothing while it waits, and nothing waits for it at the end.
  const queue = run.target.kind === "url" ? quick.toSorted((one, other) => waits(other) - waits(one)) : quick;
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const next = check;
      await judge(next, () => runCheck(run, next));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, worker));
  await leaveAll(run, "all", run.lodgings);

  tell({ kind: "phase", phase: "expiring" });
  const broken = aging.length === 0 || run.signal?.aborted === true ? undefined : await brokenHook(compact);
  // The wait is counted from the capture, but what is judged late still gets a moment. Nobody waits for a broken hook.
  const deadlineMillis =
    broken === undefined
      ? Math.max(capturedMillis + maxWaitMillis, run.clock.nowMillis() + 10_000)
      : run.clock.nowMillis();
  for (const captured of aging) {
    await judge(captured.check, async () => explained(await captured.settle(deadlineMillis), broken));
  }
  return checks.map((check) => outcomes.get(check.id)).filter((outcome) => outcome !== undefined);
}

const waits = ({ cost }: QuickCheck): number => Number(cost !== "quick");

/** Why the target could not be made to forget. */
async function brokenHook(compact: PartOptions["compact"]): Promise<string | undefined> {
  try {
    await compact?.();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What has expired by itself is judged all the same. */
function explained(outcome: CheckOutcome, broken: string | undefined): CheckOutcome {
  if (broken === undefined || outcome.verdict.status !== "inconclusive") return outcome;
  return { ...outcome, verdict: { status: "inconclusive", why: `${broken}; ${outcome.verdict.why}` } };
}

interface Probe {
  readonly features: Features;
  readonly furnishing: Furnishing;
  readonly version: string | undefined;
  /** Why no answer came at all; then nothing can be judged. */
  readonly unreachable: string | undefined;
}

const unproven = { features: new Map(), furnishing: new Furnishing(), version: undefined } as const;

function desksAt({ issuer, authorizer }: AccessHosts = {}): AccessDesks {
  return {
    tokens: issuer === undefined ? undefined : new TokenDesk(issuer),
    reviews: authorizer === undefined ? undefined : new ReviewDesk(authorizer),
  };
}

async function probeTarget(
  client: Client,
  dialect: Dialect,
  reachable: boolean,
  access: AccessDesks,
  runId: string,
): Promise<Probe> {
  try {
    const unfit = await unfitTarget(client);
    if (unfit !== undefined) return { ...unproven, unreachable: unfit };
    const version = await client.request("GET", "/version");
    const text = isJsonObject(version.json) ? version.json["gitVersion"] : undefined;
    const features = new Map([
      ...(await detectFeatures(client, dialect, reachable)),
      ...(await detectAccess(client, dialect, access, runId)),
    ]);
    const furnishing = await furnishingOf(client);
    return { features, furnishing, version: typeof text === "string" ? text : undefined, unreachable: undefined };
  } catch (error) {
    return { ...unproven, unreachable: (error as Error).message };
  }
}

/** A part that a person stopped before it began: the target is not even asked for its version. */
function stoppedPart(
  target: PartOptions["target"],
  checks: readonly Check[],
  startedMillis: number,
  why: string,
): SuitePart {
  return {
    target: { ...target, version: undefined },
    features: new Map(),
    outcomes: checks.map((check) => unprovenOutcome(check, why)),
    leftovers: [],
    startedMillis,
    durationMillis: 0,
  };
}

function unprovenOutcome(check: Check, why: string): CheckOutcome {
  const verdict: Verdict = { status: "inconclusive", why };
  return {
    check: infoOf(check),
    verdict,
    results: new JudgedRequirements(),
    runs: 0,
    exchanges: 0,
    durationMillis: 0,
    failure: undefined,
  };
}

/**
 * Names by number. None ends in 0: that is what the neighbour of another program's namespace is called, which has a 0 after its
 * name, and the two may be there at the same time.
 */
export function nameSource(runId: string): NameSource {
  let count = 0;
  return {
    runId,
    next() {
      count += count % 10 === 9 ? 2 : 1;
      return `touchstone-${runId}-${count}`;
    },
  };
}

type Departure = Pick<SuiteRun, "transport" | "clock" | "names" | "leaving"> & { readonly embedded: boolean };

/**
 * Cleanup has asked for the end of every namespace; this waits until they are gone. A server that does not empty
 * namespaces is helped: their objects are deleted by name, and they themselves once more. Returns the paths of what is
 * still there at the end.
 */
export async function awaitNamespacesGone(run: Departure): Promise<string[]> {
  const agent = `touchstone/1 (run ${run.names.runId}; cleanup)`;
  const client = new Client(run.transport, run.clock, new Recorder(run.clock), agent);
  const startedMillis = run.clock.nowMillis();
  let left: readonly Leaving[] = run.leaving;
  // An embedded server is thrown away with all that is left in it.
  const patienceMillis = run.embedded ? cleanupMillisMax / 10 : cleanupMillisMax;
  let helped = false;
  let answeredMillis = startedMillis;
  for (let waitMillis = 500; left.length > 0; waitMillis = Math.min(waitMillis * 1.5, 5000)) {
    const asked = await stillThere(client, run.names.runId, left);
    const nowMillis = run.clock.nowMillis();
    if (asked !== undefined) {
      left = asked;
      answeredMillis = nowMillis;
    }
    const waitedMillis = nowMillis - startedMillis;
    if (left.length === 0 || waitedMillis >= patienceMillis) break;
    if (nowMillis - answeredMillis >= silenceMillisMax) break; // it has gone: nobody would answer
    if (!helped && waitedMillis >= patienceMillis / 3) {
      helped = true;
      for (const { namespace, objects } of left) {
        for (const path of objects) await remove(client, path);
        await client.attempt("DELETE", `/api/v1/namespaces/${namespace}`); // the first word of it may never have arrived
      }
    }
    await run.clock.sleep(waitMillis);
  }
  return left.map(({ namespace }) => `/api/v1/namespaces/${namespace}`);
}

/** Undefined when no answer came. */
async function stillThere(
  client: Client,
  runId: string,
  leaving: readonly Leaving[],
): Promise<readonly Leaving[] | undefined> {
  const query = { labelSelector: `${runLabel}=${runId}` };
  const answer = await client.attempt("GET", "/api/v1/namespaces", { query });
  if (answer instanceof LostAnswer) return undefined;
  const items = isJsonObject(answer.json) ? answer.json["items"] : undefined;
  if (!Array.isArray(items)) return leaving;
  const names = new Set((items as Json[]).filter(isApiObject).map((item) => item.metadata.name));
  return leaving.filter(({ namespace }) => names.has(namespace));
}

const cleanupMillisMax = 90_000;
const silenceMillisMax = 10_000;
