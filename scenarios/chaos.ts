/**
 * A plan of chaos: what a server on a socket does to its clients, row by row. How often is a share of requests, or a time
 * between two occurrences; all of it is drawn from a seed. Written by hand, so a field that nothing reads is a mistake.
 */
import { z } from "zod";
import { duration, positiveDuration, ratio, span } from "./values.ts";

interface VerbRow {
  /** Which requests it happens to. */
  readonly meets: "all" | "watches" | "updates";
  readonly means: string;
}

/** Every verb, in the order in which editors offer them. */
export const chaosVerbs = {
  late: { meets: "all", means: "The answer, and each event of a watch, comes so much later." },
  cut: {
    meets: "all",
    means:
      "The connection breaks: before the request is done (request), once it is done and before its answer (answer), or in the middle of the answer (half).",
  },
  endWatch: { meets: "watches", means: "The watch ends in good order, so long after it began." },
  cutWatch: { meets: "watches", means: "The watch's connection breaks, so long after it began." },
  expire: {
    meets: "watches",
    means:
      "A watch from a version is refused with 410. With `every`: each open watch is told 410 as well, when it is time.",
  },
  conflict: {
    meets: "updates",
    means: "An update is answered 409, and nothing is done, as if somebody had been quicker.",
  },
  throttle: { meets: "all", means: "429, and how long to wait before asking again, in whole seconds." },
  stale: {
    meets: "all",
    means: "The request goes to a front-end whose caches are so far behind. What it may answer from a cache is old.",
  },
} as const satisfies Record<string, VerbRow>;

export type ChaosVerb = keyof typeof chaosVerbs;
const verbNames = Object.keys(chaosVerbs) as ChaosVerb[];

const requestVerbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
const names = z.array(z.string().min(1).max(253)).min(1).max(100);

const where = z
  .strictObject({
    verbs: z.array(z.enum(requestVerbs)).min(1).optional(),
    resources: names.optional().describe("Such as pods, or deployments.apps with the group."),
    namespaces: names.optional(),
    agents: names.optional().describe("How the client's User-Agent begins."),
  })
  .describe("Which requests. Default: all that are about resources.");

const wholeSeconds = span.refine(({ min, max }) => min % 1_000_000 === 0 && max % 1_000_000 === 0 && min > 0, {
  error: "expected whole seconds above zero, such as 1s or 1s..10s",
});

const fields = {
  late: span.optional().describe(chaosVerbs.late.means),
  cut: z.enum(["request", "answer", "half"]).optional().describe(chaosVerbs.cut.means),
  endWatch: span.optional().describe(chaosVerbs.endWatch.means),
  cutWatch: span.optional().describe(chaosVerbs.cutWatch.means),
  expire: z.literal(true).optional().describe(chaosVerbs.expire.means),
  conflict: z.literal(true).optional().describe(chaosVerbs.conflict.means),
  throttle: wholeSeconds.optional().describe(chaosVerbs.throttle.means),
  stale: span.optional().describe(chaosVerbs.stale.means),
  rate: ratio.optional().describe("The share of requests that it happens to. Default: all."),
  where: where.optional(),
  from: duration.optional().describe("Not before this, from the server's start on."),
  to: positiveDuration.optional().describe("Not at or after this."),
  every: span.optional().describe("It comes in storms: so long from the beginning of one to the next."),
  for: span.optional().describe("How long a storm lasts."),
};

/** Storms closer together would be no storms. */
const everyMicrosMin = 100_000;

const chaosRow = z
  .strictObject(fields)
  .superRefine((row, context) => {
    const add = (key: string | undefined, message: string): void =>
      context.addIssue({ code: "custom", path: key === undefined ? [] : [key], message });
    const given = verbNames.filter((verb) => row[verb] !== undefined);
    const [verb] = given;
    if (verb === undefined) return add(undefined, `says nothing that happens: give one of ${verbNames.join(", ")}`);
    if (given.length > 1) return add(given[1], `one row has one verb, and ${verb} is there already`);
    if (row.every === undefined && row.for !== undefined) add("for", "belongs to `every`, which is not there");
    if (row.every !== undefined && row.for === undefined && verb !== "expire")
      add(undefined, "says not how long: give `for` beside `every`");
    if (row.every !== undefined && row.every.min < everyMicrosMin)
      add("every", "expected 100ms at least between two storms");
    if (row.from !== undefined && row.to !== undefined && row.from >= row.to) add("to", "is over before it begins");
    const verbs = row.where?.verbs;
    const meets: VerbRow["meets"] = chaosVerbs[verb].meets;
    const isMet = verbs === undefined || verbs.some((name) => canMeet(meets, name));
    if (!isMet) add("where", `${verb} happens to none of these verbs`);
  })
  .transform((row) => ({ ...row, verb: verbNames.find((name) => row[name] !== undefined) as ChaosVerb }));

/** Whether a row's verb happens to requests of this verb. */
export function canMeet(meets: VerbRow["meets"], requestVerb: string): boolean {
  if (meets === "all") return true;
  if (meets === "updates") return requestVerb === "update" || requestVerb === "patch";
  return requestVerb === "watch";
}

export const chaosSchema = z.strictObject({
  apiVersion: z.literal("chaos/v1"),
  name: z.string().min(1).max(63),
  faults: z.array(chaosRow).min(1).max(100),
});

export type ChaosPlan = z.infer<typeof chaosSchema>;
export type ChaosRow = ChaosPlan["faults"][number];
