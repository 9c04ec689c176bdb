/**
 * Judges a run while it goes: what was committed, what clients asked and were told, what they say of themselves. It
 * looks on and touches nothing, so a run with it has the same history as one without.
 */
import type { InvariantName, MarkName } from "../../scenarios/expectations.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { CallFailure, Micros } from "../kernel/types.ts";
import type { StoreEvent } from "../store/types.ts";
import type { Place, Truth } from "./truth.ts";

/** A promise that was broken, as soon as it was. */
export interface Violation {
  readonly requirement: InvariantName;
  readonly expected: string;
  readonly actual: string;
  /** What led to it, oldest first, in words. */
  readonly evidence: readonly string[];
}

/** One request of a client, as the client sees it. */
export interface Exchange {
  readonly number: number;
  readonly client: string;
  readonly server: string;
  readonly method: string;
  readonly path: string;
  /** Where the path leads; undefined for what is no resource. */
  readonly place: Place | undefined;
  readonly query: ReadonlyMap<string, string>;
  readonly isWatch: boolean;
  readonly startedMicros: Micros;
  /** The newest version that anybody had been told when it began. */
  readonly floorRevision: number;
  /** What the request's own key had been acknowledged at when it began; 0 for nothing. */
  readonly keyFloor: Acknowledged;
}

/** The last acknowledged change of a key. */
export interface Acknowledged {
  readonly revision: number;
  readonly isDeletion: boolean;
}

/** A signal against its threshold: amounts of the same unit, as they were configured and read. */
export interface SignalSeen {
  readonly signal: string;
  /** The node's condition that it raises. */
  readonly condition: string;
  readonly available: number;
  readonly threshold: number;
  /** So much more than the threshold is to be had before evictions end. */
  readonly reclaim: number;
  /** For so long it is crossed before it evicts; 0: a hard threshold. */
  readonly graceMicros: Micros;
  /** When the figures were taken. */
  readonly takenMicros: Micros;
}

/** A pod as an agent ranks it: amounts of what a threshold is short of, in its unit. */
export interface RankedPod {
  /** `namespace/name`. */
  readonly pod: string;
  readonly isExempt: boolean;
  readonly priority: number;
  /** Undefined: it has no figures. */
  readonly used: number | undefined;
  /** In bytes; 0: nothing, or of what cannot be requested. */
  readonly requested: number;
}

/** What a client says of itself, since nobody else can know. */
export type Fact =
  | {
      readonly kind: "listed";
      readonly client: string;
      readonly path: string;
      readonly version: string;
      readonly items: readonly JsonObject[];
    }
  | {
      readonly kind: "updated";
      readonly client: string;
      readonly key: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: "leads"; readonly client: string; readonly lease: string }
  | { readonly kind: "follows"; readonly client: string; readonly lease: string }
  | { readonly kind: "runs"; readonly client: string; readonly pod: string; readonly uid: string }
  | { readonly kind: "stopped"; readonly client: string; readonly pod: string; readonly uid: string }
  | {
      readonly kind: "status-sent";
      readonly client: string;
      readonly pod: string;
      readonly meant: string;
      readonly hit: string;
    }
  /** `others`: containers of the same pod and name that run on its machine beside the new one, by id. */
  | {
      readonly kind: "container-started";
      readonly client: string;
      readonly pod: string;
      readonly uid: string;
      readonly container: string;
      readonly others: readonly string[];
    }
  /** Somebody has stopped it; one that ends by itself is not told. */
  | {
      readonly kind: "container-stopped";
      readonly client: string;
      readonly pod: string;
      readonly uid: string;
      readonly container: string;
    }
  /** What an agent found at a look at usage, by signal, and the conditions that its node tells from then on. */
  | {
      readonly kind: "usage-seen";
      readonly client: string;
      readonly atMicros: Micros;
      readonly signals: readonly SignalSeen[];
      readonly conditions: readonly string[];
      readonly transitionMicros: Micros;
    }
  /** `threshold`: what drove it; undefined: a limit of the pod itself. */
  | {
      readonly kind: "evicted";
      readonly client: string;
      readonly threshold: Pick<SignalSeen, "signal" | "graceMicros"> | undefined;
      readonly pods: readonly { readonly pod: string; readonly isExempt: boolean }[];
      /** Whom the threshold chose from, these included; none for limits of pods. */
      readonly among: readonly RankedPod[];
    }
  /** `nothing`: the agent found no reason to make room. */
  | { readonly kind: "pass-ended"; readonly client: string; readonly cameTo: "something" | "nothing" }
  /** `askedMicros`: how long ago the client asked for the lease by which it judges; what was renewed since it could not know. */
  | {
      readonly kind: "judged-unready";
      readonly client: string;
      readonly node: string;
      readonly graceMicros: Micros;
      readonly askedMicros: Micros;
    };

/** What happens to the cluster itself. */
export type Happening =
  | { readonly kind: "crash"; readonly place: string }
  /** Somebody made something worse for these, or it is over. */
  | { readonly kind: "fault"; readonly what: string; readonly places: readonly string[]; readonly isOver: boolean }
  | { readonly kind: "server-started"; readonly place: string; readonly revision: number }
  | { readonly kind: "forgot"; readonly place: string; readonly revision: number }
  | { readonly kind: "compacted"; readonly revision: number }
  | { readonly kind: "recovered"; readonly revision: number }
  | { readonly kind: "restored"; readonly revision: number };

/** The part of a run that one checker looks at. */
export interface Checker {
  committed?(event: StoreEvent): void;
  asked?(exchange: Exchange): void;
  answered?(exchange: Exchange, status: number, object: JsonObject): void;
  opened?(exchange: Exchange): void;
  event?(exchange: Exchange, type: string, object: JsonObject): void;
  /** The client heard the end of it, or walked away (`cancelled`). */
  ended?(exchange: Exchange, how: CallFailure | "closed" | "cancelled"): void;
  told?(fact: Fact): void;
  happened?(happening: Happening): void;
  /** A look at the whole: dear, and asked for only now and then, and at the end. */
  look?(): void;
}

/** What a checker is given: the truth, and a way to complain. */
export interface Bench {
  readonly truth: Truth;
  readonly nowMicros: () => Micros;
  fail(requirement: InvariantName, expected: string, actual: string, evidence?: readonly string[]): void;
  mark(name: MarkName): void;
}

export class Judge implements Required<Omit<Checker, "look">> {
  /** The first broken promise of those that are judged. */
  violation: (Violation & { readonly atMicros: Micros }) | undefined;
  readonly marked = new Map<MarkName, number>();
  private readonly checkers: readonly Checker[];
  private readonly by: { readonly [Hook in keyof Required<Checker>]: readonly Checker[] };

  /** `judged`: what may be complained of. */
  constructor(
    truth: Truth,
    nowMicros: () => Micros,
    make: readonly ((bench: Bench) => Checker)[],
    judged: ReadonlySet<InvariantName>,
  ) {
    const bench: Bench = {
      truth,
      nowMicros,
      fail: (requirement, expected, actual, evidence = []) => {
        if (!judged.has(requirement)) return;
        this.violation ??= { requirement, expected, actual, evidence, atMicros: nowMicros() };
      },
      mark: (name) => this.mark(name),
    };
    this.checkers = make.map((one) => one(bench));
    const having = (hook: keyof Checker): readonly Checker[] => this.checkers.filter((one) => one[hook] !== undefined);
    this.by = {
      committed: having("committed"),
      asked: having("asked"),
      answered: having("answered"),
      opened: having("opened"),
      event: having("event"),
      ended: having("ended"),
      told: having("told"),
      happened: having("happened"),
      look: having("look"),
    };
  }

  mark(name: MarkName): void {
    this.marked.set(name, (this.marked.get(name) ?? 0) + 1);
  }

  committed(event: StoreEvent): void {
    for (const checker of this.by.committed) checker.committed?.(event);
  }
  asked(exchange: Exchange): void {
    for (const checker of this.by.asked) checker.asked?.(exchange);
  }
  answered(exchange: Exchange, status: number, object: JsonObject): void {
    for (const checker of this.by.answered) checker.answered?.(exchange, status, object);
  }
  opened(exchange: Exchange): void {
    for (const checker of this.by.opened) checker.opened?.(exchange);
  }
  event(exchange: Exchange, type: string, object: JsonObject): void {
    for (const checker of this.by.event) checker.event?.(exchange, type, object);
  }
  ended(exchange: Exchange, how: CallFailure | "closed" | "cancelled"): void {
    for (const checker of this.by.ended) checker.ended?.(exchange, how);
  }
  told(fact: Fact): void {
    for (const checker of this.by.told) checker.told?.(fact);
  }
  happened(happening: Happening): void {
    for (const checker of this.by.happened) checker.happened?.(happening);
  }
  look(): void {
    for (const checker of this.by.look) checker.look?.();
  }
}
