/**
 * Registers the node and keeps its status: computed every so often, sent when it has changed or when nothing was sent for
 * long. What the API has is read before, so that what others wrote there is corrected.
 *
 * Simplification: a node that is deleted while its agent runs is registered again; the published agent waits for its own
 * restart.
 * Source: document 3, What the service does 1, Options, --node-status-update-frequency; the fact sheet of the 1.33 agent,
 * registration and node status.
 */
import type { PressureCondition } from "../../../wire/eviction-thresholds.ts";
import type { Image, MachineInfoResponse, StatusResponse } from "../../../wire/cri-messages.ts";
import { formatTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import { kept, later, piece, turns } from "../piece.ts";
import type { AgentContext } from "../ports.ts";
import { notAskedYet } from "../runtime/health.ts";
import type { Resources } from "./capacity.ts";
import { conditionsOf } from "./conditions.ts";
import { initialNode, type NodeIdentity, reconciliation } from "./initial-node.ts";
import { heartbeatPatch, missingCapacity, statusFieldsOf, statusOf, statusPatch } from "./node-status.ts";

/** What the machine has, and what of it pods can be given. */
export interface MachineFacts {
  readonly machine: MachineInfoResponse;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly runtimeStatus: StatusResponse | undefined;
}

export interface NodeKeeperPorts {
  readonly context: AgentContext;
  /** As the node's status names it. */
  readonly agentVersion: string;
  readonly machine: () => MachineFacts;
  readonly images: () => readonly Image[];
  readonly pressures: () => readonly PressureCondition[];
}

const registerMicrosMin: Micros = 100_000;
const registerMicrosMax: Micros = 7_000_000;
const attemptsMax = 5;
/** How long an agent that comes back waits for its runtime before it says that the node is not ready. */
const evaluateMicrosMax: Micros = 30_000_000;
const firstReadyMicros: Micros = 100_000;

export class NodeKeeper {
  private readonly ports: NodeKeeperPorts;
  private readonly process: Process;
  private readonly path: string;
  /** As the API had it last; in standalone mode as it would be. */
  private current: JsonObject | undefined;
  private registered = false;
  private startedMicros: Micros = 0;
  private sentMicros: Micros = -Infinity;
  private wasReady = false;
  private evaluated = false;
  private syncing = false;
  private resyncDue = false;
  /** With these there was nothing to send: as long as none of them changes there is not. */
  private settled: readonly unknown[] = [];
  private readonly fields = new Memo<Readonly<Record<string, Json>>>();
  private readonly missing = new Memo<string | undefined>();

  constructor(ports: NodeKeeperPorts) {
    this.ports = ports;
    this.process = ports.context.process;
    this.path = `/api/v1/nodes/${ports.context.options.nodeName}`;
  }

  start(): void {
    const { context } = this.ports;
    this.startedMicros = this.process.clock.nowMicros();
    context.runtime.onChange(this.runtimeChanged);
    const { api, options } = context;
    if (api === undefined) {
      this.current = this.initial();
      return;
    }
    if (options.node.register) this.register(registerMicrosMin);
    else this.registered = true;
    this.tick();
  }

  node(): JsonObject | undefined {
    return this.current;
  }

  /** While the API has no node of this name, there is none to own a lease. */
  registeredNode(): JsonObject | undefined {
    return this.registered ? this.current : undefined;
  }

  private register(waitMicros: Micros): void {
    const again = (): void =>
      void later(this.process, waitMicros, () => this.register(Math.min(2 * waitMicros, registerMicrosMax)));
    piece(this.process, "node-status", "registration of the node", () => this.tryToRegister(again), again);
  }

  private tryToRegister(again: () => void): void {
    const { api } = this.ports.context;
    const found = (node: JsonObject | undefined, isNew: boolean): void => {
      if (node === undefined) {
        again();
        return;
      }
      this.current = node;
      this.registered = true;
      if (isNew) this.sentMicros = this.process.clock.nowMicros();
    };
    api?.call({ method: "POST", path: "/api/v1/nodes", body: this.initial() }, (made) => {
      if (made.status === 201) {
        found(made.object, true);
        return;
      }
      if (made.status !== 409 && made.status !== 403) {
        again();
        return;
      }
      const { path } = this;
      api.call({ method: "GET", path }, (existing) => {
        if (existing.status !== 200 || existing.object === undefined) {
          again();
          return;
        }
        const body = reconciliation(this.identity(), existing.object);
        if (body === undefined) {
          found(existing.object, false);
          return;
        }
        api.call({ method: "PATCH", path, body, contentType: "application/merge-patch+json" }, (patched) =>
          found(patched.status === 200 ? patched.object : undefined, false),
        );
      });
    });
  }

  private tick(): void {
    const period = this.ports.context.options.node.statusUpdateMicros;
    turns(this.process, "node-status", "an update of the node's status", Math.max(1, period), (next) =>
      this.sync(() => {
        const jitter = this.process.prng.intInclusive(0, Math.floor(period / 25));
        next(Math.max(1, period + jitter));
      }),
    );
  }

  /** The first time that the runtime is there, the node is told to be ready at once. */
  private readonly runtimeChanged = (): void => {
    const look = (): void => {
      const isReady = this.errors().length === 0;
      if (!isReady || this.wasReady) return;
      later(this.process, firstReadyMicros, () => this.syncOnce());
      this.wasReady = true;
    };
    const again = (): void => void later(this.process, registerMicrosMax, this.runtimeChanged);
    piece(this.process, "node-status", "news of the runtime", look, again);
  };

  /** What could not be told is told with the next update. */
  private syncOnce(): void {
    piece(
      this.process,
      "node-status",
      "an update of the node's status",
      () => this.sync(() => {}),
      () => {},
    );
  }

  private sync(done: () => void): void {
    if (!this.registered || !this.isEvaluated()) {
      done();
      return;
    }
    if (this.syncing) {
      this.resyncDue = true;
      done();
      return;
    }
    this.syncing = true;
    const told = kept(done);
    const end = (): void => {
      this.syncing = false;
      if (this.resyncDue) {
        this.resyncDue = false;
        this.sync(() => {});
      }
      told();
    };
    piece(this.process, "node-status", "the node's status", () => this.attempt(1, end), end);
  }

  /** An agent that comes back leaves the node's conditions as they are until it has asked its runtime. */
  private isEvaluated(): boolean {
    if (this.evaluated) return true;
    const { runtime } = this.ports.context;
    const waited = this.process.clock.nowMicros() - this.startedMicros;
    const asked = runtime.version() !== undefined && !runtime.errors().includes(notAskedYet);
    this.evaluated = asked || waited >= evaluateMicrosMax;
    return this.evaluated;
  }

  /** The first attempt is content with what the server's cache has. */
  private attempt(attempt: number, done: () => void): void {
    const { api } = this.ports.context;
    const { path } = this;
    const query = attempt === 1 ? { query: "resourceVersion=0" } : {};
    const next = (): void => (attempt < attemptsMax ? this.attempt(attempt + 1, done) : done());
    api?.call({ method: "GET", path, ...query }, ({ status, object }) => {
      if (status === 404) {
        if (attempt === 1) next();
        else this.lost(done);
        return;
      }
      if (status !== 200 || object === undefined) {
        next();
        return;
      }
      this.current = object;
      this.send(this.errors(), (sent) => (sent ? done() : next()));
    });
  }

  /** Somebody deleted the node. */
  private lost(done: () => void): void {
    const { options } = this.ports.context;
    if (options.node.register) {
      this.current = undefined;
      this.registered = false;
      this.register(registerMicrosMin);
    }
    done();
  }

  private send(errors: readonly string[], done: (sent: boolean) => void): void {
    const { options, heartbeat, api } = this.ports.context;
    const nowMicros = this.process.clock.nowMicros();
    const before = statusOf(this.current);
    const isDue = nowMicros - this.sentMicros >= options.node.statusReportMicros;
    const fields = this.statusFields();
    const inputs = [before, fields, this.ports.pressures().join(), errors.join()];
    if (!isDue && inputs.every((input, at) => input === this.settled[at])) {
      done(true);
      return;
    }
    const { conditions, events } = this.conditions(before, errors);
    const body = statusPatch(before, fields, conditions) ?? (isDue ? heartbeatPatch(before, conditions) : undefined);
    if (body === undefined) {
      this.settled = inputs;
      done(true);
      return;
    }
    const path = `${this.path}/status`;
    const contentType = "application/strategic-merge-patch+json";
    (heartbeat ?? api)?.call({ method: "PATCH", path, body, contentType }, ({ status, object }) => {
      if (status === 200) {
        this.current = object;
        this.sentMicros = nowMicros;
        for (const reason of events) this.tell(reason);
      }
      done(status === 200);
    });
  }

  private tell(reason: string): void {
    const { context } = this.ports;
    context.events.node("Normal", reason, `Node ${context.options.nodeName} status is now: ${reason}`);
  }

  private initial(): JsonObject {
    const { conditions } = this.conditions({}, this.errors());
    return initialNode(this.identity(), { conditions, ...this.statusFields() });
  }

  private conditions(status: JsonObject, errors: readonly string[]) {
    const { clock } = this.process;
    const now = formatTime(Math.floor((clock.epochUnixMillis * 1000 + clock.nowMicros()) / 1_000_000));
    const before = Array.isArray(status["conditions"]) ? (status["conditions"] as readonly JsonObject[]) : [];
    return conditionsOf(before, { pressures: this.ports.pressures(), errors, now });
  }

  private errors(): readonly string[] {
    const { runtime, options } = this.ports.context;
    const network = runtime.networkError();
    const { capacity } = this.ports.machine();
    const missing = this.missing.of(capacity, undefined, undefined, () =>
      missingCapacity(capacity, options.localStorageCapacityIsolation),
    );
    const own = runtime.errors();
    if (network === undefined && missing === undefined) return own;
    return [...own, ...(network === undefined ? [] : [network]), ...(missing === undefined ? [] : [missing])];
  }

  /** Built again only when something that it is made of has changed. */
  private statusFields(): Readonly<Record<string, Json>> {
    const { context, agentVersion } = this.ports;
    const { hostname, node } = context.options;
    const facts = this.ports.machine();
    const runtime = context.runtime.version();
    const images = this.ports.images();
    return this.fields.of(facts, runtime, images, () =>
      statusFieldsOf({ hostname, options: node, ...facts, runtime, agentVersion, images }),
    );
  }

  private identity(): NodeIdentity {
    const { options, dialect } = this.ports.context;
    const { machine } = this.ports.machine();
    return { name: options.nodeName, hostname: options.hostname, dialect, options: options.node, machine };
  }
}

/** The last value, as long as what it was made of is the same: three parts at most, since nodes ask for it all the time. */
class Memo<Value> {
  private first: unknown = this;
  private second: unknown;
  private third: unknown;
  private value: Value | undefined;

  of(first: unknown, second: unknown, third: unknown, make: () => Value): Value {
    if (first !== this.first || second !== this.second || third !== this.third) {
      this.value = make();
      this.first = first;
      this.second = second;
      this.third = third;
    }
    return this.value as Value;
  }
}
