/** Where two servers answer the same programs differently, as one JSON document. */
import { z } from "zod";
import { suiteReportVersion } from "./suite-report.ts";
import type { AsJson } from "./suite-report-schema.ts";

export const diffReportVersion = suiteReportVersion;

export interface DiffReport {
  readonly apiVersion: typeof diffReportVersion;
  readonly kind: "DiffReport";
  readonly conclusion: "same" | "different" | "inconclusive";
  /** False when the run was cut short. */
  readonly complete: boolean;
  /** How the two are called on the command line, flags included. */
  readonly a: string;
  readonly b: string;
  readonly seed: number;
  /** Programs a topic. */
  readonly runs: number;
  readonly topics: readonly TopicResult[];
  /** One for each cause, in the order in which they were met. */
  readonly differences: readonly Difference[];
  /** Why programs could not be compared, each reason once. */
  readonly undecided: readonly string[];
  /** Paths of what could not be removed, by side. */
  readonly leftovers: { readonly a: readonly string[]; readonly b: readonly string[] };
}

export interface TopicResult {
  readonly topic: string;
  readonly programs: number;
  /** Of these, programs that one of the servers did not play to the end. */
  readonly undecided: number;
}

export interface Difference {
  /** What differs, and how: the same for all answers that are grouped here. */
  readonly cause: string;
  readonly topic: string;
  /** Programs in which it was met. */
  readonly programs: number;
  /** Whether it came back when the smallest program was played once more. */
  readonly steady: boolean;
  /** The cause of an earlier difference of the same program that could not be left out: this may follow from it. */
  readonly follows: string | undefined;
  /** Of the smallest program found: the steps before the one that shows it, and that one, last. */
  readonly program: readonly DiffStep[];
  /** Where the cause was seen, and what stands there. */
  readonly path: DiffPlace["path"];
  readonly a: DiffPlace["a"];
  readonly b: DiffPlace["b"];
  /** All places in which the two answers to the last step part, in their order: the first twenty. */
  readonly places: readonly DiffPlace[];
  /** Of these places, with those that are not told. */
  readonly placesCount: number;
  /** Both answers, masked. */
  readonly answers: { readonly a: DiffAnswer; readonly b: DiffAnswer };
  /** A command line that meets it again. */
  readonly replay: string;
}

/** One place of an answer in which two servers part. */
export interface DiffPlace {
  /** `status`, `header warning`, `items[0].metadata.name`, `items[1…]` for what is between equal elements; empty: the whole body. */
  readonly path: string;
  /** What stands there, as JSON, cut when long; undefined where there is nothing. */
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** References in braces stand for what a server has said before: `{version:a}`, `{continue}`. */
export interface DiffStep {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Another's bearer token, or no credentials at all. Default: those of the run. */
  readonly as?: "nobody" | { readonly token: string } | undefined;
  /** Asked again until the answer had this text in it, or 10 s were over. */
  readonly until?: string | undefined;
  /** Likewise, until the answer had this text in it no more. */
  readonly untilWithout?: string | undefined;
}

export interface DiffAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A run that compared nothing, or not everything, is never the same. A difference that did not come back decides nothing. */
export function conclusionOf(report: Omit<DiffReport, "conclusion" | "apiVersion" | "kind">): DiffReport["conclusion"] {
  if (report.differences.some(({ steady }) => steady)) return "different";
  const compared = report.topics.reduce((sum, { programs, undecided }) => sum + programs - undecided, 0);
  const doubtful = !report.complete || compared === 0 || report.undecided.length > 0 || report.differences.length > 0;
  return doubtful ? "inconclusive" : "same";
}

const texts = z.array(z.string());
const count = z.int().min(0);
const shown = z.string().optional().describe("As JSON, cut when long; absent where there is nothing.");
const place = z.object({
  path: z.string().describe("status, header NAME, or a path within the body; empty: the whole body."),
  a: shown,
  b: shown,
});
const answer = z.object({ status: count, headers: z.record(z.string(), z.string()), body: z.unknown() });
const step = z.object({
  what: z.string(),
  method: z.string(),
  path: z.string(),
  query: z.record(z.string(), z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  as: z
    .union([z.literal("nobody"), z.object({ token: z.string() })])
    .optional()
    .describe("Other credentials than those of the run."),
  until: z.string().optional().describe("Asked again until the answer had this text in it, or 10 s were over."),
  untilWithout: z.string().optional().describe("Likewise, until the answer had this text in it no more."),
});

export const diffReportSchema = z
  .object({
    apiVersion: z.literal(diffReportVersion),
    kind: z.literal("DiffReport"),
    conclusion: z.enum(["same", "different", "inconclusive"]),
    complete: z.boolean().describe("False when the run was cut short."),
    a: z.string().describe("How this side is called on the command line, flags included."),
    b: z.string(),
    seed: count,
    runs: count.describe("Programs a topic."),
    topics: z.array(
      z.object({
        topic: z.string(),
        programs: count,
        undecided: count.describe("Of these, programs that one of the servers did not play to the end."),
      }),
    ),
    differences: z.array(
      z.object({
        cause: z.string().describe("What differs, and how: the same for all answers that are grouped here."),
        topic: z.string(),
        programs: count.describe("In which it was met."),
        steady: z.boolean().describe("Whether it came back when the smallest program was played once more."),
        follows: z.string().optional().describe("Cause of an earlier difference that this one may follow from."),
        program: z.array(step).describe("The smallest found; its last step shows the difference."),
        ...place.shape,
        places: z.array(place).describe("All places in which the answers to the last step part: the first twenty."),
        placesCount: count.describe("Of these places, with those that are not told."),
        answers: z.object({ a: answer, b: answer }).describe("To the last step, masked."),
        replay: z.string().describe("A command line that meets it again."),
      }),
    ),
    undecided: texts.describe("Why programs could not be compared, each reason once."),
    leftovers: z.object({ a: texts, b: texts }).describe("Paths of what could not be removed."),
  })
  .describe("Where two servers answer the same programs differently.") satisfies z.ZodType<AsJson<DiffReport>>;
