/**
 * The cluster of one scenario: a store, servers on it, clients over links, and everything that can be done to them. It
 * knows nothing of time's passing nor of verdicts.
 */
import type { Scenario, ScenarioClient } from "../../scenarios/schema.ts";
import { serverNames } from "../../scenarios/scenario-rules.ts";
import { findResourceOfKind } from "../../wire/resources.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import type { Judge } from "../checkers/judge.ts";
import { observedHandler } from "../checkers/observed-handler.ts";
import type { Truth } from "../checkers/truth.ts";
import { ExchangeWitness } from "../checkers/witness.ts";
import { startServer } from "../cluster/server.ts";
import { ApiClient } from "../client/api-client.ts";
import { linkedHandler } from "../client/linked-handler.ts";
import type { ApiHandler, ApiRequest, JsonObject } from "../contract/http-message.ts";
import { profiles } from "../contract/profile.ts";
import { noControllers } from "../control/controllers.ts";
import type { FaultyHost, FaultyOutsider, FaultyServer, Injectable } from "../faults/inject.ts";
import { FaultyStore } from "../faults/faulty-store.ts";
import { Gate } from "../faults/gate.ts";
import type { PlannedFault } from "../faults/plan.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { Address, Network } from "../network/network.ts";
import { MemberStore } from "../planted/member-store.ts";
import { type PlantedServer, plantedServer } from "../faults/planted-server.ts";
import type { ServerBugName } from "../planted/server-bugs.ts";
import type { SimulatedBugs } from "../planted/simulated-bugs.ts";
import { type Actor, type ActorParts, type Counts, countsOverLives } from "./actors/actor.ts";
import { actorMakerWith } from "./planted/actor-bugs.ts";
import { beginAgainWith, compactedWith } from "./planted/stage-bugs.ts";
import { NodeHost } from "./node-host.ts";
import { Outsiders } from "./outsiders.ts";

export interface StageParts {
  readonly scenario: Scenario;
  readonly kernel: Kernel;
  readonly bugs: SimulatedBugs;
  /** Bugs of the server itself. */
  readonly serverBugs: readonly ServerBugName[];
  readonly agentBugs: readonly string[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly truth: Truth;
  readonly judge: Judge;
  /** Somebody may want to know what goes wrong, and when it is over. */
  readonly noted: (fault: PlannedFault, isOver: boolean) => void;
}

/** One front-end and what stands before it. */
interface Server {
  readonly name: string;
  readonly usualLagMicros: Micros;
  readonly address: Address<ApiHandler>;
  readonly member: MemberStore | undefined;
  process: Process;
  api: ApiServer;
  gate: Gate;
  planted: PlantedServer | undefined;
  isStalled: boolean;
}

export interface StagedClient {
  readonly row: ScenarioClient;
  process: Process;
  actor: Actor;
  /** Of its lives before this one. */
  countsBefore: Counts;
}

/** Of all its lives. */
export const countsOf = ({ actor, countsBefore }: StagedClient): Counts =>
  countsOverLives(countsBefore, actor.counts());

const adminToken = "scenario-admin";
const memberBugs = ["replica-divergence", "stale-read-paused-member"] as const;
const gateBugs = [
  "watch-reinit-gap",
  "watch-decode-error-skips-event",
  "watch-at-compact-revision-rejected",
  "watch-time-travel-on-failover",
  "continue-410-without-resume-token",
] as const;

export class Stage implements Injectable {
  readonly network: Network;
  readonly store: FaultyStore;
  readonly witness: ExchangeWitness;
  readonly clients = new Map<string, StagedClient>();
  readonly noted: StageParts["noted"];
  readonly outsiders: Outsiders;
  private readonly parts: StageParts;
  private readonly makeActor: ReturnType<typeof actorMakerWith>;
  private readonly servers = new Map<string, Server>();
  private readonly hosts = new Map<string, NodeHost>();
  /** Clients that are to die at one of their next calls, and how many those still are. */
  private readonly traps = new Map<string, { left: number; readonly spring: () => void }>();

  constructor(parts: StageParts) {
    this.parts = parts;
    this.makeActor = actorMakerWith(parts.bugs);
    this.noted = parts.noted;
    const { scenario, kernel, bugs, truth, judge } = parts;
    this.network = new Network(kernel.process("network"), {
      rules: [{ from: "*", to: "*", latencyMicros: scenario.network.latency }],
      detectMicros: scenario.network.detect,
    });
    const storeProcess = kernel.process("store");
    const { clock } = storeProcess;
    this.store = new FaultyStore(clock, bugs);
    this.store.subscribe((event) => {
      truth.committed(event);
      judge.committed(event);
    });
    const gates = (): readonly Gate[] => [...this.servers.values()].map(({ gate }) => gate);
    this.store.onCompact = compactedWith(bugs, gates, (revision) => {
      storeProcess.trace("compact", revision);
      judge.happened({ kind: "compacted", revision });
    });
    this.witness = new ExchangeWitness(judge, truth, () => clock.nowMicros());
    this.outsiders = new Outsiders(kernel, scenario, (why) => {
      throw new StageError(why);
    });
    const { apiservers } = scenario.cluster;
    for (const [index, name] of serverNames(apiservers).entries())
      this.firstStart(name, typeof apiservers === "number" ? 0 : (apiservers[index]?.lag ?? 0));
    for (const row of scenario.clients) {
      if (row.kind !== "agent") continue;
      const { name } = row;
      const host = { kernel, row, index: this.hosts.size, called: () => this.called(name) };
      this.hosts.set(name, new NodeHost({ ...host, tell: (fact) => judge.told(fact) }));
    }
    for (const object of scenario.cluster.objects) this.create(object as JsonObject);
    for (const row of scenario.clients) {
      if (row.start === 0) this.startClient(row);
      else storeProcess.clock.after(row.start, () => this.startClient(row));
    }
  }

  server(name: string): FaultyServer | undefined {
    const server = this.servers.get(name);
    return server === undefined || !server.process.alive ? undefined : this.asFaulty(server);
  }

  crash(place: string): void {
    const process = this.servers.get(place)?.process ?? this.clients.get(place)?.process;
    if (process?.alive !== true) return;
    process.crash();
    this.parts.judge.happened({ kind: "crash", place });
    this.parts.judge.mark(this.servers.has(place) ? "server.crashed" : "client.crashed");
  }

  restart(place: string): void {
    const server = this.servers.get(place);
    if (server !== undefined) {
      if (!server.process.alive) this.startServer(server);
      return;
    }
    const host = this.hosts.get(place);
    if (host?.isAlive === false) {
      host.powerOn();
      this.parts.judge.mark("node.rebooted");
    }
    const client = this.clients.get(place);
    if (client !== undefined && !client.process.alive) this.startClient(client.row);
  }

  crashAfterCalls(place: string, calls: number, died: () => void): Cancel {
    const trap = { left: calls, spring: died };
    this.traps.set(place, trap);
    return () => {
      if (this.traps.get(place) === trap) this.traps.delete(place);
    };
  }

  private called(place: string): void {
    const trap = this.traps.get(place);
    if (trap === undefined || --trap.left > 0) return;
    this.traps.delete(place);
    trap.spring();
  }

  host(place: string): FaultyHost | undefined {
    return this.hosts.get(place);
  }

  clockOwner(place: string): object | undefined {
    return this.hosts.get(place) ?? this.servers.get(place)?.process ?? this.clients.get(place)?.process;
  }

  crashStore(): void {
    this.store.crash();
    this.afterStoreChange("recovered");
  }

  restoreStore(agoMicros: Micros): void {
    this.store.restore(agoMicros);
    this.witness.forget();
    this.parts.truth.restart(this.store.events, this.store.revision);
    this.afterStoreChange("restored");
  }

  /** Everybody who stood on the store starts again on what it is now. */
  private afterStoreChange(kind: "recovered" | "restored"): void {
    const { judge, truth, bugs } = this.parts;
    const names = beginAgainWith(bugs, kind, [...this.servers.keys()]);
    for (const name of names) this.crash(name);
    judge.happened({ kind, revision: this.store.revision });
    if (kind === "recovered") truth.restart(this.store.events, this.store.revision);
    for (const name of names) this.restart(name);
  }

  stepClock(place: string, byMicros: Micros): void {
    const process = this.servers.get(place)?.process ?? this.clients.get(place)?.process;
    const host = this.hosts.get(place);
    if (host !== undefined) host.clockOffMicros += byMicros;
    for (const one of [process, host?.process])
      if (one?.alive === true) this.parts.kernel.stepClock(one, Math.trunc(byMicros / 1000));
  }

  outsider(name: string): FaultyOutsider | undefined {
    return this.hosts.get(name) ?? this.outsiders.member(name);
  }

  usualLag(server: string): Micros {
    return this.servers.get(server)?.usualLagMicros ?? 0;
  }

  request(request: ApiRequest): void {
    this.ask(request);
  }

  /** What the first server that is there answers, asked from within it: no link is in between. */
  ask({ method, path, query, headers, body }: ApiRequest): { readonly status: number; readonly object: JsonObject } {
    let answer = { status: 503, object: {} as JsonObject };
    const server = [...this.servers.values()].find(({ process }) => process.alive);
    if (server === undefined) return answer;
    this.parts.kernel.enter(server.process, () => {
      server.api.start(
        {
          method,
          path,
          query,
          headers: { ...headers, authorization: `Bearer ${adminToken}` },
          ...(body === undefined ? {} : { body }),
        },
        {
          respond: (status, _headers, payload) => {
            answer = { status, object: payload.object ?? {} };
          },
          open: () => {},
          frame: () => 0,
          close: () => {},
        },
      );
    });
    return answer;
  }

  private firstStart(name: string, usualLagMicros: Micros): void {
    const { bugs } = this.parts;
    const hasOwnCopy = memberBugs.some((bug) => bugs.has(bug)) && this.servers.size > 0;
    const server = {
      name,
      usualLagMicros,
      address: new Address<ApiHandler>(name),
      member: hasOwnCopy ? new MemberStore(this.store, bugs) : undefined,
      isStalled: false,
    };
    this.servers.set(name, server as Server);
    this.startServer(server as Server);
  }

  /** A new process, on the store as it is. What the one before had in memory is lost. */
  private startServer(server: Server): void {
    const { kernel, scenario, serverBugs, featureGates, bugs, judge } = this.parts;
    const { name, member, usualLagMicros } = server;
    if (server.process !== undefined) member?.crash();
    const process = kernel.process(name);
    const store = member ?? this.store;
    const isFirst = this.servers.keys().next().value === name;
    const { historyWindow, eventTtl, controllers } = scenario.cluster;
    kernel.enter(process, () => {
      const api = startServer({
        process,
        store,
        profile: profiles[scenario.profile],
        bugs: serverBugs,
        featureGates,
        historyWindowMicros: historyWindow,
        eventTtlMicros: eventTtl,
        cacheLagMicros: usualLagMicros,
        ...this.outsiders.optionsFor(process),
        controllers: controllers && isFirst ? {} : noControllers,
        tokens: [adminToken, ...scenario.clients.map((client) => client.name)].map((token) => ({
          token,
          user: token,
          uid: token,
          groups: ["system:masters"],
        })),
      });
      const prefixOf = (path: string): string | undefined => this.parts.truth.place(path)?.prefix;
      const planted = gateBugs.some((bug) => bugs.has(bug))
        ? plantedServer({ handler: api, process, store, bugs, prefixOf })
        : undefined;
      const gate = new Gate(planted ?? api, process.prng.stream("gate"));
      Object.assign(server, { process, api, gate, planted, isStalled: false });
      server.address.listen(process, gate);
    });
    judge.happened({ kind: "server-started", place: name, revision: store.revision });
  }

  private asFaulty(server: Server): FaultyServer {
    const { api, gate, member, name, planted } = server;
    return {
      setLag: (lagMicros) => api.setCacheLag(lagMicros),
      forget: () => {
        api.forgetHistory();
        planted?.forgot();
        this.parts.judge.happened({ kind: "forgot", place: name, revision: this.store.revision });
      },
      stall: () => {
        member?.pause();
        // The planted bug is a member that goes on answering.
        if (member === undefined) gate.stall();
      },
      resume: () => {
        member?.resume();
        gate.resume();
      },
      throttle: (rate) => {
        gate.throttle = rate;
      },
    };
  }

  private startClient(row: ScenarioClient): void {
    const { kernel, scenario, judge } = this.parts;
    const process = kernel.process(row.name);
    const way = this.wayOf(process, row.server);
    const handler: ApiHandler = {
      start: (request, responder) => {
        const cancel = way.start(request, responder);
        this.called(row.name);
        return cancel;
      },
    };
    const host = this.hosts.get(row.name);
    if (host !== undefined && host.clockOffMicros !== 0)
      kernel.stepClock(process, Math.trunc(host.clockOffMicros / 1000));
    const api = new ApiClient(process, handler, row.name);
    const { dialect } = profiles[scenario.profile];
    const tokenOf: ActorParts["tokenOf"] = (issuer, claims, lasts) =>
      this.outsiders.token(issuer, claims, lasts, process);
    const actor = this.makeActor(
      {
        process,
        api,
        handler,
        tokenOf,
        dialect,
        agentBugs: this.parts.agentBugs,
        host,
        tell: (fact) => judge.told(fact),
      },
      row,
    );
    const staged = this.clients.get(row.name);
    if (staged === undefined) this.clients.set(row.name, { row, process, actor, countsBefore: {} });
    else Object.assign(staged, { process, actor, countsBefore: countsOf(staged) });
    kernel.enter(process, () => actor.start());
  }

  /** To one server, or to another one for each connection. */
  private wayOf(process: Process, wanted: string | undefined): ApiHandler {
    const names = [...this.servers.keys()];
    const to = (name: string): ApiHandler => {
      const { address } = this.servers.get(name) as Server;
      return observedHandler(linkedHandler(this.network, process, address), process, () => name, this.witness);
    };
    if (wanted !== "any") return to(wanted ?? (names[0] as string));
    const ways = names.map(to);
    const prng = process.prng.stream("server");
    return {
      start: (request, responder) =>
        (ways[prng.intInclusive(0, ways.length - 1)] as ApiHandler).start(request, responder),
    };
  }

  private create(object: JsonObject): void {
    const {
      apiVersion = "",
      kind = "",
      metadata = {},
    } = object as { apiVersion?: string; kind?: string; metadata?: { namespace?: string; name?: string } };
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const neutral = group.replace(/(^|\.)k8s\.io$/, "$1svc.io");
    const row = findResourceOfKind(neutral, version, kind);
    if (row === undefined)
      throw new StageError(`cluster.objects: there is no kind ${kind} in ${apiVersion || "no apiVersion"}`);
    const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const scope = row.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    const path = `${base}${scope}/${row.resource}`;
    const { status, object: answer } = this.ask({
      method: "POST",
      path,
      query: "",
      headers: { "content-type": "application/json" },
      body: object,
    });
    if (status !== 201)
      throw new StageError(
        `cluster.objects: ${kind} ${metadata.name ?? ""} is refused: ${status} ${String(answer["message"] ?? "")}`,
      );
  }
}

/** The scenario asks for something that cannot be. */
export class StageError extends Error {
  override readonly name = "StageError";
}
