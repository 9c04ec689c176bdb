/**
 * The published form of a suite report, for readers of files: parsing checks every field that a renderer needs, and
 * the JSON schema in this folder is made of it. The types in `suite-report.ts` are the same, for programs.
 */
import { z } from "zod";
import { type SuiteFailure, type SuiteReport, suiteReportVersion } from "./suite-report.ts";
import { outcomeStatuses, type Outcome } from "./verdict.ts";

/** As JSON has it: what is undefined is not there. */
export type AsJson<T> = T extends readonly (infer Item)[]
  ? readonly AsJson<Item>[]
  : T extends object
    ? { readonly [K in keyof T as undefined extends T[K] ? never : K]: AsJson<T[K]> } & {
        readonly [K in keyof T as undefined extends T[K] ? K : never]?: AsJson<T[K]>;
      }
    : T;

const texts = z.array(z.string());
const count = z.int().min(0);
const millis = z.number();

const level = z
  .enum(["must", "should", "may", "observed"])
  .describe("How strong the promise is; observed: the documents are silent, the known implementation does it.");

const source = z.object({
  document: z.int().optional().describe("Number of the document; absent when the source is an observation."),
  clause: z.string(),
});

const target = z.object({
  kind: z.enum(["embedded", "url"]),
  address: z.string().describe("Base URL, or what stands for it in curl lines."),
  version: z.string().optional().describe("What /version answered."),
  protocol: z.string().optional(),
  details: z.unknown().optional().describe("Whatever is needed to make an embedded target again."),
});

const verdicts = [
  z.object({ status: z.literal("passed"), runs: z.int().min(1) }),
  z.object({ status: z.literal("failed"), expected: z.string(), actual: z.string() }),
  z.object({ status: z.literal("inconclusive"), why: z.string() }),
  z.object({ status: z.literal("unsupported"), feature: z.string() }),
  z.object({ status: z.literal("skipped"), why: z.string() }),
  z.object({ status: z.literal("error"), cause: z.string() }),
] as const;

export const verdictSchema = z.discriminatedUnion("status", [...verdicts]);

const outcome = z.discriminatedUnion("status", [
  ...verdicts,
  z.object({ status: z.literal("deviation"), deviations: texts.min(1) }),
]) satisfies z.ZodType<Outcome>;

const headers = z.record(z.string(), z.union([z.string(), texts]));

const exchange = z.object({
  index: count,
  began: z.number().describe("Place in the one order of sendings and answers."),
  ended: z.number().optional(),
  sentAtMillis: millis,
  endedAtMillis: millis.optional(),
  method: z.string(),
  path: z.string(),
  requestHeaders: z.record(z.string(), z.string()),
  requestBody: z.string().optional(),
  status: z.int().optional().describe("Absent: no answer is known."),
  responseHeaders: headers,
  responseBody: z.string(),
  arrivals: z
    .array(z.object({ place: z.number(), atMillis: millis }))
    .optional()
    .describe("Of a watch: when each document of the body was complete."),
  lost: z.string().optional(),
  curl: z.string(),
});

export const suiteFailureSchema = z
  .object({
    apiVersion: z.literal(suiteReportVersion),
    kind: z.literal("SuiteFailure"),
    finding: z.string().describe("The same in every run that finds this: requirement/check."),
    check: z.string(),
    requirement: z.string(),
    level,
    promised: z.string(),
    expected: z.string(),
    actual: z.string(),
    target,
    profile: z.string(),
    seed: count,
    path: z.string().describe("Of the shrunk program below the seed; empty for a check without random input."),
    counterexample: z.unknown().optional(),
    counterexampleText: z.string(),
    shrinks: count,
    replay: z.string().describe("A command line that runs just this program again."),
    curl: z.string(),
    again: texts
      .optional()
      .describe(
        "Shell lines that bring the failure about anew; empty: only a replay does; absent: curl does as it stands.",
      ),
    history: z.array(exchange).describe("Every exchange of the shrunk program, oldest first."),
    historyDropped: count,
  })
  .describe("One failure, with everything that is needed to make it again.") satisfies z.ZodType<AsJson<SuiteFailure>>;

const requirement = z.object({
  id: z.string().describe("area.word; it outlives versions of the documents."),
  level,
  source,
  text: z.string(),
  checks: texts,
  outcome,
  evidence: texts.describe("Files of the report directory."),
});

const check = z.object({
  id: z.string(),
  area: z.string(),
  property: z.string(),
  requirements: texts,
  verdict: verdictSchema,
  deviations: texts,
  runs: count,
  leftOut: z.int().min(1).optional().describe("Programs left out, since the target was too slow for them."),
  exchanges: count,
  durationMillis: millis,
  failure: suiteFailureSchema.optional(),
});

const notJudged = z.object({
  id: z.string(),
  level,
  source,
  text: z.string(),
  judged: z.enum(["simulation", "process", "pending", "no", "level"]).describe("Who could judge it instead."),
  why: z.string(),
});

const deviation = z.object({
  name: z.string(),
  requirement: z.string(),
  reason: z.string(),
  instead: z.string(),
  status: z.enum(["occurred", "stale", "unjudged"]),
});

const baseline = z
  .object({
    file: z.string(),
    gate: z.enum(["passed", "failed", "inconclusive", "error"]),
    entries: z.array(
      z.object({ finding: z.string(), reason: z.string(), status: z.enum(["occurred", "stale", "unjudged"]) }),
    ),
    unexpected: texts.describe("Findings that no entry names."),
    hidden: texts.describe("Requirements that stay unproven because a check of theirs ended at an expected finding."),
  })
  .describe("What a file of expected failures makes of the run.");

const totals = z.object({
  requirements: z.record(z.enum(outcomeStatuses), count),
  checks: z.record(z.enum(["passed", "failed", "inconclusive", "unsupported", "skipped", "error"]), count),
  deviations: z.record(z.enum(["occurred", "stale", "unjudged"]), count),
  runs: count,
  exchanges: count,
});

export const suiteReportSchema = z
  .object({
    apiVersion: z.literal(suiteReportVersion),
    kind: z.literal("SuiteReport"),
    conclusion: z.enum(["conformant", "nonconformant", "inconclusive", "error"]),
    complete: z.boolean().describe("False when the run was cut short: what is here is true, but it is not all."),
    partial: z.boolean().describe("True when the run was told to leave requirements out."),
    target,
    profile: z.string(),
    seed: count,
    options: z.object({
      shard: z.string().optional().describe("i/n: this run had the i-th of n shares of the checks."),
      runs: count,
      jobs: count,
      only: texts,
      skip: texts,
      law: z.enum(["must", "observed"]),
      level: z.enum(["quick", "full"]),
      maxWaitMillis: millis,
    }),
    features: z.array(z.object({ feature: z.string(), supported: z.boolean(), how: z.string() })),
    requirements: z.array(requirement),
    notJudged: z.array(notJudged),
    checks: z.array(check),
    deviations: z.array(deviation),
    baseline: baseline.optional(),
    totals,
    leftovers: texts.describe("Objects that cleanup could not remove in time, as paths."),
    startedAt: z.string().describe("RFC 3339, of the suite's clock: virtual when the target is embedded."),
    durationMillis: millis.describe("On the suite's clock: virtual when the target is embedded."),
  })
  .describe("What a run of the conformance suite found.") satisfies z.ZodType<AsJson<SuiteReport>>;
