import { invariant } from "../kernel/invariant.ts";
import type { Cancel, Micros, Prng, Process } from "../kernel/types.ts";

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
  message(from: string, to: string, sentMicros: Micros, arrivesMicros: Micros | undefined, about: string): void;
  mark(what: "message.lost" | "request.doubled"): void;
}

/**
 * How messages fare from one place to another. `from` and `to` are names of processes or addresses; a
 * trailing `*` stands for any ending. A row gives a latency, or says that nothing passes.
 */
export type LinkRule = { readonly from: string; readonly to: string } & (
  | { readonly latencyMicros: Latency }
  | { readonly cut: true }
);

export interface NetworkOptions {
  /** First match wins. What no row matches has no latency. */
  readonly rules?: readonly LinkRule[];
  /**
   * How long an end of a connection takes to notice that the other cannot be reached. Integer > 0. Default 45 s,
   * the clients' usual 30 s without a byte and 15 s without an answer to a ping.
   * Source: kubernetes/apimachinery, pkg/util/net/http.go, HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS.
   */
  readonly detectMicros?: Micros;
}

const DETECT_MICROS_DEFAULT = 45_000_000;

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
  readonly users: Set<LinkUser>;
}

/**
 * A place on the network where a process listens. It outlives the process: after a crash the next
 * incarnation listens at the same address, and until then callers are refused.
 */
export class Address<Service> {
  readonly name: string;
  private listener: { readonly process: Process; readonly service: Service } | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Who listens now. */
  get current(): { readonly process: Process; readonly service: Service } | undefined {
    return this.listener;
  }

  /** Until the returned cancel, or until `process` crashes. */
  listen(process: Process, service: Service): Cancel {
    invariant(this.listener === undefined, "one process at a time listens at an address", { address: this.name });
    const listener = { process, service };
    this.listener = listener;
    const stop = (): void => {
      if (this.listener === listener) this.listener = undefined;
    };
    const forget = process.onCrash(stop);
    return () => {
      forget();
      stop();
    };
  }
}

/**
 * The links between named places. Each direction has its own latency and its own stream of draws, so that a
 * new link does not shift another's. A cut is a row in front of the rules, and a heal takes it away.
 */
export class Network {
  readonly detectMicros: Micros;
  /** Sees every message. Default: nobody. */
  witness: NetworkWitness | undefined;

  private readonly process: Process;
  private readonly rules: LinkRule[];
  private readonly links = new Map<string, Link>();
  private disturbed: { readonly from: string; readonly to: string; readonly what: Disturbance }[] = [];

  /** `process` lends its stream of draws and its name in the trace. */
  constructor(process: Process, options: NetworkOptions = {}) {
    this.process = process;
    this.rules = [...(options.rules ?? [])];
    this.detectMicros = options.detectMicros ?? DETECT_MICROS_DEFAULT;
    invariant(this.detectMicros > 0, "it takes time to notice a broken link", options);
    for (const rule of this.rules) if ("latencyMicros" in rule) checkLatency(rule.latencyMicros);
  }

  /** Nothing passes between the two, either way, until they are healed. What is on its way is lost. */
  partition(one: string, other: string): void {
    this.cut(one, other);
    this.cut(other, one);
  }

  /** Undoes every cut between exactly these two names, either way. */
  heal(one: string, other: string): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const index = this.rules.findIndex((rule) => "cut" in rule && rule.from === from && rule.to === to);
      if (index < 0) continue;
      this.rules.splice(index, 1);
      this.process.trace("heal", from, to);
    }
    this.applyRules();
  }

  /** Nothing passes in this one direction. Names or patterns, as in a rule; cutting twice does no more than once. */
  cut(from: string, to: string): void {
    if (this.rules.some((rule) => "cut" in rule && rule.from === from && rule.to === to)) return;
    this.rules.unshift({ from, to, cut: true });
    this.process.trace("cut", from, to);
    this.applyRules();
  }

  /** Makes a direction worse, until the returned function is called. Names or patterns, as in a rule. */
  disturb(from: string, to: string, what: Disturbance): Cancel {
    const row = { from, to, what };
    this.disturbed.push(row);
    this.process.trace(what.kind, from, to);
    this.applyRules();
    return () => {
      if (!this.disturbed.includes(row)) return;
      this.disturbed = this.disturbed.filter((other) => other !== row);
      this.process.trace("heal", from, to);
      this.applyRules();
    };
  }

  link(from: string, to: string): Link {
    const key = JSON.stringify([from, to]);
    let link = this.links.get(key);
    if (link === undefined) {
      const prng = this.process.prng.stream(from).stream(to);
      link = { from, to, cut: false, latency: 0, disturbances: [], freeAtMicros: 0, prng, users: new Set() };
      this.applyRulesTo(link);
      this.links.set(key, link);
    }
    return link;
  }

  /** Links are few and disturbances are rare: all are looked up again. */
  private applyRules(): void {
    for (const link of this.links.values()) {
      const wasPassable = isPassable(link);
      const wasCut = link.cut;
      this.applyRulesTo(link);
      if (link.cut && !wasCut) for (const user of [...link.users]) user.lose(link, true);
      else if (wasPassable && !isPassable(link)) for (const user of [...link.users]) user.lose(link, false);
    }
  }

  private applyRulesTo(link: Link): void {
    const rule = this.rules.find(({ from, to }) => matches(from, link.from) && matches(to, link.to));
    link.disturbances = this.disturbed
      .filter(({ from, to }) => matches(from, link.from) && matches(to, link.to))
      .map(({ what }) => what);
    link.cut = (rule !== undefined && "cut" in rule) || link.disturbances.some(({ kind }) => kind === "cut");
    const calm = this.rules.find(
      (row) => "latencyMicros" in row && matches(row.from, link.from) && matches(row.to, link.to),
    );
    link.latency = calm !== undefined && "latencyMicros" in calm ? calm.latencyMicros : 0;
  }
}

/** Whether a message that sets out now can arrive at all. */
export function isPassable(link: Link): boolean {
  return !link.cut && !link.disturbances.some(({ kind }) => kind === "silence");
}

/**
 * The delay of the next message on a link; undefined when it was lost so often that its connection breaks. `bytes` is
 * only asked on a narrow link. A link that nothing disturbs draws what it always drew.
 */
export function drawDelay(
  link: Link,
  nowMicros: Micros,
  bytes: () => number,
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
      link.freeAtMicros = begins + Math.ceil((bytes() * 1_000_000) / what.bytesPerSecond);
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

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function checkLatency(latency: Latency): void {
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
