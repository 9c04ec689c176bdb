/**
 * The suite's one way in: everything is reached through two ports, a transport and a clock, so the same checks
 * judge an embedded server on virtual time and a URL on real time. A run may be cut into parts, each against a target
 * of its own: `planSuite`, `runPart` for each share of the checks, `reportOf`.
 */
import type { CurlStyle } from "./client/exchange.ts";
import { randomBytes } from "node:crypto";
import type {
  ExchangeRecord,
  SuiteLaw,
  SuiteLevel,
  SuiteOptionsRecord,
  SuiteReport,
  TargetDescription,
} from "../reports/schema/suite-report.ts";
import type { NodeHost } from "../wire/node-host.ts";
import type { AccessHosts, SuiteClock, Transport, WebhookHost } from "../wire/ports.ts";
import { allChecks } from "./checks/index.ts";
import { profileFor, suiteProfiles } from "./profiles/index.ts";
import { type Requirement, readRequirements } from "./requirements/rows.ts";
import { assembleReport } from "./runner/assemble-report.ts";
import type { Check } from "./runner/define-check.ts";
import { makePlan, type Plan, type Selection, type Shard } from "./runner/plan.ts";
import { runChecks, type SuitePart } from "./runner/run-part.ts";
import type { SuiteProgress } from "./runner/progress.ts";
export type { SuiteProgress } from "./runner/progress.ts";

export type { SuitePart } from "./runner/run-part.ts";

/** What to judge, and how thoroughly. */
export interface SuiteSelection {
  /** Name of a profile in `conformance/profiles`. */
  readonly profile: "svc" | "kubernetes";
  /** 32-bit integer. Each check draws its programs from this and its own name. Default 1. */
  readonly seed?: number;
  /** Path of one shrunk program below the seed; needs `only` with exactly one check. */
  readonly path?: string;
  /**
   * Programs a property, ≥ 1. Default 100 embedded, 20 by URL and at the level quick. By URL a check that takes its
   * time leaves some out, unless they are asked for here.
   */
  readonly runs?: number;
  /** False: a program that fails is told as it was drawn. Default true: smaller ones are looked for. */
  readonly shrinks?: boolean;
  /**
   * Checks at a time, ≥ 1. By URL: 8 by default, since most of them mostly wait. An embedded target's virtual time is not shared: there the caller cuts
   * the run, into threads, by default one for each core up to 4.
   */
  readonly jobs?: number;
  /** Checks, requirements or areas (`watch`, `watch.reliable`, `watch-replays-*`); `*` stands for any characters. Default all. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** `must` leaves out what the documents do not promise. Default `observed`: the whole law of the profile. */
  readonly law?: SuiteLaw;
  /** `quick` runs fewer programs embedded, and by URL does not wait for expiry. Default `full`. */
  readonly level?: SuiteLevel;
  /** Of the checks, every `count`-th from `index`, which counts from 1: reports of all shares can be merged. Default all. */
  readonly shard?: Shard | undefined;
  /** How long expiry may take on the suite's clock, in milliseconds, before it is inconclusive. Default 15 minutes. */
  readonly maxWaitMillis?: number;
}

export interface SuiteOptions extends SuiteSelection {
  readonly transport: Transport;
  readonly clock: SuiteClock;
  /** Where the target can reach webhooks of the suite. Default: nowhere, and what needs one is unsupported. */
  readonly webhooks?: WebhookHost | undefined;
  /** Runs nodes of the suite in the target. Default: none, and what needs one is unsupported. */
  readonly nodes?: NodeHost | undefined;
  /** What the target's configuration files name as the suite's. Default: nothing, and what needs it is unsupported. */
  readonly hosts?: AccessHosts | undefined;
  /** Makes the target forget its history once all else is judged. Rejects with a reason. Default: expiry is waited for. */
  readonly compact?: (() => Promise<void>) | undefined;
  readonly targetKind: "embedded" | "url";
  /** Base URL for curl and replay lines. Default for an embedded target: `$SERVER`. */
  readonly address?: string;
  /** What a command line needs beside the address to reach the target, for replay lines. Default nothing. */
  readonly replayFlags?: readonly string[];
  /** What curl lines need beside the address, for example `-H "Authorization: Bearer $TOKEN"`. Default nothing. */
  readonly curl?: Omit<CurlStyle, "address">;
  /** Passed through to the report, so that the caller can make the same target again. */
  readonly targetDetails?: unknown;
  /** Told into every object name, so that two runs never meet. Default: from the seed when embedded, random by URL. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SuiteProgress) => void;
  /** Told of each program once it has ended, with its exchanges: whether it failed or not. */
  readonly onHistory?: ((history: readonly ExchangeRecord[]) => void) | undefined;
}

/** Options that make no sense: nothing was run. */
export class SuiteUsageError extends Error {
  override readonly name = "SuiteUsageError";
}

/** What will be run, and by which settings. */
export interface SuitePlan {
  readonly rows: ReadonlyMap<string, Requirement>;
  readonly plan: Plan;
  readonly settings: SuiteOptionsRecord;
  readonly seed: number;
}

/** Runs the selected checks and returns the report. Rejects with `SuiteUsageError` when the options make no sense. */
export async function runSuite(options: SuiteOptions): Promise<SuiteReport> {
  const planned = planSuite(options);
  const tell = options.onProgress ?? (() => {});
  tell({ kind: "planned", checks: planned.plan.checks.length, requirements: planned.plan.requirements.length });
  const part = await runPart(options, planned, planned.plan.checks);
  return reportOf(options, planned, [part]);
}

/** Throws `SuiteUsageError`. */
export function planSuite(options: SuiteSelection & Pick<SuiteOptions, "targetKind">): SuitePlan {
  const rows = readRequirements();
  const settings = settingsOf(options);
  const plan = planOf(rows, {
    ...settings,
    shard: options.shard,
    aged: judgesExpiry(settings.level, options.targetKind),
  });
  if (plan.checks.length + plan.skipped.length === 0) {
    throw new SuiteUsageError("no check matches: nothing would be proven");
  }
  if (options.path !== undefined && plan.checks.length !== 1) {
    throw new SuiteUsageError("a path needs exactly one check");
  }
  return { rows, plan, settings, seed: options.seed ?? 1 };
}

/** An embedded target forgets at once, since its time is virtual. */
export function judgesExpiry(level: SuiteLevel, targetKind: SuiteOptions["targetKind"]): boolean {
  return level === "full" || targetKind === "embedded";
}

function planOf(rows: ReadonlyMap<string, Requirement>, selection: Selection): Plan {
  try {
    return makePlan(rows, allChecks, selection);
  } catch (error) {
    throw new SuiteUsageError((error as Error).message);
  }
}

/** Runs some of the planned checks against one target. What it finds is plain data, and may come from another thread. */
export function runPart(options: SuiteOptions, planned: SuitePlan, checks: readonly Check[]): Promise<SuitePart> {
  const { transport, clock, webhooks, nodes, hosts, targetKind } = options;
  const address = options.address ?? "$SERVER";
  return runChecks(
    {
      transport,
      clock,
      webhooks,
      nodes,
      hosts,
      rows: planned.rows,
      law: planned.settings.law,
      profile: suiteProfiles[options.profile],
      runId: options.runId ?? (targetKind === "embedded" ? `e${planned.seed >>> 0}` : randomRunId()),
      seed: planned.seed,
      path: options.path,
      runs: planned.settings.runs,
      shrinks: options.shrinks,
      mayRunFewer: options.runs === undefined,
      target: { kind: targetKind, address, details: options.targetDetails ?? null },
      curl: { flags: [], ...options.curl, address },
      replayFlags: options.replayFlags ?? [],
      signal: options.signal,
      jobs: targetKind === "embedded" ? 1 : planned.settings.jobs,
      maxWaitMillis: planned.settings.maxWaitMillis,
      compact: options.compact,
      onHistory: options.onHistory,
    },
    checks,
    options.onProgress ?? (() => {}),
  );
}

/** One report of all parts, in the order of the plan, whatever the order in which they ended. */
export function reportOf(
  options: Pick<SuiteOptions, "profile" | "targetKind" | "address" | "targetDetails" | "signal">,
  { rows, plan, settings, seed }: SuitePlan,
  parts: readonly SuitePart[],
): SuiteReport {
  const outcomes = new Map(parts.flatMap((part) => part.outcomes).map((outcome) => [outcome.check.id, outcome]));
  const [first] = parts;
  const target: TargetDescription = first?.target ?? {
    kind: options.targetKind,
    address: options.address ?? "$SERVER",
    version: undefined,
    details: options.targetDetails ?? null,
  };
  return assembleReport({
    plan,
    rows,
    outcomes: plan.checks.map((check) => outcomes.get(check.id)).filter((outcome) => outcome !== undefined),
    profile: profileFor(options.profile, target.version),
    features: first?.features ?? new Map(),
    target,
    seed,
    options: settings,
    cancelled: options.signal?.aborted === true,
    // An embedded server is gone with all that was made there. The parts of a run may meet the same object at a URL.
    leftovers: target.kind === "embedded" ? [] : [...new Set(parts.flatMap((part) => part.leftovers))],
    startedMillis: first?.startedMillis ?? 0,
    durationMillis: parts.reduce((sum, part) => sum + part.durationMillis, 0),
  });
}

/** Checks at a time when nobody says how many. */
export const jobsByUrl = 8;

/** Programs a property when nobody says how many. With fewer than 20, some never come to the point of judging. */
const runsDefault = (level: SuiteLevel, embedded: boolean): number => (embedded && level === "full" ? 100 : 20);

function settingsOf(options: SuiteSelection & Pick<SuiteOptions, "targetKind">): SuiteOptionsRecord {
  const embedded = options.targetKind === "embedded";
  const level = options.level ?? "full";
  const { shard } = options;
  return {
    ...(shard === undefined ? {} : { shard: `${shard.index}/${shard.count}` }),
    runs: options.runs ?? runsDefault(level, embedded),
    jobs: options.jobs ?? (embedded ? 1 : jobsByUrl),
    only: options.only ?? [],
    skip: options.skip ?? [],
    law: options.law ?? "observed",
    level,
    maxWaitMillis: options.maxWaitMillis ?? 15 * 60_000,
  };
}

function randomRunId(): string {
  return randomBytes(4).toString("hex");
}
