/**
 * A scenario file: who is there, what goes wrong and when, and what must hold by when. Written by hand, so every
 * mistake is told with its place; a field that nothing reads is a mistake too.
 */
import { z } from "zod";
import { parseDuration } from "../wire/durations.ts";

/** What links and clients call the server. */
export const serverName = "apiserver";

const secondsLimit = 365 * 86_400;

function microsOf(text: string): number | undefined {
  const nanos = parseDuration(text);
  if (typeof nanos !== "bigint" || nanos < 0n || nanos > BigInt(secondsLimit) * 1_000_000_000n || nanos % 1000n !== 0n)
    return undefined;
  return Number(nanos / 1000n);
}

const durationRule = "expected a duration of whole microseconds such as 5ms, 30s or 1m30s";

/** A duration as text, in microseconds once read. */
const duration = z
  .string({ error: durationRule })
  .refine((text) => microsOf(text) !== undefined, { error: durationRule })
  .transform((text) => microsOf(text) as number);

const positiveDuration = z
  .string({ error: `${durationRule}, above zero` })
  .refine((text) => (microsOf(text) ?? 0) > 0, { error: `${durationRule}, above zero` })
  .transform((text) => microsOf(text) as number);

function rangeOf(text: string): { min: number; max: number } | undefined {
  const [low = "", high = low, ...more] = text.split("..");
  const min = microsOf(low);
  const max = microsOf(high);
  return min === undefined || max === undefined || min > max || more.length > 0 ? undefined : { min, max };
}

const latencyRule = "expected a latency such as 5ms, or a range such as 5ms..20ms";

/** `5ms` or `5ms..20ms`. */
const latency = z
  .string({ error: latencyRule })
  .refine((text) => rangeOf(text) !== undefined, { error: latencyRule })
  .transform((text) => rangeOf(text) as { min: number; max: number });

/** A place on the network: a DNS label. */
const place = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, { error: "expected a name of lower-case letters, digits and hyphens" })
  .max(63);

const namespace = place.default("default");

const informer = z.strictObject({
  name: place,
  kind: z.literal("informer"),
  namespace,
});

const writer = z.strictObject({
  name: place,
  kind: z.literal("writer"),
  namespace,
  every: positiveDuration.describe("Time between two writes."),
  until: positiveDuration.optional().describe("When it stops. Default: never."),
  objects: z.int().min(1).max(1000).default(5).describe("How many names it writes to."),
});

const between = z.tuple([place, place]);

const fault = z.union([
  z.strictObject({ at: duration, partition: between }),
  z.strictObject({ at: duration, heal: between }),
  z.strictObject({ at: duration, compact: z.literal(serverName) }),
  z.strictObject({ at: duration, crash: place }),
]);

/** What can be expected, and what it means. */
export const expectations = {
  "informer.converges": "Every informer holds exactly what the server holds.",
  "watch.expired-is-gone":
    "A watch from a version that is no longer retained was told 410; none was served with a gap.",
  "watch.ordered": "The versions of the events of each watch rise.",
  "watch.reliable": "Each watch had every change since its version.",
} as const;

export type ExpectationName = keyof typeof expectations;

const expectation = z.strictObject({
  by: positiveDuration,
  requirement: z.enum(Object.keys(expectations) as [ExpectationName, ...ExpectationName[]]),
});

export const scenarioSchema = z
  .strictObject({
    apiVersion: z.literal("scenarios/v1"),
    name: place,
    seed: z.int().min(0).max(4_294_967_295),
    until: positiveDuration.describe("Length of the run in virtual time."),
    profile: z.enum(["svc", "kubernetes"]).default("svc"),
    cluster: z
      .strictObject({
        historyWindow: positiveDuration.default(300_000_000),
        controllers: z.boolean().default(true).describe("Whether the controllers that live in the server run."),
      })
      .prefault({}),
    network: z
      .strictObject({
        latency: latency.default({ min: 0, max: 0 }).describe("Of each message, each way."),
        detect: positiveDuration.default(45_000_000).describe("How long an end takes to notice that a link is broken."),
      })
      .prefault({}),
    clients: z.array(z.discriminatedUnion("kind", [informer, writer])).min(1),
    faults: z.array(fault).default([]),
    expect: z.array(expectation).min(1),
  })
  .superRefine((scenario, context) => {
    const names = new Set([serverName]);
    for (const [index, { name }] of scenario.clients.entries()) {
      if (names.has(name))
        context.addIssue({ code: "custom", path: ["clients", index, "name"], message: `the name ${name} is taken` });
      names.add(name);
    }
    const known = (name: string, path: (string | number)[]): void => {
      if (names.has(name)) return;
      context.addIssue({
        code: "custom",
        path,
        message: `nobody is called ${name}; there are ${[...names].join(", ")}`,
      });
    };
    for (const [index, row] of scenario.faults.entries()) {
      const path = ["faults", index];
      if (row.at >= scenario.until)
        context.addIssue({ code: "custom", path: [...path, "at"], message: "the run is over by then" });
      if ("crash" in row) known(row.crash, [...path, "crash"]);
      const ends = "partition" in row ? row.partition : "heal" in row ? row.heal : [];
      for (const [end, name] of ends.entries()) known(name, [...path, "partition" in row ? "partition" : "heal", end]);
    }
    for (const [index, row] of scenario.expect.entries()) {
      if (row.by > scenario.until)
        context.addIssue({ code: "custom", path: ["expect", index, "by"], message: "the run is over by then" });
    }
  });

export type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioClient = Scenario["clients"][number];
export type ScenarioFault = Scenario["faults"][number];
