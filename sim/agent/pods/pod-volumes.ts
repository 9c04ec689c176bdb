/**
 * Volumes of the pods that an agent holds: made beside the syncs of their pods before anything is started, and made anew when what
 * they are made of has changed. That happens with the pod's next sync, which comes within one and a half periods; a token is asked
 * for anew when four fifths of its time are over.
 * Source: the facts, Loops; the published agent, which looks at all volumes of a pod that follow objects in each of its syncs.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Cancel, Micros, Prng, Process } from "../../kernel/types.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { ObjectWatches } from "../client/object-watches.ts";
import type { AgentEvents } from "../ports.ts";
import { mountVolumes, remakeVolumes, type VolumeContext } from "../runtime/volumes.ts";
import { piece } from "../piece.ts";
import { run, type Task, wait } from "../task.ts";
import type { HeldPod, Mounting } from "./held-pod.ts";

/** An exception has ended what made them: they are made anew after so long. */
const failedMicros: Micros = 10_000_000;
/** How long a sync waits for volumes. */
const mountMicrosMax: Micros = 123_000_000;

export interface PodVolumesOptions {
  readonly process: Process;
  readonly events: AgentEvents;
  readonly syncFrequencyMicros: Micros;
  readonly context: (held: HeldPod) => VolumeContext;
  /** Undefined: there is no server whose objects could change. */
  readonly watches: ObjectWatches | undefined;
  /** The pod is to be looked at by then. */
  readonly lookBy: (held: HeldPod, micros: Micros) => void;
}

export class PodVolumes {
  private readonly options: PodVolumesOptions;
  private readonly prng: Prng;

  constructor(options: PodVolumesOptions) {
    this.options = options;
    this.prng = options.process.prng.stream("volumes");
  }

  /** Whether all are there; what has changed is made anew meanwhile. */
  *mounted(held: HeldPod): Task<boolean> {
    if ((held.pod.spec.volumes ?? []).length === 0) return true;
    const mounting = (held.mounting ??= this.mount(held));
    if (mounting.isDone) {
      if (this.mustRemake(held, mounting)) this.remake(held, mounting);
      return true;
    }
    if (!mounting.isBroken) {
      const isThere = yield* this.awaited(mounting);
      if (!mounting.isBroken) return isThere;
    }
    leaveVolumes(held);
    if (held.mounting === mounting) held.mounting = undefined;
    return false;
  }

  private *awaited(mounting: Mounting): Task<boolean> {
    return yield* wait<boolean>((resume) => {
      const cancel = this.options.process.clock.after(mountMicrosMax, () => {
        mounting.whenDone = undefined;
        resume(false);
      });
      mounting.whenDone = () => {
        cancel();
        resume(true);
      };
      return () => {
        cancel();
        mounting.whenDone = undefined;
      };
    });
  }

  private mount(held: HeldPod): Mounting {
    const mounting: Mounting = {
      isDone: false,
      isBroken: false,
      whenDone: undefined,
      made: new Map(),
      object: held.object,
      isStale: false,
      isRemaking: false,
      dueMicros: Infinity,
      cancelTask: () => {},
      cancelMinding: [],
    };
    const task = mountVolumes(this.options.context(held), held.object, mounting.made, this.failed(held));
    this.make(held, mounting, task, () => {
      mounting.isDone = true;
      this.mind(held, mounting);
      mounting.whenDone?.();
    });
    return mounting;
  }

  private mustRemake({ object }: HeldPod, mounting: Mounting): boolean {
    if (mounting.made.size === 0 || mounting.isRemaking) return false;
    const nowMicros = this.options.process.clock.nowMicros();
    return mounting.isStale || nowMicros >= mounting.dueMicros || !tellsSame(mounting.object, object);
  }

  private remake(held: HeldPod, mounting: Mounting): void {
    mounting.isStale = false;
    mounting.isRemaking = true;
    mounting.dueMicros = Infinity;
    mounting.object = held.object;
    const task = remakeVolumes(this.options.context(held), held.object, mounting.made, this.failed(held));
    this.make(held, mounting, task, () => {
      mounting.isRemaking = false;
      this.mind(held, mounting);
    });
  }

  private make(held: HeldPod, mounting: Mounting, task: Task<void>, done: () => void): void {
    const { process, lookBy } = this.options;
    const what = (): string => `volumes of pod ${held.namespace}/${held.name} (${held.uid})`;
    const begin = (): void => {
      mounting.cancelTask = run(task, done);
    };
    piece(process, "volumes", what, begin, () => {
      mounting.isRemaking = false;
      if (mounting.isDone) {
        mounting.isStale = true;
        mounting.dueMicros = process.clock.nowMicros() + failedMicros;
        held.steady = undefined;
        lookBy(held, mounting.dueMicros);
      } else mounting.isBroken = true;
      mounting.whenDone?.();
    });
  }

  private readonly failed =
    (held: HeldPod) =>
    (message: string): void =>
      this.options.events.pod(held.object, "Warning", "FailedMount", message);

  /** From now on whatever they are made of is watched, and nothing else. */
  private mind(held: HeldPod, mounting: Mounting): void {
    const { watches, lookBy, process } = this.options;
    const before = mounting.cancelMinding;
    const minding: Cancel[] = [];
    const changed = (): void => {
      mounting.isStale = true;
      held.steady = undefined;
      mounting.dueMicros = Math.min(mounting.dueMicros, process.clock.nowMicros() + this.untilNextSync());
      lookBy(held, mounting.dueMicros);
    };
    mounting.cancelMinding = minding;
    try {
      for (const { seen, dueMicros } of mounting.made.values()) {
        mounting.dueMicros = Math.min(mounting.dueMicros, dueMicros);
        for (const [reference, version] of seen) {
          if (watches !== undefined) minding.push(watches.mind(reference, version, changed));
        }
      }
    } finally {
      for (const cancel of before) cancel();
    }
    if (mounting.dueMicros !== Infinity) lookBy(held, mounting.dueMicros);
  }

  /** Idle pods are not looked at, so that the rest of a period is drawn here. */
  private untilNextSync(): Micros {
    const { syncFrequencyMicros } = this.options;
    return this.prng.intInclusive(0, syncFrequencyMicros + Math.floor(syncFrequencyMicros / 2));
  }
}

/** Nothing more is made, and nothing watched. */
export function leaveVolumes({ mounting }: HeldPod): void {
  mounting?.cancelTask();
  for (const cancel of mounting?.cancelMinding ?? []) cancel();
  if (mounting !== undefined) mounting.cancelMinding = [];
}

/** What a pod says of itself in files has not changed. */
function tellsSame(before: JsonObject, after: JsonObject): boolean {
  if (before === after) return true;
  const [old, now] = [metadataOf(before), metadataOf(after)];
  return (
    same(old.labels as Json, now.labels as Json) &&
    same(old.annotations as Json, now.annotations as Json) &&
    same(before["spec"], after["spec"])
  );
}

const same = (one: Json | undefined, other: Json | undefined): boolean => one === other || jsonEqual(one, other);
