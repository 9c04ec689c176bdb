/**
 * How long nodes take to be drained, seen at the store: from the first eviction that is asked for until what ran there runs
 * elsewhere.
 *
 * Simplification: which new pod stands for which old one is nowhere written. The next that an owner makes stands for the pod of
 * its own that has been ended the longest without one; whatever else changes an owner's number of pods meanwhile is taken for it, too.
 */
import { LatencyHistogram } from "../../reports/capacity/latency-histogram.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { InvariantError } from "../kernel/invariant.ts";
import type { Clock, Micros } from "../kernel/types.ts";
import type { Store, StoreEvent } from "../store/types.ts";

interface Pod {
  readonly metadata: {
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly {
      readonly uid: string;
      readonly kind: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

interface Drain {
  readonly sinceMicros: Micros;
  /** Pods that are still there, or that nothing runs for elsewhere. */
  open: number;
}

/** One pod of a node that is drained. */
interface Move {
  readonly drain: Drain;
  /** Who makes another one; undefined: nobody, or not elsewhere. */
  readonly owner: string | undefined;
  isEnded: boolean;
  isGone: boolean;
  isReplaced: boolean;
}

const podKeys = "/registry/pods/";

export class DrainWitness {
  private readonly clock: Clock;
  private readonly drains = new Map<string, Drain>();
  /** By the keys of the pods that are to go. */
  private readonly moves = new Map<string, Move>();
  /** By owner, those without another pod, longest first. */
  private readonly waiting = new Map<string, Move[]>();
  /** By the keys of pods that do not run yet, whose place they take. */
  private readonly coming = new Map<string, Move>();
  private readonly took = new LatencyHistogram();
  private firstMicros: Micros | undefined;
  private lastMicros: Micros = 0;

  constructor(clock: Clock, store: Store) {
    this.clock = clock;
    store.subscribe((event) => {
      if (this.drains.size > 0 && event.key.startsWith(podKeys)) this.hear(event);
    });
  }

  /** The node's pods, as they are stored, are evicted from now on. */
  begin(node: string, pods: readonly object[]): void {
    if (this.drains.has(node)) return;
    const now = this.clock.nowMicros();
    this.firstMicros ??= now;
    const drain: Drain = { sinceMicros: now, open: pods.length };
    this.drains.set(node, drain);
    if (drain.open === 0) this.ended(drain);
    for (const pod of pods as readonly Pod[]) {
      const { namespace = "", name = "" } = pod.metadata as { readonly namespace?: string; readonly name?: string };
      const owner = ownerOf(pod);
      const move: Move = { drain, owner, isEnded: false, isGone: false, isReplaced: owner === undefined };
      this.moves.set(`${podKeys}${namespace}/${name}`, move);
      if (pod.metadata.deletionTimestamp !== undefined) this.endedPod(`${podKeys}${namespace}/${name}`, move);
    }
  }

  figures(): Pick<CapacityRun, "drains"> {
    if (this.firstMicros === undefined) return {};
    const isWhole = this.took.count === this.drains.size;
    return {
      drains: {
        nodes: this.drains.size,
        done: this.took.count,
        micros: this.took.data(),
        ...(isWhole ? { wholeMicros: this.lastMicros - this.firstMicros } : {}),
      },
    };
  }

  private hear({ key, value, previous }: StoreEvent): void {
    const pod = value as Pod | undefined;
    const move = this.moves.get(key);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) {
      if (move !== undefined && !move.isEnded) this.endedPod(key, move);
      this.lost(key);
      if (pod === undefined && move !== undefined) {
        this.moves.delete(key);
        move.isGone = true;
        this.look(move);
      }
      return;
    }
    if (previous === undefined) this.comes(key, pod);
    this.runs(key, pod);
  }

  /** Its owner makes another one now, unless this one has never run for anybody. */
  private endedPod(key: string, move: Move): void {
    move.isEnded = true;
    if (this.coming.has(key)) move.isReplaced = true;
    if (move.owner === undefined || move.isReplaced) return;
    const list = this.waiting.get(move.owner);
    if (list === undefined) this.waiting.set(move.owner, [move]);
    else list.push(move);
  }

  private comes(key: string, pod: Pod): void {
    const owner = ownerOf(pod);
    const move = owner === undefined ? undefined : this.waiting.get(owner)?.shift();
    if (move !== undefined) this.coming.set(key, move);
  }

  private runs(key: string, { spec, status }: Pod): void {
    const move = this.coming.get(key);
    if (move === undefined || status?.phase !== "Running" || this.drains.has(spec?.nodeName ?? "")) return;
    this.coming.delete(key);
    move.isReplaced = true;
    this.look(move);
  }

  /** One that was to take a place and never ran: the next one takes it. */
  private lost(key: string): void {
    const move = this.coming.get(key);
    if (move === undefined) return;
    this.coming.delete(key);
    if (move.owner === undefined) throw new InvariantError("only what has an owner is replaced", key);
    this.waiting.set(move.owner, [move, ...(this.waiting.get(move.owner) ?? [])]);
  }

  private look(move: Move): void {
    if (!move.isGone || !move.isReplaced) return;
    move.drain.open--;
    if (move.drain.open === 0) this.ended(move.drain);
  }

  private ended({ sinceMicros }: Drain): void {
    this.lastMicros = this.clock.nowMicros();
    this.took.add(this.lastMicros - sinceMicros);
  }
}

/** Whoever makes another one, on another node: a daemon's is made on the same. */
function ownerOf({ metadata }: Pod): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner === undefined || owner.kind === "DaemonSet" ? undefined : owner.uid;
}
