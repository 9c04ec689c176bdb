/** Does to a cluster what a plan says, at its times, and undoes it again. */
import { storeName } from "../../scenarios/scenario-rules.ts";
import type { LatencyTable } from "../../scenarios/values.ts";
import type { ApiRequest, JsonObject } from "../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import type { Disturbance } from "../network/link.ts";
import type { Network } from "../network/network.ts";
import type { FaultyStore } from "./faulty-store.ts";
import type { PlannedFault } from "./plan.ts";

/** A server as faults see it. */
export interface FaultyServer {
  setLag(lagMicros: Micros): void;
  forget(): void;
  stall(): void;
  resume(): void;
  throttle(rate: PlannedFault["rate"]): void;
}

/** An issuer, a webhook, a collector or an agent's runtime as faults see it. */
export interface FaultyOutsider {
  /** Undefined: it is well again. */
  misbehave(how: PlannedFault["how"], method?: string): void;
  /** On top of its usual delay. */
  delay(byMicros: Micros, method?: string): void;
  /** Of an issuer: another key. */
  rotate(): void;
}

/** The machine under a node's agent as faults see it. */
export interface FaultyHost {
  press(resource: NonNullable<PlannedFault["resource"]>, rate: NonNullable<PlannedFault["rate"]>): Cancel;
  /** `pod`: `namespace/name`; the machine's usage where there is none. */
  misreport(figures: string, pod: string | undefined): Cancel;
  powerOff(): void;
}

/** The cluster that a plan is for. */
export interface Injectable {
  readonly network: Network;
  readonly store: FaultyStore;
  server(name: string): FaultyServer | undefined;
  /** The process dies; `restart` makes the next one. */
  crash(place: string): void;
  restart(place: string): void;
  /** As `crash`, after so many calls more of a client; `died` is called then. */
  crashAfterCalls(place: string, calls: number, died: () => void): Cancel;
  /** Of an agent. */
  host(place: string): FaultyHost | undefined;
  crashStore(): void;
  restoreStore(agoMicros: Micros): void;
  stepClock(place: string, byMicros: Micros): void;
  /** Whose wall clock that is: another object after a restart that set it right. */
  clockOwner(place: string): object | undefined;
  usualLag(server: string): Micros;
  /** Whom servers call. */
  outsider(name: string): FaultyOutsider | undefined;
  /** Past the network, as a user with every right. */
  request(request: ApiRequest): void;
  /** Somebody may want to know. `undefined`: it is over. */
  noted(fault: PlannedFault, isOver: boolean): void;
}

export class Injector {
  private readonly cluster: Injectable;
  private readonly director: Process;
  /** What is wrong now, by the fault that made it so. */
  private readonly lasting = new Map<PlannedFault, Cancel>();
  private isSafe = false;

  /** `director` lends its clock and its name in the trace. */
  constructor(cluster: Injectable, director: Process) {
    this.cluster = cluster;
    this.director = director;
  }

  schedule(faults: readonly PlannedFault[], safetyMicros: Micros | undefined): void {
    const { clock } = this.director;
    for (const fault of faults) clock.after(fault.atMicros, () => this.inject(fault));
    if (safetyMicros !== undefined) clock.after(safetyMicros, () => this.healAll());
  }

  /** From here on nothing goes wrong any more. */
  private healAll(): void {
    this.isSafe = true;
    this.director.trace("safe", this.lasting.size);
    for (const fault of [...this.lasting.keys()]) this.undo(fault);
  }

  /** Now, in an event of the director. False in the safety phase, where nothing goes wrong. */
  inject(fault: PlannedFault): boolean {
    if (this.isSafe) return false;
    this.director.trace(`fault.${fault.verb}`, fault.places.join(" "));
    this.cluster.noted(fault, false);
    const undo = fault.verb === "heal" ? this.heal(fault.places) : this.act(fault);
    if (undo === undefined) {
      if (fault.verb !== "heal") this.cluster.noted(fault, true);
      return true;
    }
    this.lasting.set(fault, undo);
    // What dies at one of its next calls is down from then on.
    if (fault.forMicros !== undefined && fault.calls === undefined)
      this.director.clock.after(fault.forMicros, () => this.undo(fault));
    return true;
  }

  private undo(fault: PlannedFault): void {
    const undo = this.lasting.get(fault);
    if (undo === undefined) return;
    this.lasting.delete(fault);
    undo();
    this.director.trace("fault.over", fault.verb, fault.places.join(" "));
    this.cluster.noted(fault, true);
  }

  private heal(places: readonly string[]): undefined {
    const isSame = (other: readonly string[]): boolean =>
      other.length === 2 && places.every((name) => other.includes(name));
    for (const fault of [...this.lasting.keys()])
      if (isSame(fault.places) || (fault.verb === "isolate" && fault.places.some((name) => places.includes(name))))
        this.undo(fault);
    return undefined;
  }

  /** Returns what undoes it, for what lasts. */
  private act(fault: PlannedFault): Cancel | undefined {
    const disturbances = disturbancesOf(fault);
    if (disturbances.length > 0) {
      const cancels = disturbances.map(({ from, to, what }) => this.cluster.network.disturb(from, to, what));
      return () => {
        for (const cancel of cancels) cancel();
      };
    }
    return fault.places.length === 1 ? this.actOn(fault, fault.places[0] as string) : this.ask(fault);
  }

  private actOn(fault: PlannedFault, place: string): Cancel | undefined {
    const { cluster } = this;
    const server = (): FaultyServer | undefined => cluster.server(place);
    switch (fault.verb) {
      case "crash":
        return this.crash(fault, place);
      case "compact": {
        const { store } = cluster;
        store.compact(Math.max(0, store.revision - (fault.keep ?? 0)));
        return undefined;
      }
      case "restore":
        cluster.restoreStore(fault.agoMicros ?? 0);
        return undefined;
      case "fill":
        cluster.store.full = true;
        return () => {
          cluster.store.full = false;
        };
      case "forget":
        server()?.forget();
        return undefined;
      case "lag":
        server()?.setLag(this.lagOf(fault));
        return () => server()?.setLag(cluster.usualLag(place));
      case "stall":
        server()?.stall();
        return () => server()?.resume();
      case "throttle":
        server()?.throttle(fault.rate);
        return () => server()?.throttle(undefined);
      case "misbehave":
        cluster.outsider(place)?.misbehave(fault.how, fault.method);
        return () => cluster.outsider(place)?.misbehave(undefined, fault.method);
      case "delay":
        cluster.outsider(place)?.delay(this.lagOf(fault), fault.method);
        return () => cluster.outsider(place)?.delay(0, fault.method);
      case "rotate":
        cluster.outsider(place)?.rotate();
        return undefined;
      case "clock":
        cluster.stepClock(place, fault.stepMicros ?? 0);
        return undefined;
      case "drift":
        return this.drift(fault, place);
      case "reboot":
        cluster.host(place)?.powerOff();
        return this.crash(fault, place);
      case "press":
        if (fault.resource === undefined || fault.rate === undefined) return undefined;
        return cluster.host(place)?.press(fault.resource, fault.rate);
      case "misreport":
        return cluster.host(place)?.misreport(fault.figures ?? "", fault.pod);
      default:
        return undefined;
    }
  }

  /** A step each second, of whichever clock the place has; in the end what is left of them is taken back. */
  private drift({ stepMicros = 0 }: PlannedFault, place: string): Cancel {
    const { cluster, director } = this;
    let wrongBy = 0;
    let owner: object | undefined;
    let cancel: Cancel = () => {};
    const tick = (): void => {
      const now = cluster.clockOwner(place);
      if (now !== owner) wrongBy = 0;
      owner = now;
      if (now !== undefined) {
        cluster.stepClock(place, stepMicros);
        wrongBy += stepMicros;
      }
      cancel = director.clock.after(secondMicros, tick);
    };
    tick();
    return () => {
      cancel();
      if (owner !== undefined && cluster.clockOwner(place) === owner) cluster.stepClock(place, -wrongBy);
    };
  }

  private crash(fault: PlannedFault, place: string): Cancel | undefined {
    const { cluster } = this;
    if (fault.calls !== undefined) {
      const { clock } = this.director;
      const die = (): void => {
        if (!this.lasting.has(fault)) return; // it was over in the same instant, and nothing would undo it
        cluster.crash(place);
        clock.after(fault.forMicros ?? 0, () => this.undo(fault));
      };
      // In an event of its own: a process is not ended in the middle of what it does.
      const disarm = cluster.crashAfterCalls(place, fault.calls, () => clock.after(0, die));
      return () => {
        disarm();
        cluster.restart(place);
      };
    }
    if (place === storeName) {
      cluster.crashStore();
      return undefined;
    }
    cluster.crash(place);
    if (fault.forMicros !== undefined) return () => cluster.restart(place);
    cluster.restart(place);
    return undefined;
  }

  /** One draw a fault: a lag that changes with every write would be no lag. */
  private lagOf({ by }: PlannedFault): Micros {
    const rows: LatencyTable = by ?? [];
    const percent = this.director.prng.intInclusive(1, 100);
    const { span } = rows.find((row) => percent <= row.percent) ?? { span: { min: 0, max: 0 } };
    return this.director.prng.intInclusive(span.min, span.max);
  }

  private ask({ request = "", body }: PlannedFault): undefined {
    const [method = "GET", target = "/"] = request.split(" ");
    const [path = "/", query = ""] = target.split("?", 2);
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { accept: "application/json", "content-type": contentType };
    this.cluster.request({ method, path, query, headers, ...(body === undefined ? {} : { body: body as JsonObject }) });
    return undefined;
  }
}

const secondMicros: Micros = 1_000_000;

interface Directed {
  readonly from: string;
  readonly to: string;
  readonly what: Disturbance;
}

function disturbancesOf(fault: PlannedFault): readonly Directed[] {
  const [one = "", other = "*"] = fault.places;
  const both = (what: Disturbance): readonly Directed[] => [
    { from: one, to: other, what },
    { from: other, to: one, what },
  ];
  const { by = [], rate = { numerator: 0, denominator: 1 } } = fault;
  switch (fault.verb) {
    case "partition":
    case "isolate":
      return both({ kind: "cut" });
    case "cut":
      return [{ from: one, to: other, what: { kind: "cut" } }];
    case "silence":
      return both({ kind: "silence" });
    case "slow":
      return both({ kind: "slow", by });
    case "lose":
      return both({ kind: "lose", rate });
    case "duplicate":
      return both({ kind: "duplicate", rate });
    case "reorder":
      return both({ kind: "reorder", rate, by });
    case "narrow":
      return both({ kind: "narrow", bytesPerSecond: fault.bytesPerSecond ?? 1 });
    default:
      return [];
  }
}
