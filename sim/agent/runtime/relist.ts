/**
 * What changes in the runtime, by listing it once a second and comparing. A list of an unchanged runtime says so by its
 * generation, and then nothing is compared. A runtime in the same process that promises to tell of changes is not even
 * listed until it does. The outcome is the same.
 * Source: the facts, Loops and Container runtime interface. A list that takes long puts off the next.
 */
import type { Cancel, Micros } from "../../kernel/types.ts";
import { later, piece, turns } from "../piece.ts";
import { apart, run, type Task } from "../task.ts";
import type { CriCaller } from "./cri-caller.ts";
import { inspectPod, type PodName } from "./inspection.ts";
import { labels, type RuntimePod } from "./runtime-pod.ts";

const periodMicros: Micros = 1_000_000;

export interface PodChange {
  readonly uid: string;
  /** Undefined: nothing of it is left. */
  readonly pod: RuntimePod | undefined;
  /** Something began or ended; not merely its remains were removed. */
  readonly matters: boolean;
  /** Containers that were found dead for the first time. */
  readonly died: readonly string[];
}

export interface RelistOptions {
  readonly cri: CriCaller;
  /** Before the first list. */
  readonly delayMicros: Micros;
  /** After each list that worked: what has changed since the last. */
  readonly relisted: (changes: readonly PodChange[], beganMicros: Micros) => void;
  /** Somebody waits for the next list. */
  readonly isAwaited: () => boolean;
}

type State = "up" | "down" | "other";

interface Item {
  readonly pod: PodName;
  readonly state: State;
  readonly isSandbox: boolean;
}

export class Relist {
  private readonly options: RelistOptions;
  private items: ReadonlyMap<string, Item> = new Map();
  private generations: string | undefined;
  /** Pods whose details could not be read: their changes wait. */
  private readonly unread = new Map<string, PodName>();
  private listedMicros: Micros = -1;
  /** While nothing changes: since the last list. */
  private sleep: { readonly sinceMicros: Micros; readonly next: (micros: Micros) => void } | undefined;
  private cancelQuiet: Cancel = () => {};

  constructor(options: RelistOptions) {
    this.options = options;
  }

  start(): void {
    const { cri, delayMicros } = this.options;
    later(cri.process, delayMicros, () =>
      turns(cri.process, "relist", "a list of the runtime", periodMicros, (next) => this.look(next)),
    );
  }

  /** When the last list that worked began, or would have begun; -1: none yet. */
  get lastMicros(): Micros {
    if (this.sleep === undefined) return this.listedMicros;
    const { sinceMicros } = this.sleep;
    const nowMicros = this.options.cri.process.clock.nowMicros();
    return nowMicros - ((nowMicros - sinceMicros) % periodMicros);
  }

  /** Lists again when it is time, even if nothing should have changed. */
  wake(): void {
    if (this.sleep === undefined) return;
    const { sinceMicros, next } = this.sleep;
    const { clock } = this.options.cri.process;
    const over = (clock.nowMicros() - sinceMicros) % periodMicros;
    next(periodMicros - over);
    this.listedMicros = this.lastMicros;
    this.sleep = undefined;
    this.cancelQuiet();
  }

  private look(next: (micros: Micros) => void): void {
    const { cri, isAwaited } = this.options;
    const { clock } = cri.process;
    const sinceMicros = clock.nowMicros();
    let isQuiet = true;
    // Before it is listed: what changes while the lists are read is a change.
    this.cancelQuiet();
    const cancel = cri.runtime.quiet?.(() => {
      isQuiet = false;
      const wake = (): void => this.wake();
      piece(cri.process, "relist", "news of the runtime", wake, wake);
    });
    this.cancelQuiet = cancel ?? (() => {});
    run(this.relist(), () => {
      const isOver = this.listedMicros === sinceMicros && clock.nowMicros() === sinceMicros && this.unread.size === 0;
      if (cancel !== undefined && isQuiet && isOver && !isAwaited()) {
        this.sleep = { sinceMicros, next };
        return;
      }
      cancel?.();
      next(periodMicros);
    });
  }

  private *relist(): Task<void> {
    const { cri, relisted } = this.options;
    const beganMicros = cri.process.clock.nowMicros();
    const sandboxes = yield* cri.ask("ListPodSandbox", {});
    if (!sandboxes.ok) return;
    const containers = yield* cri.ask("ListContainers", { filter: {} });
    if (!containers.ok) return;
    const generations =
      sandboxes.generation === undefined || containers.generation === undefined
        ? undefined
        : `${sandboxes.generation} ${containers.generation}`;
    const isSame = generations !== undefined && generations === this.generations && this.unread.size === 0;
    if (isSame) {
      this.listedMicros = beganMicros;
      relisted(none, beganMicros);
      return;
    }
    const items = new Map<string, Item>();
    for (const listed of sandboxes.message.items) {
      const item = itemOf(listed, listed.state === "SANDBOX_READY" ? "up" : "down", true, this.items.get(listed.id));
      if (item !== undefined) items.set(listed.id, item);
    }
    for (const listed of containers.message.containers) {
      const item = itemOf(listed, stateOf(listed.state), false, this.items.get(listed.id));
      if (item !== undefined) items.set(listed.id, item);
    }
    const found = changes(this.items, items);
    for (const [uid, pod] of this.unread) if (!found.has(uid)) found.set(uid, { pod, matters: true, died: [] });
    const told: PodChange[] = [];
    if (found.size > 0) markLeft(found, items);
    for (const [uid, { pod, matters, died, isLeft }] of found) {
      const what = (): string => `details of pod ${pod.namespace}/${pod.name}`;
      const inspected =
        isLeft === true
          ? ((yield* apart(cri.process, "relist", what, inspectPod(cri, pod, beganMicros))) ?? unreadable)
          : undefined;
      if (inspected !== undefined && "error" in inspected) {
        this.unread.set(uid, pod);
        continue;
      }
      told.push({ uid, pod: inspected, matters, died });
    }
    const before = this.items;
    this.items = items;
    this.generations = generations;
    this.listedMicros = beganMicros;
    try {
      relisted(told, beganMicros);
    } catch (error) {
      this.items = before; // what was not heard of is found again
      this.generations = undefined;
      throw error;
    }
    for (const { uid } of told) this.unread.delete(uid);
  }
}

const none: readonly PodChange[] = [];
/** An exception is told where it was met. */
const unreadable = { error: "" } as const;

interface Found {
  readonly pod: PodName;
  matters: boolean;
  readonly died: string[];
  /** Something of the pod is still listed. */
  isLeft?: true;
}

function changes(before: ReadonlyMap<string, Item>, after: ReadonlyMap<string, Item>): Map<string, Found> {
  const found = new Map<string, Found>();
  const of = (pod: PodName): Found => {
    let entry = found.get(pod.uid);
    if (entry === undefined) {
      entry = { pod, matters: false, died: [] };
      found.set(pod.uid, entry);
    }
    return entry;
  };
  let keptCount = 0;
  for (const [id, item] of after) {
    const old = before.get(id);
    if (old !== undefined) keptCount++;
    if (old === item) continue;
    const entry = of(item.pod);
    // One that is made and not yet started changes what there is, but nobody waits for it.
    if (item.state !== "other") entry.matters = true;
    if (item.state === "down" && !item.isSandbox) entry.died.push(id);
  }
  if (keptCount === before.size) return found;
  for (const [id, item] of before) {
    if (after.has(id)) continue;
    const entry = of(item.pod);
    if (item.state !== "down") entry.matters = true;
  }
  return found;
}

function markLeft(found: ReadonlyMap<string, Found>, items: ReadonlyMap<string, Item>): void {
  for (const { pod } of items.values()) {
    const entry = found.get(pod.uid);
    if (entry !== undefined) entry.isLeft = true;
  }
}

/** As it was the last time, where that is so: most of a list is. */
function itemOf(
  { labels: own }: { readonly labels: Readonly<Record<string, string>> },
  state: State,
  isSandbox: boolean,
  before: Item | undefined,
): Item | undefined {
  if (before?.state === state) return before;
  const pod = before?.pod ?? nameOf(own);
  return pod === undefined ? undefined : { pod, state, isSandbox };
}

function nameOf(own: Readonly<Record<string, string>>): PodName | undefined {
  const uid = own[labels.podUid];
  // Without the label it is somebody else's: the agent never touches it.
  if (uid === undefined || uid === "") return undefined;
  return { uid, name: own[labels.podName] ?? "", namespace: own[labels.podNamespace] ?? "" };
}

const stateOf = (state: string): State =>
  state === "CONTAINER_RUNNING" ? "up" : state === "CONTAINER_EXITED" ? "down" : "other";
