/** One direction between two places: what is wrong with it at present, and how long its next message takes. */
import { invariant } from "../kernel/invariant.ts";
import type { Roster } from "../kernel/roster.ts";
import type { Micros, Prng } from "../kernel/types.ts";

/**
 * A fixed delay, one drawn per message from [min, max], both inclusive, or a table of percentiles: `percent` of all
 * messages, less those of the row before, draw from that row's span. Integer microseconds >= 0; the last row is of 100.
 */
export type Latency = Micros | MicrosSpan | readonly { readonly percent: number; readonly span: MicrosSpan }[];

interface MicrosSpan {
  readonly min: Micros;
  readonly max: Micros;
}

/** A share of messages or requests: integers, 0 <= numerator <= denominator. */
export interface Share {
  readonly numerator: number;
  readonly denominator: number;
}

/**
 * What makes a link worse until it is taken back. Links carry streams of messages in order, as TCP does, so a message
 * that is lost is late, and one that is held back holds back those behind it on its connection, and no others.
 */
export type Disturbance =
  /** Nothing passes; both ends notice after the detection time. */
  | { readonly kind: "cut" }
  /** Nothing passes, and nobody notices: half-open. */
  | { readonly kind: "silence" }
  | { readonly kind: "slow"; readonly by: Latency }
  /** Lost messages are sent again after 200 ms, then twice that …; the eighth loss in a row breaks the connection. */
  | { readonly kind: "lose"; readonly rate: Share }
  /** A request arrives twice, as by a proxy that tries again. */
  | { readonly kind: "duplicate"; readonly rate: Share }
  | { readonly kind: "reorder"; readonly rate: Share; readonly by: Latency }
  | { readonly kind: "narrow"; readonly bytesPerSecond: number };

/** What happens to one message: for whoever draws the run, or counts. It must touch nothing. */
export interface NetworkWitness {
  /** `arrivesMicros` is undefined for one that never does. `about` says in a few words what it is. */
  message(from: string, to: string, sentMicros: Micros, arrivesMicros: Micros | undefined, about: () => string): void;
  mark(what: "message.lost" | "request.doubled"): void;
}

/** First wait before a lost message is sent again, and after how many losses in a row nobody tries any more. */
const RESEND_MICROS: Micros = 200_000;
const LOSSES_MAX = 8;

/** What crosses a link and must know when it is cut. */
export interface LinkUser {
  /** From now on nothing passes. `noticed`: the ends find out after the detection time. */
  lose(link: Link, noticed: boolean): void;
}

/** One direction between two names, with what the rules say of it at present. */
export interface Link {
  readonly from: string;
  readonly to: string;
  cut: boolean;
  latency: Latency;
  /** In the order of their coming. */
  disturbances: readonly Disturbance[];
  /** Of a narrow link: when it has passed on what it was given. */
  freeAtMicros: Micros;
  readonly prng: Prng;
  /** Who crosses it. Each crosses its counterpart as well, so both have one roster. */
  readonly users: Roster<LinkUser>;
  /** How many links there were before it. */
  readonly serial: number;
}

/** Whether a message that sets out now can arrive at all. */
export function isPassable(link: Link): boolean {
  return !link.cut && !link.disturbances.some(({ kind }) => kind === "silence");
}

/**
 * The delay of the next message on a link; undefined when it was lost so often that its connection breaks. Its `bytes`
 * are only asked for on a narrow link. A link that nothing disturbs draws what it always drew.
 */
export function drawDelay(
  link: Link,
  nowMicros: Micros,
  message: { bytes(): number },
  witness?: NetworkWitness,
): Micros | undefined {
  let delay = drawLatency(link.latency, link.prng);
  for (const what of link.disturbances) {
    if (what.kind === "slow") delay += drawLatency(what.by, link.prng);
    else if (what.kind === "reorder") {
      if (link.prng.chance(what.rate.numerator, what.rate.denominator)) delay += drawLatency(what.by, link.prng);
    } else if (what.kind === "lose") {
      let losses = 0;
      while (losses < LOSSES_MAX && link.prng.chance(what.rate.numerator, what.rate.denominator)) {
        delay += RESEND_MICROS * (1 << losses++);
        witness?.mark("message.lost");
      }
      if (losses === LOSSES_MAX) return undefined;
    } else if (what.kind === "narrow") {
      const begins = Math.max(nowMicros, link.freeAtMicros);
      link.freeAtMicros = begins + Math.ceil((message.bytes() * 1_000_000) / what.bytesPerSecond);
      delay += link.freeAtMicros - nowMicros;
    }
  }
  return delay;
}

/** Whether the next request on this link arrives twice. */
export function isDoubled(link: Link): boolean {
  let doubled = false;
  for (const what of link.disturbances) {
    if (what.kind === "duplicate" && link.prng.chance(what.rate.numerator, what.rate.denominator)) doubled = true;
  }
  return doubled;
}

function drawLatency(latency: Latency, prng: Prng): Micros {
  if (typeof latency === "number") return latency;
  if ("min" in latency) return prng.intInclusive(latency.min, latency.max);
  if (latency.length === 1) return drawLatency((latency[0] as { span: MicrosSpan }).span, prng);
  const percent = prng.intInclusive(1, 100);
  const row = latency.find((one) => percent <= one.percent) ?? latency.at(-1);
  return row === undefined ? 0 : prng.intInclusive(row.span.min, row.span.max);
}

/** Throws for what is no latency. */
export function checkLatency(latency: Latency): void {
  const spans =
    typeof latency === "number"
      ? [{ min: latency, max: latency }]
      : "min" in latency
        ? [latency]
        : latency.map(({ span }) => span);
  const valid = spans.every(
    ({ min, max }) => Number.isSafeInteger(min) && Number.isSafeInteger(max) && min >= 0 && min <= max,
  );
  invariant(valid && spans.length > 0, "a latency is an integer of microseconds, or a range of them", { latency });
}
