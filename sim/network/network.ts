import { invariant } from "../kernel/invariant.ts";
import { Roster } from "../kernel/roster.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import {
  checkLatency,
  type Disturbance,
  isPassable,
  type Latency,
  type Link,
  type LinkUser,
  type NetworkWitness,
} from "./link.ts";

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

/** All links, by the name at either end. */
class LinkIndex {
  size = 0;
  private readonly byFrom = new Map<string, Map<string, Link>>();
  private readonly byTo = new Map<string, Link[]>();

  get(from: string, to: string): Link | undefined {
    return this.byFrom.get(from)?.get(to);
  }

  add(link: Link): void {
    const { from, to } = link;
    const outward = this.byFrom.get(from);
    if (outward === undefined) this.byFrom.set(from, new Map([[to, link]]));
    else outward.set(to, link);
    const inward = this.byTo.get(to);
    if (inward === undefined) this.byTo.set(to, [link]);
    else inward.push(link);
    this.size++;
  }

  /** The links between names that these patterns stand for, in the order in which they were made. */
  matching(from: string, to: string): readonly Link[] {
    const found = this.near(from, to).filter((link) => matches(from, link.from) && matches(to, link.to));
    return found.sort((one, other) => one.serial - other.serial);
  }

  /** Those of an end that is named in full; all where neither is. */
  private near(from: string, to: string): readonly Link[] {
    if (!isPattern(from)) return [...(this.byFrom.get(from)?.values() ?? [])];
    if (!isPattern(to)) return this.byTo.get(to) ?? [];
    return [...this.byTo.values()].flat();
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
  private readonly links = new LinkIndex();
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
      this.applyRules(from, to);
    }
  }

  /** Nothing passes in this one direction. Names or patterns, as in a rule; cutting twice does no more than once. */
  cut(from: string, to: string): void {
    if (this.rules.some((rule) => "cut" in rule && rule.from === from && rule.to === to)) return;
    this.rules.unshift({ from, to, cut: true });
    this.process.trace("cut", from, to);
    this.applyRules(from, to);
  }

  /** Makes a direction worse, until the returned function is called. Names or patterns, as in a rule. */
  disturb(from: string, to: string, what: Disturbance): Cancel {
    const row = { from, to, what };
    this.disturbed.push(row);
    this.process.trace(what.kind, from, to);
    this.applyRules(from, to);
    return () => {
      if (!this.disturbed.includes(row)) return;
      this.disturbed = this.disturbed.filter((other) => other !== row);
      this.process.trace("heal", from, to);
      this.applyRules(from, to);
    };
  }

  link(from: string, to: string): Link {
    const known = this.links.get(from, to);
    if (known !== undefined) return known;
    const prng = this.process.prng.stream(from).stream(to);
    const serial = this.links.size;
    const users = this.links.get(to, from)?.users ?? new Roster<LinkUser>();
    const link: Link = { from, to, cut: false, latency: 0, disturbances: [], freeAtMicros: 0, prng, users, serial };
    this.applyRulesTo(link);
    this.links.add(link);
    return link;
  }

  /** Looks the rules up again for the links that a row from `from` to `to` is about. */
  private applyRules(from: string, to: string): void {
    for (const link of this.links.matching(from, to)) {
      const wasPassable = isPassable(link);
      const wasCut = link.cut;
      this.applyRulesTo(link);
      if (link.cut && !wasCut) for (const user of link.users.members()) user.lose(link, true);
      else if (wasPassable && !isPassable(link)) for (const user of link.users.members()) user.lose(link, false);
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

const isPattern = (name: string): boolean => name.endsWith("*");

function matches(pattern: string, name: string): boolean {
  return isPattern(pattern) ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
