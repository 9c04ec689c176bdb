/**
 * Exchanges recorded from live servers of the real implementation (1.33, and what 1.36 answers otherwise), one file a
 * topic, in the order sent. Names are the neutral brand's; `brand.ts` translates. Every topic has a fresh namespace, `${ns}`.
 */
import type { FeatureGates, ProfileName } from "../contract/profile.ts";
import type { Json } from "../contract/http-message.ts";
import customResources from "./exchanges/custom-resources.json" with { type: "json" };
import deletion from "./exchanges/deletion.json" with { type: "json" };
import discovery from "./exchanges/discovery.json" with { type: "json" };
import dryRun from "./exchanges/dry-run.json" with { type: "json" };
import events from "./exchanges/events.json" with { type: "json" };
import fieldValidation from "./exchanges/field-validation.json" with { type: "json" };
import gatesDeletion from "./exchanges/gates-deletion.json" with { type: "json" };
import gatesExpiry from "./exchanges/gates-expiry.json" with { type: "json" };
import gatesNegotiation from "./exchanges/gates-negotiation.json" with { type: "json" };
import gatesWatch from "./exchanges/gates-watch.json" with { type: "json" };
import lists from "./exchanges/lists.json" with { type: "json" };
import negotiation from "./exchanges/negotiation.json" with { type: "json" };
import objects from "./exchanges/objects.json" with { type: "json" };
import patch from "./exchanges/patch.json" with { type: "json" };
import v136 from "./exchanges/v136.json" with { type: "json" };
import watch from "./exchanges/watch.json" with { type: "json" };

/** One request. `send` is method, space, path with query; `${…}` stands for a captured value. */
export interface Step {
  readonly id: string;
  readonly send: string;
  /** An empty value leaves out a header that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: Json;
  /** Instead of `body`: a list of so many equal elements. */
  readonly items?: { readonly count: number; readonly each: Json };
  /** Name → path of the value in the answer's body, for later steps. */
  readonly captures?: Readonly<Record<string, string>>;
  /** Bearer token; `none` sends no credentials. Default: the administrator's. */
  readonly as?: string;
  readonly waitBeforeMillis?: number;
  /** The answer is a stream, read for so long. */
  readonly watchMillis?: number;
  /** Sent one after another while the stream is open. */
  readonly meanwhile?: readonly Step[];
  /** Absent: the answer was not published; the step still runs, since later ones build on it. */
  readonly expect?: Answer;
}

/** What came back, masked. One of `body`, `text` and `events`; none when the body is in a binary encoding. */
export interface Answer {
  readonly status: number;
  /** Headers that say more than the usual ones; a repeated header is joined by commas. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
  readonly events?: readonly Json[];
}

export interface Topic {
  readonly topic: string;
  /** The profile that the recorded server was of. */
  readonly profile: ProfileName;
  /** Feature gates that the recorded server had on beside its defaults. */
  readonly gates: readonly (keyof FeatureGates)[];
  /** Time between two compactions of the recorded server. */
  readonly historyMillis: number;
  readonly steps: readonly Step[];
}

const fiveMinutes = 300_000;
const of133 = { profile: "kubernetes-1.33", gates: [], historyMillis: fiveMinutes } as const;
const of136 = { ...of133, profile: "kubernetes-1.36" } as const;
const allGates = ["WatchList", "CBORServingAndStorage", "AllowUnsafeMalformedObjectDeletion"] as const;

const whole = [
  objects,
  lists,
  watch,
  deletion,
  patch,
  fieldValidation,
  dryRun,
  negotiation,
  events,
  customResources,
  discovery,
] as readonly (Sequence & { readonly topic: string })[];

export const topics: readonly Topic[] = [
  ...whole.map((file) => ({ ...of133, ...file })),
  ...whole.map((file) => ({
    ...of136,
    topic: `1.36-${file.topic}`,
    steps: overlaid((v136 as Readonly<Record<string, Overlay["expect"]>>)[file.topic] ?? {}, file),
  })),
  gated(gatesWatch as Overlay, watch as Sequence),
  gated(gatesDeletion as Overlay, deletion as Sequence),
  gated(gatesNegotiation as Overlay, negotiation as Sequence),
  { ...of133, ...(gatesExpiry as Sequence & { topic: string }), gates: allGates, historyMillis: 8_000 },
];

interface Sequence {
  readonly steps: readonly Step[];
}

/** The same steps elsewhere: only answers that differ are written down; null for one that shows other recordings. */
interface Overlay {
  readonly topic: string;
  readonly expect: Readonly<Record<string, Answer | null>>;
}

/** With the gates on. */
function gated({ topic, expect }: Overlay, base: Sequence): Topic {
  return { ...of133, topic, gates: allGates, historyMillis: 8_000, steps: overlaid(expect, base) };
}

function overlaid(expect: Overlay["expect"], { steps }: Sequence): Step[] {
  return steps.map((step) => {
    const { expect: _, ...unjudged } = step;
    const override = expect[step.id];
    if (override === null) return unjudged;
    return override === undefined ? step : { ...unjudged, expect: override };
  });
}
