/**
 * Takes away what is dead: once a minute what nobody needs any more, and of each container that ends, all but its newest
 * remains at once. Source: the facts, Garbage collection.
 */
import type { Micros } from "../../kernel/types.ts";
import type { PodOptions } from "../ports.ts";
import { kept, later, piece, turns } from "../piece.ts";
import { apart, run, type Task } from "../task.ts";
import type { CriCaller } from "./cri-caller.ts";
import { removeLogs } from "./log-files.ts";
import type { RuntimeContainer, RuntimePod } from "./runtime-pod.ts";
import { allNamed } from "./named.ts";

const periodMicros: Micros = 60_000_000;

export interface GarbageOptions {
  readonly cri: CriCaller;
  readonly limits: Pick<
    PodOptions,
    "deadContainersPerContainerMax" | "deadContainersMax" | "deadContainerAgeMicrosMin"
  >;
  /** Of the first pass. */
  readonly delayMicros: Micros;
  readonly pods: () => Iterable<RuntimePod>;
  /** Its source is done with it, and so is its worker: all of it goes. */
  readonly isDeleted: (uid: string) => boolean;
  /** Its containers will not run again. */
  readonly hasEnded: (uid: string) => boolean;
  /** Every source has reported: what nobody knows is nobody's. */
  readonly isSure: () => boolean;
}

export class Garbage {
  private readonly options: GarbageOptions;
  /** Nothing has changed since the last pass. */
  private isClean = false;
  private isRunning = false;
  private readonly queue = new Map<string, RuntimeContainer>();
  private isRemoving = false;

  constructor(options: GarbageOptions) {
    this.options = options;
  }

  start(): void {
    const { cri, delayMicros } = this.options;
    later(cri.process, delayMicros, () =>
      turns(cri.process, "container-garbage", "a look for remains of containers", periodMicros, (next) => {
        this.collect(false, () => {});
        next(periodMicros);
      }),
    );
  }

  /** Something in the runtime or about a pod has changed. */
  dirty(): void {
    this.isClean = false;
  }

  /** `all`: remains of pods that have ended go too. `done` fires once, at once or later. */
  collect(all: boolean, done: () => void): void {
    if (this.isRunning || (this.isClean && !all)) {
      done();
      return;
    }
    this.isRunning = true;
    this.isClean = true;
    const told = kept(done);
    const end = (): void => {
      this.isRunning = false;
      told();
    };
    piece(
      this.options.cri.process,
      "container-garbage",
      "remains of containers",
      () => run(this.pass(all), end),
      () => {
        this.isClean = false;
        end();
      },
    );
  }

  /** Containers of the pod were found dead; with `all` everything dead of the pod goes. */
  trim(pod: RuntimePod, died: readonly string[], all: boolean): void {
    if (all) this.enqueue(pod.containers, 0);
    else {
      const kept = Math.max(this.options.limits.deadContainersPerContainerMax, 1);
      const ended = new Set(died);
      const names = new Set(pod.containers.flatMap(({ id, name }) => (ended.has(id) ? [name] : [])));
      for (const name of names) this.enqueue(allNamed(pod.containers, name), kept);
    }
    this.removeNext();
  }

  private enqueue(containers: readonly RuntimeContainer[], kept: number): void {
    const dead = containers.filter(({ state }) => state === "CONTAINER_EXITED");
    for (const each of dead.slice(kept)) if (!this.queue.has(each.id)) this.queue.set(each.id, each);
  }

  private removeNext(): void {
    if (this.isRemoving) return;
    const { value: container } = this.queue.values().next();
    if (container === undefined) return;
    this.isRemoving = true;
    // One that throws is left to the pass of the next minute.
    const end = (): void => {
      this.queue.delete(container.id);
      this.isRemoving = false;
      this.removeNext();
    };
    piece(
      this.options.cri.process,
      "container-garbage",
      () => `remains of container ${container.id}`,
      () => run(this.remove(container), end),
      () => {
        this.isClean = false;
        end();
      },
    );
  }

  /** True once there is no such container. Its log goes with it. */
  private *remove({ id, logPath }: RuntimeContainer): Task<boolean> {
    const { cri } = this.options;
    const answer = yield* cri.ask("RemoveContainer", { containerId: id });
    if (!answer.ok && answer.code !== 5) return false;
    if (logPath !== "") yield* removeLogs(cri, logPath);
    return true;
  }

  private *pass(all: boolean): Task<void> {
    const { cri, pods } = this.options;
    const list = [...pods()];
    const removed = new Set<string>();
    for (const container of this.deadContainers(list, all)) {
      const what = (): string => `remains of container ${container.id}`;
      const isRemoved = yield* apart(cri.process, "container-garbage", what, this.remove(container));
      if (isRemoved === true) removed.add(container.id);
      this.isClean &&= isRemoved !== undefined;
    }
    for (const id of this.deadSandboxes(list, removed, all)) {
      const what = (): string => `remains of sandbox ${id}`;
      const isRemoved = yield* apart(cri.process, "container-garbage", what, this.removeSandbox(id));
      this.isClean &&= isRemoved !== undefined;
    }
  }

  private *removeSandbox(podSandboxId: string): Task<true> {
    const { cri } = this.options;
    yield* cri.ask("StopPodSandbox", { podSandboxId });
    yield* cri.ask("RemovePodSandbox", { podSandboxId });
    return true;
  }

  private deadContainers(list: readonly RuntimePod[], all: boolean): readonly RuntimeContainer[] {
    const { limits, cri, isSure } = this.options;
    const { deadContainersPerContainerMax, deadContainersMax, deadContainerAgeMicrosMin } = limits;
    const { clock } = cri.process;
    const nowNanos = (clock.epochUnixMillis * 1000 + clock.nowMicros()) * 1000;
    const isOld = ({ createdAt }: RuntimeContainer): boolean =>
      nowNanos - createdAt >= deadContainerAgeMicrosMin * 1000;
    const gone: RuntimeContainer[] = [];
    let groups: RuntimeContainer[][] = [];
    for (const pod of list) {
      const dead = pod.containers.filter((each) => each.state !== "CONTAINER_RUNNING" && isOld(each));
      if (dead.length === 0) continue;
      if (isSure() && this.isRemovable(pod.uid, all)) {
        for (const each of dead) gone.push(each);
        continue;
      }
      const byName = Map.groupBy(dead, ({ name }) => name);
      for (const group of byName.values()) groups.push(group);
    }
    if (deadContainersPerContainerMax >= 0) {
      groups = groups.map((group) => trimmed(group, deadContainersPerContainerMax, gone));
    }
    const left = groups.reduce((sum, { length }) => sum + length, 0);
    if (deadContainersMax >= 0 && left > deadContainersMax) {
      const share = Math.max(1, Math.floor(deadContainersMax / groups.length));
      groups = groups.map((group) => trimmed(group, share, gone));
      const rest = groups.flat().sort((one, other) => other.createdAt - one.createdAt);
      trimmed(rest, deadContainersMax, gone);
    }
    return gone;
  }

  private deadSandboxes(list: readonly RuntimePod[], removed: ReadonlySet<string>, all: boolean): readonly string[] {
    const ids: string[] = [];
    for (const { uid, sandboxes, containers } of list) {
      if (containers.some(({ id }) => !removed.has(id))) continue;
      const isRemovable = this.options.isSure() && this.isRemovable(uid, all);
      sandboxes.forEach(({ id, state }, at) => {
        if (state !== "SANDBOX_READY" && (isRemovable || at > 0)) ids.push(id);
      });
    }
    return ids;
  }

  private isRemovable(uid: string, all: boolean): boolean {
    return this.options.isDeleted(uid) || (all && this.options.hasEnded(uid));
  }
}

/** Keeps the newest; the others are added to `gone`. */
function trimmed(group: RuntimeContainer[], keepMax: number, gone: RuntimeContainer[]): RuntimeContainer[] {
  for (const each of group.slice(keepMax)) gone.push(each);
  return group.slice(0, keepMax);
}
