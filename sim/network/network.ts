import { invariant } from "../kernel/invariant.ts";
import type { Cancel, Micros, Prng, Process } from "../kernel/types.ts";

/** A fixed delay, or one drawn per message from [min, max], both inclusive. Integer microseconds >= 0. */
export type Latency = Micros | { readonly min: Micros; readonly max: Micros };

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

/** What crosses a link and must know when it is cut. */
export interface LinkUser {
  lose(link: Link): void;
}

/** One direction between two names, with what the rules say of it at present. */
export interface Link {
  readonly from: string;
  readonly to: string;
  cut: boolean;
  latency: Latency;
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

  private readonly process: Process;
  private readonly rules: LinkRule[];
  private readonly links = new Map<string, Link>();

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

  link(from: string, to: string): Link {
    const key = JSON.stringify([from, to]);
    let link = this.links.get(key);
    if (link === undefined) {
      const prng = this.process.prng.stream(from).stream(to);
      link = { from, to, cut: false, latency: 0, prng, users: new Set() };
      this.applyRulesTo(link);
      this.links.set(key, link);
    }
    return link;
  }

  /** Links are few and cuts are rare: all are looked up again. */
  private applyRules(): void {
    for (const link of this.links.values()) {
      const wasCut = link.cut;
      this.applyRulesTo(link);
      if (link.cut && !wasCut) for (const user of [...link.users]) user.lose(link);
    }
  }

  private applyRulesTo(link: Link): void {
    const rule = this.rules.find(({ from, to }) => matches(from, link.from) && matches(to, link.to));
    link.cut = rule !== undefined && "cut" in rule;
    link.latency = rule !== undefined && "latencyMicros" in rule ? rule.latencyMicros : 0;
  }
}

/** The delay of the next message on a link. */
export function drawLatency(link: Link): Micros {
  const { latency } = link;
  return typeof latency === "number" ? latency : link.prng.intInclusive(latency.min, latency.max);
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function checkLatency(latency: Latency): void {
  const { min, max } = typeof latency === "number" ? { min: latency, max: latency } : latency;
  const valid = Number.isSafeInteger(min) && Number.isSafeInteger(max) && min >= 0 && min <= max;
  invariant(valid, "a latency is an integer of microseconds, or a range of them", { latency });
}
