/** Stops containers and sandboxes: hooks, grace periods and turns. Source: the facts, Stopping. */
import { type Container, containerOf, isSidecar, type Pod, podWords } from "../pods/pod-types.ts";
import type { KillReason } from "../pods/sync-plan.ts";
import { microsOfSeconds } from "../seconds.ts";
import { all, type Begin, run, type Task, within } from "../task.ts";
import { type CriCaller, failureWords } from "./cri-caller.ts";
import { runHook } from "./handlers.ts";
import type { RuntimeContainer, RuntimePod } from "./runtime-pod.ts";

/** The runtime is asked for no less, so that nothing is killed without a word. */
const graceSecondsMin = 2;

export interface Stopping {
  readonly cri: CriCaller;
  /** Undefined: a pod that only the runtime knows. */
  readonly pod: Pod | undefined;
  readonly podIp: string;
  /** About a container of the pod. */
  tell(container: string, type: "Normal" | "Warning", reason: string, message: string): void;
}

export interface KillOptions {
  /** Seconds; goes before what the pod says. */
  readonly graceSeconds?: number;
  readonly reason?: KillReason;
  readonly message?: string;
  readonly turns?: Turns;
}

/** Undefined when it worked out. */
export function* killContainer(
  stopping: Stopping,
  target: RuntimeContainer,
  options: KillOptions,
): Task<string | undefined> {
  const { cri, pod, podIp, tell } = stopping;
  const spec = pod === undefined ? undefined : containerOf(pod.spec, target.name);
  tell(target.name, "Normal", "Killing", options.message ?? `Stopping container ${target.name}`);
  let grace = options.graceSeconds ?? graceOf(pod, spec, options.reason ?? "other");
  const { clock } = cri.process;
  const preStop = spec?.lifecycle?.preStop;
  if (spec !== undefined && preStop !== undefined && grace > 0) {
    const beganMicros = clock.nowMicros();
    const place = { cri, container: spec, containerId: target.id, podIp };
    const hook = runHook(place, preStop, pod === undefined ? "" : podWords(pod));
    // The hook goes on when its time is over; it ends with its container.
    yield* within(
      clock,
      microsOfSeconds(grace),
      told(hook, () => tell(target.name, "Warning", "FailedPreStopHook", "PreStopHook failed")),
    );
    grace -= Math.floor((clock.nowMicros() - beganMicros) / 1_000_000);
  }
  if (options.turns !== undefined && grace > 0) {
    const beganMicros = clock.nowMicros();
    yield* within(clock, microsOfSeconds(grace), options.turns.wait(target.name));
    grace -= Math.floor((clock.nowMicros() - beganMicros) / 1_000_000);
  }
  grace = Math.max(grace, graceSecondsMin);
  const stopped = yield* cri.ask(
    "StopContainer",
    { containerId: target.id, timeout: grace },
    cri.timeoutMicros + microsOfSeconds(grace),
  );
  options.turns?.ended(target.name);
  return stopped.ok || stopped.code === 5 ? undefined : failureWords(stopped);
}

function* told<Result extends { readonly outcome: string }>(task: Task<Result>, failed: () => void): Task<Result> {
  const result = yield* task;
  if (result.outcome !== "success") failed();
  return result;
}

function graceOf(pod: Pod | undefined, spec: Container | undefined, reason: KillReason): number {
  if (pod === undefined) return graceSecondsMin;
  const { deletionGracePeriodSeconds } = pod.metadata;
  if (deletionGracePeriodSeconds !== undefined) return deletionGracePeriodSeconds;
  const own = pod.spec.terminationGracePeriodSeconds;
  if (own === undefined) return graceSecondsMin;
  if (reason === "startup") return spec?.startupProbe?.terminationGracePeriodSeconds ?? own;
  if (reason === "liveness") return spec?.livenessProbe?.terminationGracePeriodSeconds ?? own;
  return own;
}

/** Everything of a pod, side by side; then its sandboxes. What did not work out, or undefined. */
export function* killPod(
  stopping: Stopping,
  runtimePod: RuntimePod,
  graceSeconds: number | undefined,
): Task<string | undefined> {
  const running = runtimePod.containers.filter(({ state }) => state === "CONTAINER_RUNNING");
  const turns =
    stopping.pod?.spec.initContainers?.some(isSidecar) === true ? new Turns(stopping.pod, running) : undefined;
  const options: KillOptions = {
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(turns === undefined ? {} : { turns }),
  };
  const errors = yield* all(running.map((container) => killContainer(stopping, container, options)));
  const failed = errors.find((error) => error !== undefined);
  if (failed !== undefined) return `failed to "KillContainer" with KillContainerError: ${JSON.stringify(failed)}`;
  for (const { id } of runtimePod.sandboxes) {
    const stopped = yield* stopping.cri.ask("StopPodSandbox", { podSandboxId: id });
    if (!stopped.ok && stopped.code !== 5) {
      return `failed to "KillPodSandbox" with KillPodSandboxError: ${JSON.stringify(failureWords(stopped))}`;
    }
  }
  return undefined;
}

/** Sidecars go after all regular containers, and each after the sidecars that began later. */
class Turns {
  /** Who has to have ended before a sidecar's turn comes. */
  private readonly before = new Map<string, readonly string[]>();
  private readonly left: Set<string>;
  private readonly waiting = new Set<{ readonly name: string; readonly go: () => void }>();

  constructor(pod: Pod, running: readonly RuntimeContainer[]) {
    this.left = new Set(running.map(({ name }) => name));
    const later = pod.spec.containers.map(({ name }) => name);
    for (const init of [...(pod.spec.initContainers ?? [])].reverse()) {
      if (!isSidecar(init)) continue;
      this.before.set(init.name, [...later]);
      later.push(init.name);
    }
  }

  *wait(name: string): Task<void> {
    if (this.isDue(name)) return;
    const begin: Begin<unknown> = (resume) => {
      const entry = { name, go: () => resume(undefined) };
      this.waiting.add(entry);
      return () => void this.waiting.delete(entry);
    };
    yield begin;
  }

  ended(name: string): void {
    this.left.delete(name);
    for (const entry of [...this.waiting]) {
      if (!this.isDue(entry.name)) continue;
      this.waiting.delete(entry);
      entry.go();
    }
  }

  private isDue(name: string): boolean {
    return (this.before.get(name) ?? []).every((other) => !this.left.has(other));
  }
}

/** Kills a pod that nobody has a record of; errors are met again at the next look. */
export function killRuntimePod(stopping: Stopping, runtimePod: RuntimePod, done: () => void): void {
  run(killPod(stopping, runtimePod, 1), done);
}
