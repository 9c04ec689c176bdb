/**
 * Bounds what old versions take: beyond so many bytes the oldest are compacted before their time, and watches, lists and
 * pages that need them are answered as after any compaction. What is stored now does not count.
 */
import type { Process } from "../../kernel/types.ts";
import { knownBytesOf } from "../../objects/digest.ts";
import type { Store, StoreEvent } from "../../store/types.ts";

export interface HistoryLimitOptions {
  readonly process: Process;
  readonly store: Store;
  /** Of old versions, about as JSON, above zero. */
  readonly bytesMax: number;
  /** Drops what caches keep of changes up to a revision. */
  readonly forget: (revision: number) => void;
}

interface Superseded {
  readonly revision: number;
  readonly bytes: number;
}

/** Of what is dropped, more than has to be: not with every write anew. */
const keptShare = 3 / 4;

export interface HistoryLimit {
  /** What old versions take that may still be asked for. */
  bytes(): number;
  /** Drops all of them. */
  forget(): void;
}

/** Those that the clock has compacted are taken off the list when they are so many. */
const countedMin = 1024;

/** Watches the store until the process crashes. */
export function limitHistory({ process, store, bytesMax, forget }: HistoryLimitOptions): HistoryLimit {
  let superseded: Superseded[] = [];
  let bytes = 0;
  let isPlanned = false;
  /** The list is gone through again when it is twice as long as it was left. */
  let countMax = countedMin;
  const take = (isTaken: (next: Superseded) => boolean): Superseded | undefined => {
    let count = 0;
    for (; count < superseded.length; count++) {
      const next = superseded[count] as Superseded;
      if (!isTaken(next)) break;
      bytes -= next.bytes;
    }
    const last = superseded[count - 1];
    superseded = superseded.slice(count);
    countMax = Math.max(countedMin, 2 * superseded.length);
    return last;
  };
  const takeCompacted = (): void => {
    take(({ revision }) => revision <= store.compactedRevision);
  };
  const drop = (keptBytes: number): void => {
    isPlanned = false;
    takeCompacted();
    const last = take(() => bytes > keptBytes);
    if (last === undefined) return;
    if (last.revision > store.compactedRevision) store.compact(last.revision);
    forget(last.revision);
    process.trace("compact", last.revision);
  };
  const hear = ({ revision, previous }: StoreEvent): void => {
    if (previous === undefined) return;
    const size = roughBytes(previous);
    superseded.push({ revision, bytes: size });
    bytes += size;
    if (superseded.length > countMax) takeCompacted();
    if (bytes <= bytesMax || isPlanned) return;
    isPlanned = true;
    process.clock.after(0, () => drop(bytesMax * keptShare)); // not while others hear of the change
  };
  process.onCrash(store.subscribe(hear));
  return {
    bytes() {
      takeCompacted();
      return bytes;
    },
    forget: () => drop(0),
  };
}

/** About how many bytes an object takes as JSON. A large one was measured when it was written, and is not read again. */
const roughBytes = (object: object): number => knownBytesOf(object) ?? bytesWalked(object);

function bytesWalked(root: object): number {
  let bytes = 0;
  const open: object[] = [root];
  const add = (value: unknown): void => {
    if (typeof value === "string") bytes += value.length + 4;
    else if (typeof value === "object" && value !== null) open.push(value);
  };
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      bytes += 6 * container.length;
      for (const item of container as readonly unknown[]) add(item);
      continue;
    }
    for (const key in container) {
      bytes += key.length + 8;
      add((container as Readonly<Record<string, unknown>>)[key]);
    }
  }
  return bytes;
}
