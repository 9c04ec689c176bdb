/** The probes of an agent's pods. A pod without probes has nothing here. Source: the facts, Probes. */
import type { ContainerStatus } from "./pod-types.ts";
import { type Container, containerOf, isSidecar } from "./pod-types.ts";
import type { HeldPod, HeldProbe, ProbeKind } from "./held-pod.ts";
import { type ProbeContext, ProbeWorker } from "./probe-worker.ts";
import type { ProbeView } from "./status-builder.ts";
import type { ProbeVerdicts, Verdict } from "./sync-plan.ts";
import type { Micros, Prng } from "../../kernel/types.ts";
import { allNamed } from "../runtime/named.ts";
import { microsOfSeconds } from "../seconds.ts";

/** Probes with longer periods are spread over so much of it: about an hour. */
const spreadMicrosMax: Micros = 4_000_000_000;

const kinds = [
  ["startup", "startupProbe"],
  ["readiness", "readinessProbe"],
  ["liveness", "livenessProbe"],
] as const satisfies readonly (readonly [ProbeKind, keyof Container])[];

export class Probes {
  private readonly context: ProbeContext;
  private readonly startedMicros: Micros;
  private readonly prng: Prng;

  constructor(context: ProbeContext) {
    this.context = context;
    this.prng = context.process.prng.stream("probes");
    this.startedMicros = context.process.clock.nowMicros();
  }

  /** Begins the pod's probes, if it has any and they have not begun. */
  add(held: HeldPod): void {
    if (held.probes !== undefined) return;
    const { initContainers = [], containers } = held.pod.spec;
    const workers: ProbeWorker[] = [];
    for (const [list, isInit] of [
      [initContainers.filter(isSidecar), true],
      [containers, false],
    ] as const) {
      for (const container of list) {
        for (const [kind, field] of kinds) {
          const spec = container[field];
          if (spec !== undefined) workers.push(new ProbeWorker(this.context, held, container, kind, spec, isInit));
        }
      }
    }
    if (workers.length === 0) return;
    held.probes = workers;
    for (const worker of workers) worker.start(this.delayMicros(worker));
  }

  /** Of a young agent: its pods come all at once, and their probes are spread over their period. */
  private delayMicros({ spec: { periodSeconds = 10 } }: ProbeWorker): Micros {
    const periodMicros = microsOfSeconds(periodSeconds);
    const isYoung = this.context.process.clock.nowMicros() - this.startedMicros < periodMicros;
    return isYoung ? this.prng.intInclusive(0, Math.min(periodMicros, spreadMicrosMax)) : 0;
  }

  stopLivenessAndStartup(held: HeldPod): void {
    for (const worker of held.probes ?? []) if (worker.kind !== "readiness") worker.stop();
  }

  remove(held: HeldPod): void {
    for (const worker of held.probes ?? []) worker.stop();
    held.probes = undefined;
  }

  /** `triggers`: a readiness that is not known to be good is probed at once. */
  view(held: HeldPod, triggers: boolean): ProbeView & { wasTriggered: boolean } {
    const view = {
      wasTriggered: false,
      isStarted: (status: ContainerStatus) => {
        if (status.state.running === undefined) return false;
        const worker = workerOf(held, status.name, "startup");
        if (worker === undefined) return containerOf(held.pod.spec, status.name)?.startupProbe === undefined;
        return worker.containerId === status.containerID && worker.result === true;
      },
      isReady: (status: ContainerStatus) => {
        const worker = workerOf(held, status.name, "readiness");
        // Before the worker is there, a container that has such a probe is not ready.
        if (worker === undefined) return containerOf(held.pod.spec, status.name)?.readinessProbe === undefined;
        if (worker.containerId === status.containerID && worker.result === true) return true;
        if (triggers) {
          worker.trigger();
          view.wasTriggered = true;
        }
        return false;
      },
    };
    return view;
  }

  verdicts(held: HeldPod): ProbeVerdicts {
    const of =
      (kind: ProbeKind): Verdict =>
      ({ name, id }) => {
        const worker = workerOf(held, name, kind);
        return worker?.containerId.endsWith(`//${id}`) === true ? worker.result : undefined;
      };
    return { liveness: of("liveness"), startup: of("startup") };
  }
}

function workerOf(held: HeldPod, name: string, kind: ProbeKind): HeldProbe | undefined {
  return held.probes === undefined ? undefined : allNamed(held.probes, name).find((worker) => worker.kind === kind);
}
