/** `touchstone replay`: one recorded failure again, and whether it is the same one that comes back. */
import process from "node:process";
import { z } from "zod";
import { renderFailure } from "../../reports/render/text.ts";
import { isCapsule } from "../../reports/schema/capsule.ts";
import type { SuiteFailure, SuiteReport } from "../../reports/schema/suite-report.ts";
import type { ReplayOptions } from "../command-line.ts";
import { parseEmbeddedDetails } from "../targets/embedded.ts";
import { failureHead, readFailureFile } from "../flags/failure-file.ts";
import { onInterrupt } from "../output/interrupt.ts";
import { judgeOnly } from "./judge-only.ts";
import { connectionFlagOf, runSuiteOn, runsUntil, type SuiteTarget } from "../targets/suite-target.ts";
import { type Exchanged, firstParting } from "./replay-parting.ts";
import { painter } from "../output/terminal.ts";
import { fileJson } from "../flags/file-text.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

/** What of a failure file is needed to make the failure again and to know it. */
export const recordedFailure = failureHead.extend({
  target: z.object({
    kind: z.enum(["embedded", "url"]),
    address: z.string(),
    version: z.string().optional(),
    details: z.unknown(),
  }),
  /** Only read to show where a target that has changed answers otherwise. */
  history: z
    .array(
      z.object({
        method: z.string(),
        path: z.string(),
        status: z.int().optional(),
        responseBody: z.string(),
      }),
    )
    .default([]),
});

type RecordedFailure = z.infer<typeof recordedFailure>;

/** What came of it. `same` and `other` are failures of the target; `gone` and `unknown` claim nothing about its past. */
export interface ReplayResult {
  readonly result: "same" | "other" | "gone" | "unknown";
  /** One or two sentences for a person. */
  readonly explanation: string;
  readonly failure: SuiteFailure | undefined;
}

export async function replay(options: ReplayOptions): Promise<ExitCode> {
  const document = jsonIn(options.file);
  if (isCapsule(document))
    return (await import("./replay-capsule.ts")).replayCapsule(document, options.file, options.json);
  if (options.judgeOnly) return judgeOnly(options);
  const recorded = readFailureFile(options.file, recordedFailure);
  const { signal, stopListening } = onInterrupt("Stopping.");
  try {
    const outcome = await makeAgain(recorded, targetOf(recorded, options), signal);
    process.stdout.write(options.json ? `${JSON.stringify(outcome, undefined, 2)}\n` : textOf(outcome));
    return exitCodeOfResult[outcome.result];
  } finally {
    stopListening();
  }
}

/** Runs the recorded program against the target, and compares what comes with the record. */
export async function makeAgain(
  recorded: RecordedFailure,
  target: SuiteTarget,
  signal: AbortSignal,
): Promise<ReplayResult> {
  let history: readonly Exchanged[] = [];
  // Whether a rare bug shows hangs on every request before: all programs up to the recorded one are run.
  const isRare = target.kind === "embedded" && target.details.rarity !== undefined;
  const once = (): Promise<SuiteReport> =>
    runSuiteOn(target, {
      profile: recorded.profile,
      seed: recorded.seed,
      only: [recorded.check],
      signal,
      onHistory: (latest) => {
        history = latest;
      },
      ...(recorded.path === "" ? {} : isRare ? { runs: runsUntil(recorded.path) } : { path: recorded.path }),
    });
  const judged = async (): Promise<ReplayResult> =>
    judgeReplay(recorded, await once(), firstParting(recorded.history, history));
  let outcome = await judged();
  // In real time a bug may need its moment, and may show otherwise at another: what was not the same is tried again.
  for (let again = 1; target.kind === "url" && again < triesMax && isDoubtful(outcome); again += 1) {
    const next = await judged();
    if (next.result === "same" || (next.result === "other" && outcome.result === "gone")) outcome = next;
  }
  return outcome;
}

/** Undefined for what is no JSON: whoever needs it says so. */
function jsonIn(file: string): unknown {
  try {
    return fileJson(file);
  } catch {
    return undefined;
  }
}

const triesMax = 5;

const isDoubtful = ({ result }: ReplayResult): boolean => result === "gone" || result === "other";

const exitCodeOfResult: Readonly<Record<ReplayResult["result"], ExitCode>> = {
  same: exitCodes.targetFailed,
  other: exitCodes.targetFailed,
  gone: exitCodes.good,
  unknown: exitCodes.inconclusive,
};

function targetOf({ target }: RecordedFailure, options: ReplayOptions): SuiteTarget {
  if (target.kind === "url") {
    // The file says where the server is now: its address may have changed since the failure was recorded.
    return { kind: "url", url: options.svcconfig === undefined ? target.address : undefined, connection: options };
  }
  const flag = connectionFlagOf(options);
  if (flag !== undefined) {
    throw new UsageError(
      `${flag} says how to reach a server, and ${options.file} is of the embedded server: leave the flag out.`,
    );
  }
  const details = parseEmbeddedDetails(target.details);
  if (details === undefined) {
    throw new UsageError(
      `${options.file}: target.details: this version's embedded server has other switches. Replay it with the version that wrote it.`,
    );
  }
  return { kind: "embedded", details };
}

/**
 * Compares what came back with what was recorded. Names and versions count up, so numbers are not compared. `parting`
 * says where the target answered otherwise than it did then.
 */
export function judgeReplay(recorded: RecordedFailure, report: SuiteReport, parting?: string): ReplayResult {
  const check = report.checks.find(({ id }) => id === recorded.check);
  const failure = check?.failure;
  const changed = changeOf(recorded, report) + (parting === undefined ? "" : ` ${parting}`);
  if (failure !== undefined) {
    const isSamePromise = failure.requirement === recorded.requirement;
    const isAlike = alike(failure.expected, recorded.expected) && alike(failure.actual, recorded.actual);
    if (isSamePromise && isAlike) return { result: "same", explanation: "The same failure came back.", failure };
    // At a URL, what the program met in between depends on the moment; the promise that it breaks does not.
    return isSamePromise && recorded.target.kind === "url"
      ? {
          result: "same",
          explanation: `The same failure came back: ${recorded.requirement} is broken, in other words than recorded, which were expected ${recorded.expected}, actual ${recorded.actual}.${changed}`,
          failure,
        }
      : {
          result: "other",
          explanation: `Another failure came: recorded were ${recorded.requirement}, expected ${recorded.expected}, actual ${recorded.actual}.${changed}`,
          failure,
        };
  }
  const status = check?.verdict.status;
  if (status === "passed") {
    const doubt =
      report.target.kind === "url"
        ? " A server at a URL has state of its own: that it is gone now does not say that it is mended."
        : "";
    return {
      result: "gone",
      explanation: `Not reproduced: ${recorded.check} passed.${changed}${doubt}`,
      failure,
    };
  }
  const why =
    check?.verdict.status === "inconclusive"
      ? check.verdict.why
      : check?.verdict.status === "error"
        ? check.verdict.cause
        : (status ?? "the check was not run");
  return { result: "unknown", explanation: `${recorded.check} came to no verdict: ${why}.${changed}`, failure };
}

function changeOf(recorded: RecordedFailure, report: SuiteReport): string {
  const { version } = report.target;
  if (version === undefined || version === recorded.target.version) return ""; // not reached is not changed
  return ` The target has changed: it was ${recorded.target.version ?? "of unknown version"} and is ${version ?? "of unknown version"} now.`;
}

/** What differs from run to run: uids, the names of a run, versions, times and other counts. */
const masked = (text: string): string =>
  text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|touchstone-[a-z0-9]+(-\d+)*|\d+/g, "0");

/** Evidence is cut at a length, so that what follows longer names is missing at the end. */
function alike(one: string, other: string): boolean {
  const [a, b] = [masked(one), masked(other)];
  const length = Math.min(a.length, b.length);
  return a === b || (length > cutMin && a.slice(0, length - cutMax) === b.slice(0, length - cutMax));
}

const cutMin = 200;
const cutMax = 60;

function textOf({ result, explanation, failure }: ReplayResult): string {
  const paint = painter(process.stdout);
  const tone = result === "gone" ? "good" : result === "unknown" ? "doubtful" : "bad";
  const shown = failure === undefined ? "" : `\n${renderFailure(failure, { paint })}\n`;
  return `${paint(tone, explanation)}\n${shown}`;
}
