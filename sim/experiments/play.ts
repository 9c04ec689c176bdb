/**
 * Plays one scenario: a server, its clients over links, faults at their times, expectations judged at theirs. The
 * same scenario and seed give the same trace, record for record.
 */
import {
  type ExpectationName,
  expectations,
  type Scenario,
  type ScenarioClient,
  type ScenarioFault,
  serverName,
} from "../../scenarios/schema.ts";
import type { ExpectationResult, SimulationReport } from "../../reports/schema/simulation-report.ts";
import type { Verdict } from "../../reports/schema/verdict.ts";
import { startServer } from "../cluster/server.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { profiles } from "../contract/profile.ts";
import {
  expiredWatchesAreGone,
  informersConverged,
  type NamedInformer,
  type StoreHistory,
  watchesAreOrdered,
  watchesAreReliable,
} from "../checkers/informers.ts";
import { ApiClient } from "../client/api-client.ts";
import { noControllers } from "../control/controllers.ts";
import { Informer } from "../client/informer.ts";
import { Writer } from "./writer.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Trace, TraceOptions } from "../kernel/trace.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Process } from "../kernel/types.ts";
import { linkedHandler } from "../client/linked-handler.ts";
import { Address, Network } from "../network/network.ts";
import { RevisionStore } from "../store/revision-store.ts";

export interface PlayOptions {
  /** Default: the scenario's own. */
  readonly seed?: number;
  readonly trace?: TraceOptions;
}

export interface Played {
  readonly report: SimulationReport;
  readonly trace: Trace;
}

/** Throws what the kernel throws when the simulation itself is broken. */
export function playScenario(scenario: Scenario, options: PlayOptions = {}): Played {
  const removeTrap = installTrap();
  try {
    const stage = new Stage(scenario, options);
    stage.kernel.run(scenario.until);
    return { report: stage.report(), trace: stage.kernel.trace };
  } finally {
    removeTrap();
  }
}

class Stage {
  readonly kernel: Kernel;
  private readonly scenario: Scenario;
  private readonly seed: number;
  private readonly store: RevisionStore;
  private readonly network: Network;
  private readonly address = new Address<ApiHandler>(serverName);
  private readonly director: Process;
  private server: Process;
  private readonly clients = new Map<string, { process: Process; actor: Informer | Writer }>();
  private readonly history: { readonly [Part in keyof StoreHistory]: StoreHistory[Part][number][] } = {
    changes: [],
    compactions: [],
  };
  private readonly judged: ExpectationResult[] = [];

  constructor(scenario: Scenario, { seed = scenario.seed, trace }: PlayOptions) {
    this.scenario = scenario;
    this.seed = seed;
    this.kernel = new Kernel({ seed: String(seed), ...(trace === undefined ? {} : { trace }) });
    const { latency, detect } = scenario.network;
    this.network = new Network(this.kernel.process("network"), {
      rules: [{ from: "*", to: "*", latencyMicros: latency }],
      detectMicros: detect,
    });
    this.director = this.kernel.process("scenario");
    this.store = this.recordedStore();
    this.server = this.startServer();
    for (const client of scenario.clients) this.startClient(client);
    const { clock } = this.director;
    for (const fault of scenario.faults) clock.after(fault.at, () => this.inject(fault));
    for (const { by, requirement } of scenario.expect) clock.after(by, () => this.judge(requirement, by));
  }

  private recordedStore(): RevisionStore {
    const { history, director } = this;
    const store = new (class extends RevisionStore {
      override compact(revision: number): void {
        super.compact(revision);
        history.compactions.push({ atMicros: director.clock.nowMicros(), revision });
        director.trace("compact", revision);
      }
    })();
    store.subscribe(({ key, revision }) => history.changes.push({ key, revision }));
    return store;
  }

  private startServer(): Process {
    const process = this.kernel.process(serverName);
    const { profile, cluster, clients } = this.scenario;
    this.kernel.enter(process, () => {
      const server = startServer({
        process,
        store: this.store,
        profile: profiles[profile],
        historyWindowMicros: cluster.historyWindow,
        controllers: cluster.controllers ? {} : noControllers,
        tokens: clients.map(({ name }) => ({ token: name, user: name, uid: name, groups: ["system:masters"] })),
      });
      this.address.listen(process, server);
    });
    return process;
  }

  private startClient(client: ScenarioClient): void {
    const process = this.kernel.process(client.name);
    const api = new ApiClient(process, linkedHandler(this.network, process, this.address), client.name);
    const actor =
      client.kind === "informer"
        ? new Informer(process, api, { path: configMapsIn(client.namespace) })
        : new Writer(process, api, {
            namespace: client.namespace,
            everyMicros: client.every,
            objectCount: client.objects,
            ...(client.until === undefined ? {} : { untilMicros: client.until }),
          });
    this.clients.set(client.name, { process, actor });
    this.kernel.enter(process, () => actor.start());
  }

  /** A crashed place is back at once: what it held in memory is lost, what it had open is broken. */
  private inject(fault: ScenarioFault): void {
    if ("partition" in fault) this.network.partition(...fault.partition);
    else if ("heal" in fault) this.network.heal(...fault.heal);
    else if ("compact" in fault) this.store.compact(this.store.revision);
    else if (fault.crash === serverName) {
      this.server.crash();
      this.server = this.startServer();
    } else {
      this.clients.get(fault.crash)?.process.crash();
      const client = this.scenario.clients.find(({ name }) => name === fault.crash);
      if (client !== undefined) this.startClient(client);
    }
  }

  private judge(requirement: ExpectationName, byMicros: number): void {
    const verdict = this.verdictOn(requirement);
    this.director.trace("verdict", requirement, verdict.status);
    this.judged.push({ requirement, text: expectations[requirement], byMicros, verdict });
  }

  private verdictOn(requirement: ExpectationName): Verdict {
    const informers = this.informers();
    if (requirement === "watch.ordered") return watchesAreOrdered(informers);
    if (requirement === "watch.reliable") return watchesAreReliable(informers, this.history);
    if (requirement === "watch.expired-is-gone") return expiredWatchesAreGone(informers, this.history);
    const paths = [...new Set(informers.map(({ informer }) => informer.path))];
    const verdicts = paths.map((path) =>
      informersConverged(
        informers.filter(({ informer }) => informer.path === path),
        this.served(path),
      ),
    );
    return verdicts.find(({ status }) => status !== "passed") ?? verdicts[0] ?? informersConverged([], []);
  }

  private informers(): (NamedInformer & { informer: Informer })[] {
    return [...this.clients].flatMap(([name, { actor }]) =>
      actor instanceof Informer ? [{ name, informer: actor }] : [],
    );
  }

  /** What the server answers to a consistent list, asked from within it: no link is in between. */
  private served(path: string): readonly JsonObject[] {
    let items: readonly JsonObject[] = [];
    const token = this.scenario.clients[0]?.name ?? "";
    this.address.current?.service.start(
      { method: "GET", path, query: "", headers: { authorization: `Bearer ${token}` } },
      {
        respond: (_status, _headers, payload) => {
          items = (payload.object?.["items"] ?? []) as readonly JsonObject[];
        },
        open: () => {},
        frame: () => 0,
        close: () => {},
      },
    );
    return items;
  }

  report(): SimulationReport {
    const { trace } = this.kernel;
    return {
      apiVersion: "reports/v1",
      kind: "SimulationReport",
      scenario: this.scenario.name,
      seed: this.seed,
      profile: this.scenario.profile,
      traceHash: trace.hash(),
      traceRecords: trace.count,
      virtualMicros: this.kernel.nowMicros(),
      expectations: this.judged,
      clients: Object.fromEntries([...this.clients].map(([name, { actor }]) => [name, countsOf(actor)])),
    };
  }
}

const configMapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

function countsOf(actor: Informer | Writer): Record<string, number> {
  if (actor instanceof Writer) return Object.fromEntries(actor.answers);
  return {
    lists: actor.listCount,
    watches: actor.watches.length,
    events: actor.watches.reduce((sum, { events }) => sum + events.length, 0),
    objects: actor.objects.size,
  };
}
