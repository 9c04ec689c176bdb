/**
 * Plays one arm of an experiment once: the cluster comes up and settles, then its workload is done to it while everything is
 * counted. The same seed gives the same figures, and arms that have a seed in common have the same chance in common.
 */
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { type Costs, usualCosts } from "../../scenarios/capacity/cost-constants.ts";
import type { Experiment } from "../../scenarios/capacity/schema.ts";
import { startClusterControllers } from "../control/cluster-controllers.ts";
import { startScheduler } from "../control/scheduler/start.ts";
import { Cluster } from "../cluster/cluster.ts";
import { profiles } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Micros } from "../kernel/types.ts";
import { parseUsage, UsageTextError } from "../runtime/usage-text.ts";
import type { ImageRow } from "../runtime/images.ts";
import { amount, startAgents } from "./agent-fleet.ts";
import { driverContext } from "./driver-client.ts";
import { DrainWitness } from "./drain-witness.ts";
import { ExperimentError } from "./fleet.ts";
import { holdLease } from "./held-lease.ts";
import { judgeObjective, type Judged } from "./objectives.ts";
import { imageOf, type PodShape } from "./objects.ts";
import { Meter } from "./meter.ts";
import { PodWitness } from "./pod-witness.ts";
import { QuotaStore } from "./quota-store.ts";
import { ServiceTimes } from "./service-times.ts";
import { furnish } from "./furnish.ts";
import { startSilentNodes } from "./silent-nodes.ts";
import type { ReplayedRequest, Stage } from "./stage.ts";
import { imageBytes, pulledImage, startWorkload } from "./workload.ts";

export interface PlayOptions {
  readonly arm: string;
  /** From 1 on. */
  readonly repetition: number;
  /** Replaces the experiment's seed. */
  readonly seed?: number;
  /** Recorded requests by the names that the workload has for them. */
  readonly logs?: ReadonlyMap<string, readonly ReplayedRequest[]>;
  /** Called every few hundred events; a true answer ends the run. `part` of it is done, from 0 to 1. */
  readonly onProgress?: (part: number) => boolean;
  /** Called with what a scrape of the server's metrics shows, once; not at all where the run is stopped before. */
  readonly onMetrics?: (text: string) => void;
  /** When to scrape, from the start of the measurement. Default: at its end, when it is stopped too. */
  readonly metricsAtMicros?: Micros;
}

/** A run was told to end before its measured time began: there is nothing to tell of it. */
export class NothingMeasured extends Error {
  constructor() {
    super("the run was interrupted before its measured time began");
    this.name = "NothingMeasured";
  }
}

/** Figures of this machine are left at zero: whoever has its clock fills them in. Throws `NothingMeasured`. */
export function playExperiment(experiment: Experiment, options: PlayOptions): CapacityRun {
  const seed = `capacity/${options.seed ?? experiment.seed}/${options.repetition}`;
  return new ExperimentRun(experiment, options, seed).play();
}

const stopLookMicros: Micros = 10_000_000;
const second: Micros = 1_000_000;
/** Between two looks at whether the run is to end: some tenths of a second where events are dear. */
const eventsPerLook = 500;

class ExperimentRun {
  private readonly experiment: Experiment;
  private readonly options: PlayOptions;
  private readonly seed: string;
  private readonly kernel: Kernel;
  private readonly store: QuotaStore;
  private readonly cluster: Cluster;
  private readonly meter: Meter;
  private readonly pods: PodWitness;
  private readonly drains: DrainWitness;
  private times: ServiceTimes | undefined;
  private readonly bytesOverTime: number[] = [];

  constructor(experiment: Experiment, options: PlayOptions, seed: string) {
    const { cluster: shape } = experiment;
    this.experiment = experiment;
    this.options = options;
    this.seed = seed;
    this.kernel = new Kernel({ seed });
    const { storeQuota } = shape.server;
    this.store = new QuotaStore(storeQuota === undefined ? undefined : amount(storeQuota));
    this.cluster = new Cluster({
      kernel: this.kernel,
      store: this.store,
      network: { rules: [{ from: "*", to: "*", latencyMicros: shape.latency }] },
    });
    const { clock } = this.kernel.process("meter");
    this.meter = new Meter(clock, () => this.times, experiment.until);
    this.drains = new DrainWitness(clock, this.store);
    this.pods = new PodWitness(clock, this.store, (micros) => this.meter.podStarted(micros));
  }

  play(): CapacityRun {
    const { experiment, kernel, options } = this;
    const stage = this.build();
    furnish(stage);
    if (!this.runTo(experiment.settle)) throw new NothingMeasured();
    this.meter.begin();
    this.pods.begin();
    startWorkload(stage);
    const endMicros = experiment.settle + experiment.until;
    let stoppedBy: string | undefined;
    while (kernel.nowMicros() < endMicros && stoppedBy === undefined) {
      const next = Math.min(endMicros, kernel.nowMicros() + stopLookMicros);
      const isThere = this.measureTo(next);
      if (kernel.nowMicros() === experiment.settle) throw new NothingMeasured();
      this.bytesOverTime.push(this.store.bytes);
      stoppedBy = this.broken() ?? (isThere ? undefined : "interrupted");
    }
    if (options.metricsAtMicros === undefined) this.scrape();
    return this.figures(stage, stoppedBy);
  }

  /** Second by second. False: it was told to end before. */
  private measureTo(toMicros: Micros): boolean {
    const { kernel, experiment } = this;
    for (let at = kernel.nowMicros(); at < toMicros; ) {
      at = Math.min(toMicros, at + second);
      const isThere = this.runTo(at);
      this.meter.secondEnded();
      if (!isThere) return false;
      this.scrapeIfDue(at - experiment.settle);
    }
    return true;
  }

  /** False: it was told to end before. */
  private runTo(toMicros: Micros): boolean {
    const { kernel, experiment, options } = this;
    const endMicros = experiment.settle + experiment.until;
    do {
      if (options.onProgress?.(kernel.nowMicros() / endMicros) === true) return false;
    } while (!kernel.runSome(toMicros, eventsPerLook));
    return true;
  }

  private build(): Stage {
    const { cluster, experiment, options } = this;
    const { cluster: shape, profile: name } = experiment;
    const profile = profiles[name];
    const { dialect } = profile;
    const { server } = shape;
    const costs: Costs = { ...usualCosts, ...withoutUndefined(experiment.costs) };
    cluster.addServer("apiserver", (process) => {
      this.times = new ServiceTimes(process.clock, {
        costs,
        cores: server.cores,
        bytesPerSecond: server.bytesPerSecond,
      });
      return {
        profile,
        featureGates: { WatchList: server.streamingLists },
        historyWindowMicros: server.historyWindow,
        requestTimeoutMicros: server.requestTimeout,
        limits: {
          readsMax: server.reads,
          mutationsMax: server.writes,
          queueMax: server.queue,
          queueWaitMicrosMax: server.queueWait,
        },
        costs: this.times,
        meter: this.meter,
      };
    });
    const rateOf = (rate: Experiment["cluster"]["controllers"]) =>
      rate === "none" ? {} : { rate: { intervalMicros: Math.floor(second / rate.perSecond), burst: rate.burst } };
    cluster.add("controllers", (process) =>
      startClusterControllers({ process, server: cluster.api(process), dialect, ...rateOf(shape.controllers) }),
    );
    const { system } = dialect.systemNamespaces;
    cluster.add("scheduler", (process) => {
      startScheduler({ process, server: cluster.api(process), dialect, ...rateOf(shape.scheduler) });
      if (shape.heldLeases)
        holdLease(driverContext(cluster, process, "scheduler", dialect, true), system, "scheduler", 2 * second);
    });
    if (shape.heldLeases)
      cluster.add("apiserver identity", (process) =>
        holdLease(driverContext(cluster, process, "apiserver", dialect, true), system, "apiserver", 10 * second),
      );
    const fleet =
      shape.agents.kind === "real"
        ? startAgents(cluster, experiment, dialect, imagesOf(experiment))
        : startSilentNodes(cluster, experiment, dialect);
    return { cluster, experiment, dialect, fleet, drains: this.drains, logs: options.logs ?? new Map() };
  }

  /** The first of the stop conditions that is broken. */
  private broken(): string | undefined {
    const judged = this.judged();
    for (const condition of this.experiment.stop) {
      const result = judgeObjective(condition, judged);
      if (!result.met) return result.text;
    }
    return undefined;
  }

  private judged(): Judged {
    return {
      meter: this.meter,
      store: this.store,
      pods: this.pods,
      times: this.times,
      virtualMicros: Math.max(1, this.kernel.nowMicros() - this.experiment.settle),
      cores: this.experiment.cluster.server.cores,
    };
  }

  private scrapeIfDue(atMicros: Micros): void {
    const { metricsAtMicros } = this.options;
    if (metricsAtMicros === undefined || atMicros < metricsAtMicros || atMicros - second >= metricsAtMicros) return;
    this.scrape();
  }

  private scrape(): void {
    const server = this.cluster.members.get("apiserver")?.made as { readonly metricsText?: () => string } | undefined;
    if (server?.metricsText !== undefined) this.options.onMetrics?.(server.metricsText());
  }

  private figures(stage: Stage, stoppedBy: string | undefined): CapacityRun {
    const { experiment, options, store, kernel, meter, pods } = this;
    const counted = meter.figures(stage.fleet.nodes.length);
    const judged = this.judged();
    return {
      arm: options.arm,
      repetition: options.repetition,
      seed: this.seed,
      virtualMicros: kernel.nowMicros() - experiment.settle,
      ...(stoppedBy === undefined ? {} : { stoppedBy }),
      nodes: stage.fleet.nodes.length,
      ...counted,
      processor: { ...counted.processor, cores: experiment.cluster.server.cores },
      store: {
        objects: [...store.live]
          .map(([resource, size]) => ({ resource, ...size }))
          .sort((one, other) => (one.resource < other.resource ? -1 : 1)),
        bytes: store.bytes,
        bytesMost: store.bytesMost,
        revisions: store.oldCount,
        revisionBytes: store.oldBytes,
        bytesOverTime: this.bytesOverTime,
      },
      ...pods.figures(),
      ...this.drains.figures(),
      objectives: experiment.objectives.map((objective) => judgeObjective(objective, judged)),
      measured: { wallMillis: 0, events: 0 },
    };
  }
}

/** On every node from the start, so that start-up is without pulls; but for those that are to be pulled. */
function imagesOf({ cluster, workload }: Experiment): readonly ImageRow[] {
  const shapes: readonly (readonly [path: string, shape: PodShape])[] = [
    ...cluster.deployments.map((shape, index) => [`cluster.deployments.${index}`, shape] as const),
    ...workload.flatMap((row, index) =>
      row.do === "burst" || row.do === "churn" ? [[`workload.${index}`, row] as const] : [],
    ),
  ];
  const used = shapes.flatMap(([path, shape]): readonly ImageRow[] => {
    if (shape.uses === undefined) return [];
    try {
      const memory = parseUsage(shape.uses);
      return [{ name: imageOf(shape), sizeBytes: 20_000_000, present: true, runs: { memory } }];
    } catch (error) {
      if (error instanceof UsageTextError) throw new ExperimentError(`${path}.uses`, error.message);
      throw error;
    }
  });
  const pulled = workload.flatMap((row): readonly ImageRow[] =>
    row.do === "pull" ? [{ name: pulledImage(row.name), sizeBytes: imageBytes(row.imageSize) }] : [],
  );
  const plain = [...new Set(shapes.filter(([, { uses }]) => uses === undefined).map(([, shape]) => imageOf(shape)))];
  return [
    ...used,
    ...pulled,
    ...plain.map((name) => ({ name, sizeBytes: 20_000_000, present: true })),
    { name: "app:1", sizeBytes: 20_000_000, present: true },
  ];
}

function withoutUndefined<Values extends object>(
  values: Values,
): { [Key in keyof Values]: Exclude<Values[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
