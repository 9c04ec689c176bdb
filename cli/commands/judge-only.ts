/** `touchstone replay --judge-only`: the history of a failure file is judged again, and no server is asked anything. */
import process from "node:process";
import { z } from "zod";
import { judgeAgain, type JudgedAgain } from "../../conformance/judge-again.ts";
import type { ReplayOptions } from "../command-line.ts";
import { failureHead, readFailureFile } from "../flags/failure-file.ts";
import { connectionFlagOf } from "../targets/suite-target.ts";
import { painter } from "../output/terminal.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

const headers = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** What is judged, and what was found then. */
const judgedFile = failureHead.extend({
  target: z.object({ version: z.string().optional() }).optional(),
  history: z.array(
    z.object({
      index: z.int(),
      began: z.int(),
      ended: z.int().optional(),
      sentAtMillis: z.number(),
      endedAtMillis: z.number().optional(),
      method: z.string(),
      path: z.string(),
      requestHeaders: z.record(z.string(), z.string()),
      requestBody: z.string().optional(),
      status: z.int().optional(),
      responseHeaders: headers,
      responseBody: z.string(),
      arrivals: z.array(z.object({ place: z.int(), atMillis: z.number() })).optional(),
      lost: z.string().optional(),
      curl: z.string(),
    }),
  ),
  historyDropped: z.int().min(0),
});

/** The document that `--json` prints. `same` and `other` are failures; `lawful`: the judges of this version find nothing. */
export interface JudgeOnlyResult {
  readonly result: "same" | "other" | "lawful" | "unknown";
  /** One or two sentences for a person. */
  readonly explanation: string;
}

export async function judgeOnly(options: ReplayOptions): Promise<ExitCode> {
  const flag = connectionFlagOf(options);
  if (flag !== undefined) {
    throw new UsageError(
      `--judge-only asks no server anything, and ${flag} says how to reach one: leave one of them out.`,
    );
  }
  const recorded = readFailureFile(options.file, judgedFile);
  // Absent fields of the file are undefined in a record.
  const history = recorded.history.map((exchange) => ({
    ...exchange,
    ended: exchange.ended,
    endedAtMillis: exchange.endedAtMillis,
    requestBody: exchange.requestBody,
    status: exchange.status,
    lost: exchange.lost,
  }));
  const outcome = resultOf(recorded, await judgeAgain({ ...recorded, history }));
  const tone = { same: "bad", other: "bad", lawful: "good", unknown: "doubtful" } as const;
  const text = painter(process.stdout)(tone[outcome.result], outcome.explanation);
  process.stdout.write(options.json ? `${JSON.stringify(outcome, undefined, 2)}\n` : `${text}\n`);
  return exitCodeOf[outcome.result];
}

const exitCodeOf: Readonly<Record<JudgeOnlyResult["result"], ExitCode>> = {
  same: exitCodes.targetFailed,
  other: exitCodes.targetFailed,
  lawful: exitCodes.good,
  unknown: exitCodes.inconclusive,
};

type Judged = z.infer<typeof judgedFile>;

export function resultOf(
  recorded: Pick<Judged, "requirement" | "expected" | "actual">,
  again: JudgedAgain,
): JudgeOnlyResult {
  if (again.result === "unknown")
    return { result: "unknown", explanation: `The history cannot be judged again: ${again.why}.` };
  if (again.result === "lawful") {
    return { result: "lawful", explanation: "The judges of this version find nothing wrong with the history." };
  }
  const { requirement, violation } = again;
  const found = `${requirement}: expected ${violation.expected}; actual ${violation.actual}`;
  const isSame =
    requirement === recorded.requirement &&
    violation.expected === recorded.expected &&
    violation.actual === recorded.actual;
  return isSame
    ? { result: "same", explanation: `The history breaks the same promise. ${found}` }
    : { result: "other", explanation: `The history is judged otherwise now. ${found}` };
}
