/**
 * A scenario file: who is there, what goes wrong and when, and what must hold by when. Written by hand, so every
 * mistake is told with its place; a field that nothing reads is a mistake too.
 */
import { z } from "zod";
import { accessSection } from "./access.ts";
import { clientRow } from "./clients.ts";
import { expectationNames, invariantNames, markNames } from "./expectations.ts";
import { faultRow } from "./fault-rows.ts";
import { checkScenario } from "./scenario-rules.ts";
import { duration, latency, place, positiveDuration } from "./values.ts";

const serverOptions = z.strictObject({ lag: duration.default(0).describe("How far its caches are behind the store.") });

const cluster = z.strictObject({
  apiservers: z
    .union([z.int().min(1).max(9), z.array(serverOptions).min(1).max(9)])
    .default(1)
    .describe(
      "How many servers stand on the store, or a row for each. One is called apiserver, several apiserver-1, apiserver-2 …",
    ),
  historyWindow: positiveDuration.default(300_000_000).describe("How long old versions stay readable."),
  eventTtl: positiveDuration.default(3_600_000_000).describe("How long an event is kept."),
  controllers: z.boolean().default(true).describe("Whether the controllers that live in the server run."),
  objects: z
    .array(z.record(z.string(), z.json()))
    .default([])
    .describe("What is there from the beginning, created in order."),
});

const network = z.strictObject({
  latency: latency.default([{ percent: 100, span: { min: 0, max: 0 } }]).describe("Of each message, each way."),
  detect: positiveDuration.default(45_000_000).describe("How long an end takes to notice that a link is broken."),
});

const requestPattern = /^GET \/\S*$/;
const statusRow = z.strictObject({
  by: positiveDuration,
  request: z
    .string()
    .regex(requestPattern, { error: "expected a request such as GET /api/v1/namespaces/default/configmaps/a" }),
  status: z.int().min(100).max(599).default(200),
  holds: z
    .record(z.string(), z.json())
    .optional()
    .describe("Fields that the answer has, with these values; it may have more."),
});
const lastAnswerRow = z.strictObject({
  by: positiveDuration,
  client: place.describe("A caller, whose last answer by then is meant."),
  status: z.int().min(100).max(599),
});
const heardRow = z.strictObject({
  by: positiveDuration,
  place: place.describe("An issuer, a webhook or the collector."),
  heard: z
    .union([z.int().min(0), z.strictObject({ atLeast: z.int().min(0).default(0), atMost: z.int().min(0).optional() })])
    .describe("How many calls have come in by then; of a collector, how many spans it has taken."),
});
const requirementRow = z.strictObject({
  by: positiveDuration,
  requirement: z.enum([...expectationNames, ...invariantNames]),
});

export const scenarioSchema = z
  .strictObject({
    apiVersion: z.literal("scenarios/v1"),
    name: place,
    seed: z.int().min(0).max(4_294_967_295).default(1).describe("Seed of a run that is given no other."),
    until: positiveDuration.describe("Length of the run in virtual time."),
    safety: positiveDuration
      .optional()
      .describe(
        "From here on everything is healed and nothing more goes wrong. Default: faults may come until the end.",
      ),
    profile: z.enum(["svc", "kubernetes"]).default("svc"),
    mode: z
      .enum(["lite", "swarm", "performance"])
      .default("lite")
      .describe(
        "lite: faults at the rates that are written. swarm: each rate drawn from the seed, some faults left out. performance: no faults.",
      ),
    budget: z
      .strictObject({
        atOnce: z.int().min(1).max(1000).default(1000).describe("Faults that last, at the same time."),
        total: z.int().min(0).max(100_000).default(100_000),
      })
      .prefault({}),
    cluster: cluster.prefault({}),
    network: network.prefault({}),
    access: accessSection.prefault({}),
    clients: z.array(clientRow).min(1).max(1000),
    faults: z.array(faultRow).max(10_000).default([]),
    expect: z.array(z.union([requirementRow, statusRow, lastAnswerRow, heardRow])).default([]),
    invariants: z
      .union([z.literal("all"), z.literal("none"), z.array(z.enum(invariantNames))])
      .default("all")
      .describe("What is judged after every event."),
    sometimes: z
      .array(z.enum(markNames))
      .default([])
      .describe("What must happen in some run of a hunt, or it tested nothing."),
    regress: z
      .strictObject({
        bug: place.describe("The planted bug that this scenario finds."),
        breaks: z.enum([...expectationNames, ...invariantNames]).describe("What it breaks."),
        gates: z.array(z.string()).default([]).describe("Feature gates that it needs."),
      })
      .optional(),
  })
  .superRefine(checkScenario);

export type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioClient = Scenario["clients"][number];
export type ClientOf<Kind extends ScenarioClient["kind"]> = Extract<ScenarioClient, { readonly kind: Kind }>;
export type ScenarioExpectation = Scenario["expect"][number];
