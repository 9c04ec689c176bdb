/**
 * What can go wrong in a scenario, as rows: one verb, with whom it does it to; when, or how often; and what more the
 * verb takes. The table says which fields a verb reads, since a field that nothing reads is a mistake.
 */
import { z } from "zod";
import { criMethods } from "../wire/cri.ts";
import { parseFigureLie } from "../wire/figure-lie.ts";
import { misbehaviourNames } from "./access.ts";
import { clockStep, duration, latency, place, positiveDuration, ratio, span } from "./values.ts";

interface VerbRow {
  /** `pair`: two places of the network. `place`: one. `request`: what a user sends. */
  readonly takes: "pair" | "place" | "request";
  /** Fields beside the verb and its time that it reads; those with `!` it needs. */
  readonly reads: readonly string[];
  /** It lasts until it is undone: by `for`, by `heal`, or at the end of the safety phase. */
  readonly lasts: boolean;
  readonly means: string;
}

/** Every verb, in the order in which editors offer them. */
export const faultVerbs = {
  partition: {
    takes: "pair",
    reads: [],
    lasts: true,
    means: "Nothing passes between the two, either way. Each end notices after network.detect.",
  },
  cut: {
    takes: "pair",
    reads: [],
    lasts: true,
    means: "Nothing passes from the first to the second; the other way is open.",
  },
  silence: {
    takes: "pair",
    reads: [],
    lasts: true,
    means: "Half-open: nothing passes either way, and neither end notices.",
  },
  slow: { takes: "pair", reads: ["by!"], lasts: true, means: "Each message takes this much longer, either way." },
  lose: {
    takes: "pair",
    reads: ["rate!"],
    lasts: true,
    means:
      "This share of messages is lost and sent again, later each time; after eight losses in a row the connection breaks.",
  },
  duplicate: {
    takes: "pair",
    reads: ["rate!"],
    lasts: true,
    means: "This share of requests reaches the server twice, as behind a proxy that tries again.",
  },
  reorder: {
    takes: "pair",
    reads: ["rate!", "by!"],
    lasts: true,
    means: "This share of messages is held back by `by`, so that those of other connections overtake it.",
  },
  narrow: {
    takes: "pair",
    reads: ["bytesPerSecond!"],
    lasts: true,
    means: "No more than this passes in a second, each way.",
  },
  heal: { takes: "pair", reads: [], lasts: false, means: "Undoes all of the above between the two." },
  isolate: { takes: "place", reads: [], lasts: true, means: "A partition from everybody else." },
  crash: {
    takes: "place",
    reads: ["calls"],
    lasts: false,
    means:
      "The process dies and starts again, at once or after `for`. With `calls` a client dies between two of its next calls. An agent's containers go on. `store`: it dies between an acknowledgement and the next flush, and every server with it.",
  },
  compact: {
    takes: "place",
    reads: ["keep"],
    lasts: false,
    means: "Old versions are dropped, all but the last `keep`.",
  },
  forget: {
    takes: "place",
    reads: [],
    lasts: false,
    means: "The server's watch caches begin anew: no watch can start from before.",
  },
  lag: { takes: "place", reads: ["by!"], lasts: true, means: "The server's caches are this far behind the store." },
  stall: {
    takes: "place",
    reads: [],
    lasts: true,
    means: "The server's process pauses: it hears nothing of the store, and answers nobody, until this is over.",
  },
  clock: { takes: "place", reads: ["step!"], lasts: false, means: "The wall clock of the process jumps." },
  drift: {
    takes: "place",
    reads: ["step!"],
    lasts: true,
    means:
      "The wall clock of the process goes wrong by this much more each second. When it is over the clock is set right.",
  },
  reboot: {
    takes: "place",
    reads: [],
    lasts: false,
    means:
      "Of an agent: its machine goes down with all containers, and comes up with another boot id, at once or after `for`.",
  },
  press: {
    takes: "place",
    reads: ["resource!", "rate!"],
    lasts: true,
    means: "Of an agent: this share of its machine's memory, disk, inodes or process ids is used beside the pods.",
  },
  misreport: {
    takes: "place",
    reads: ["figures!", "pod"],
    lasts: true,
    means:
      "Of an agent: its runtime tells of usage what is not so, as `figures` says: of the machine, or of one `pod`. What is really used stays.",
  },
  throttle: { takes: "place", reads: ["rate!"], lasts: true, means: "This share of requests is answered 429." },
  fill: { takes: "place", reads: [], lasts: true, means: "The store is full: no write goes through." },
  restore: {
    takes: "place",
    reads: ["ago!"],
    lasts: false,
    means: "The store is put back to what it was `ago`, from a backup; servers start again on it.",
  },
  misbehave: {
    takes: "place",
    reads: ["how!", "method"],
    lasts: true,
    means:
      "An issuer, a webhook, a collector or the runtime of an agent answers as `how` says, or not at all. Of a runtime: all its calls, or those of `method`.",
  },
  delay: {
    takes: "place",
    reads: ["by!", "method"],
    lasts: true,
    means:
      "An issuer, a webhook, a collector or the runtime of an agent takes this much longer for each answer. Of a runtime: for all calls, or those of `method`.",
  },
  rotate: {
    takes: "place",
    reads: [],
    lasts: false,
    means: "The issuer signs with a new key from here on, and shows no other.",
  },
  request: { takes: "request", reads: ["body"], lasts: false, means: "A user sends this, past the network." },
} as const satisfies Record<string, VerbRow>;

export type FaultVerb = keyof typeof faultVerbs;
const verbNames = Object.keys(faultVerbs) as FaultVerb[];

/** What stands for everybody, or for one drawn from the seed. */
const anyone = z.union([place, z.literal("*"), z.literal("any")]);
const requestRule = "expected a request such as DELETE /api/v1/namespaces/default/configmaps/a";

const argumentOf: Readonly<Record<VerbRow["takes"], z.ZodType>> = {
  pair: z.tuple([anyone, anyone], { error: "expected two places, such as [informer-1, apiserver]" }),
  place: z.union([place, z.literal("any")]),
  request: z.string({ error: requestRule }).regex(/^(GET|POST|PUT|PATCH|DELETE) \/\S*$/, { error: requestRule }),
};

const timing = {
  at: duration.optional().describe("When, once."),
  every: span.optional().describe("How often: the time between two occurrences, drawn from the seed."),
  from: duration.optional().describe("With `every`: not before this. Default: from the beginning."),
  to: positiveDuration.optional().describe("With `every`: not at or after this. Default: the end of the safety phase."),
  for: span.optional().describe("How long it lasts. Default: until it is healed."),
  chance: ratio.optional().describe("How often it happens when it is time. Default: always."),
};

/** What of a machine can be used up. */
const pressedResources = ["memory", "disk", "inodes", "pids"] as const;
export type PressedResource = (typeof pressedResources)[number];

const parameters = {
  by: latency.optional(),
  rate: ratio.optional(),
  step: clockStep.optional(),
  ago: positiveDuration.optional(),
  keep: z.int().min(0).max(1_000_000).optional(),
  bytesPerSecond: z.int().min(1).max(1_000_000_000_000).optional(),
  body: z.record(z.string(), z.json()).optional(),
  how: z.enum(misbehaviourNames).optional(),
  calls: z.int().min(1).max(1_000_000).optional().describe("It dies after one of its next so many calls, drawn."),
  resource: z.enum(pressedResources).optional(),
  method: z
    .enum(criMethods.filter(({ streams }) => !streams).map(({ method }) => method))
    .optional()
    .describe("A call of the container runtime interface. Default: every one."),
  figures: z
    .string()
    .superRefine((text, context) => {
      const lie = parseFigureLie(text);
      if ("error" in lie) context.addIssue({ code: "custom", message: lie.error });
    })
    .optional()
    .describe("What figures do: stand still, are 3 times as much, lack memory (cpu, disk, processes), are old by 5m."),
  pod: z
    .string()
    .regex(/^[^/\s]+\/[^/\s]+$/, { error: "expected a namespace and a name, such as default/web-1" })
    .optional()
    .describe("Whose usage. Default: the machine's."),
};

const verbFields = Object.fromEntries(
  verbNames.map((verb) => [verb, argumentOf[faultVerbs[verb].takes].optional().describe(faultVerbs[verb].means)]),
) as Record<FaultVerb, z.ZodOptional<z.ZodType>>;

type Timing = { [Key in keyof typeof timing]: z.infer<(typeof timing)[Key]> };
type Parameters = { [Key in keyof typeof parameters]: z.infer<(typeof parameters)[Key]> };

/** A row once read: the verb apart, its places as a list (none for a request). */
export interface ScenarioFault extends Timing, Parameters {
  readonly verb: FaultVerb;
  readonly places: readonly string[];
  /** `DELETE /api/v1/…` of a request. */
  readonly request: string;
}

/** One fault of a scenario. */
export const faultRow = z
  .strictObject({ ...timing, ...verbFields, ...parameters })
  .superRefine((row, context) => {
    const add = (key: string | undefined, message: string): void =>
      context.addIssue({ code: "custom", path: key === undefined ? [] : [key], message });
    const given = verbNames.filter((verb) => row[verb] !== undefined);
    const [verb] = given;
    if (verb === undefined) return add(undefined, `says nothing that happens: give one of ${verbNames.join(", ")}`);
    if (given.length > 1) return add(given[1], `one row has one verb, and ${verb} is there already`);
    checkTiming(row as Timing, verb, add);
    checkParameters(row as Record<string, unknown>, verb, add);
    const argument = row[verb];
    if (Array.isArray(argument) && argument[0] === argument[1] && argument[0] !== "any")
      add(verb, `a link has two ends, and both are ${String(argument[0])}`);
  })
  .transform((row): ScenarioFault => {
    const verb = verbNames.find((name) => row[name] !== undefined) as FaultVerb;
    const argument = row[verb] as string | string[];
    const fields = Object.fromEntries(Object.entries(row).filter(([key]) => !(key in faultVerbs)));
    const places = Array.isArray(argument) ? argument : [argument];
    return {
      ...(fields as unknown as Timing & Parameters),
      verb,
      places: verb === "request" ? [] : places,
      request: verb === "request" ? String(argument) : "",
    };
  });

type Add = (key: string | undefined, message: string) => void;

function checkTiming(row: Timing, verb: FaultVerb, add: Add): void {
  if ((row.at === undefined) === (row.every === undefined)) {
    if (row.at === undefined) add(undefined, "says not when: give `at`, or `every` for how often");
    else add("every", "happens once `at` a time or again and again `every` so often, not both");
  }
  if (row.every === undefined && row.from !== undefined) add("from", "belongs to `every`, which is not there");
  if (row.every === undefined && row.to !== undefined) add("to", "belongs to `every`, which is not there");
  if (row.every?.max === 0) add("every", "time must pass between two occurrences");
  if (row.from !== undefined && row.to !== undefined && row.from >= row.to) add("to", "is over before it begins");
  const canLast = faultVerbs[verb].lasts || verb === "crash" || verb === "reboot";
  if (row.for !== undefined && !canLast) add("for", `${verb} is over at once and does not last`);
}

function checkParameters(row: Readonly<Record<string, unknown>>, verb: FaultVerb, add: Add): void {
  if (verb === "drift" && Number(row["step"] ?? 1000) % 1000 !== 0) add("step", "expected whole milliseconds");
  const { reads }: VerbRow = faultVerbs[verb];
  for (const key of Object.keys(parameters)) {
    const isRead = reads.includes(key) || reads.includes(`${key}!`);
    if (row[key] !== undefined && !isRead) add(key, `${verb} has no use for it`);
    if (row[key] === undefined && reads.includes(`${key}!`)) add(undefined, `${verb} needs \`${key}\``);
  }
}
