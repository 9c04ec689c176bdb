/**
 * How near the process is to the memory that it may have. It is looked at when requests come in, now and then; before
 * anybody is refused, what nobody uses any more is collected.
 */
import process from "node:process";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { wallPorts } from "./wall.ts";

/** `scarce`: nothing may be added any more. `none`: nothing may be asked any more but that little be deleted. */
export type MemoryLevel = "free" | "scarce" | "none";

const lookMicros = 100_000;
/** Beyond this share what nobody uses any more is collected beside the work, before anybody has to be refused. */
const collectShare = 0.7;
/** A collection is begun so often at most, and only where as much has come since the last one. */
const pauseMicros = 2_000_000;
const worthShare = 0.1;
/** One that was begun has ended by then, or the engine has not begun, as while hardly anything has come since the last one. */
const patienceMicros = 2_500_000;
/** So often it is begun again before everybody has to wait for it. */
const triesMax = 4;
const scarceShare = 0.8;
/** Old versions that take so much are forgotten before anybody is refused. */
const oldShare = 0.02;
const noneShare = 0.95;
/** Of the engine's heap, where nothing is said: with less room the engine collects every second or two, and stops everybody. */
const usualHeapShare = 0.5;
/** Of the engine's heap, whatever is said. With less left than the rest the engine does little but collect, and in the end gives up. */
const heapShareMax = 0.75;

/** The most that a server may be allowed, in bytes, in the heap that this process has. */
export function memoryBytesMax(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * heapShareMax);
}

export interface MemoryPorts {
  /** Bytes in use, with what nobody uses any more. */
  usedBytes(): number;
  nowMicros(): number;
  /** Begins to free what nobody uses any more, beside the work. What it returns says whether that is done. */
  beginCollecting(): () => boolean;
  /** Frees it at once, and nobody goes on before: a second for some gigabytes. */
  collect(): void;
}

/** What a server keeps of the past, and can do without. */
export interface OldVersions {
  /** About how many bytes they take. */
  bytes(): number;
  /** Whoever asks for them is told so from then on. */
  forget(): void;
}

const noOldVersions: OldVersions = { bytes: () => 0, forget: () => {} };

export class MemoryLimit {
  readonly #bytesMax: number;
  readonly #old: OldVersions;
  readonly #ports: MemoryPorts;
  #level: MemoryLevel = "free";
  #lookedMicros = -Infinity;
  #begunMicros = -Infinity;
  /** Whether the collection that is under way is done; undefined: none is. */
  #isDone: (() => boolean) | undefined;
  /** How often it has been begun. */
  #tries = 0;
  /** What was in use after the last collection. */
  #keptBytes = 0;

  /** `bytesMax` above zero, at most `memoryBytesMax()`. Default: half of what the engine's heap may have. */
  constructor(bytesMax = Infinity, old: OldVersions = noOldVersions, ports: MemoryPorts = processPorts) {
    this.#bytesMax = bytesMax === Infinity ? getHeapStatistics().heap_size_limit * usualHeapShare : bytesMax;
    this.#old = old;
    this.#ports = ports;
  }

  level(): MemoryLevel {
    const now = this.#ports.nowMicros();
    if (now - this.#lookedMicros < lookMicros) return this.#level;
    this.#lookedMicros = now;
    const share = this.#usedBytes(now) / this.#bytesMax;
    if (share > scarceShare && this.#isDone === undefined) this.#forgetOld(now);
    // Until it is known what is left, nobody is refused for what may be nobody's, but at the very end.
    const isKnown = this.#isDone === undefined;
    this.#level = share > noneShare ? "none" : share > scarceShare && isKnown ? "scarce" : "free";
    return this.#level;
  }

  /** What is deleted would be kept as an old version, so that deletions would free nothing for as long as these are kept. */
  #forgetOld(now: number): void {
    if (now - this.#begunMicros <= pauseMicros || this.#old.bytes() <= oldShare * this.#bytesMax) return;
    this.#old.forget();
    this.#begin(now);
  }

  /** Collects when it is time to, and says what is in use then. */
  #usedBytes(now: number): number {
    const used = this.#ports.usedBytes();
    // The engine may have collected by itself meanwhile.
    this.#keptBytes = Math.min(this.#keptBytes, used);
    if (this.#isDone?.() === true) {
      this.#isDone = undefined;
      this.#keptBytes = used;
    }
    const isUnderWay = this.#isDone !== undefined;
    if (now - this.#begunMicros <= (isUnderWay ? patienceMicros : pauseMicros)) return used;
    // Hardly anybody is answered then, so that hardly anybody waits for it.
    if (isUnderWay && used > noneShare * this.#bytesMax && this.#tries >= triesMax) return this.#collected();
    const isWorthIt = used > collectShare * this.#bytesMax && used - this.#keptBytes > worthShare * this.#bytesMax;
    if (isUnderWay || isWorthIt) this.#begin(now);
    return used;
  }

  #begin(now: number): void {
    this.#begunMicros = now;
    this.#tries = this.#isDone === undefined ? 1 : this.#tries + 1;
    this.#isDone = this.#ports.beginCollecting();
  }

  #collected(): number {
    this.#isDone = undefined;
    this.#ports.collect();
    this.#keptBytes = this.#ports.usedBytes();
    return this.#keptBytes;
  }
}

/** What the process holds of what somebody uses: the engine's heap, and buffers. A second for some gigabytes. */
export function heldBytes(): number {
  processPorts.collect();
  return processPorts.usedBytes();
}

/** The least that a process may have which holds so much already: beyond it would collect from the start, and soon refuse. */
export const leastBytes = (held: number): number => Math.ceil(held / collectShare);

let collector: ((how?: { readonly type: "minor" }) => void) | undefined;

/** The engine's own, which node hands out with `--expose-gc` only. */
function collectorOfEngine(): NonNullable<typeof collector> {
  if (collector === undefined) {
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as NonNullable<typeof collector>;
  }
  return collector;
}

const ends = new FinalizationRegistry<() => void>((end) => end());

/**
 * Calls `end` when a collection of the whole heap has ended. A weak reference would not do: looked at while the engine marks, it
 * keeps what it refers to.
 */
function whenCollected(end: () => void): void {
  ends.register({}, end);
}

/** Those of the process that this is part of. */
export const processPorts: MemoryPorts = {
  usedBytes() {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  nowMicros: () => wallPorts.nowMicros(),
  beginCollecting() {
    let isDone = false;
    whenCollected(() => (isDone = true));
    const collect = collectorOfEngine();
    // After it has collected what is young, some milliseconds, the engine looks whether to begin with the rest. Whatever else is done
    // while the trigger is on has it finish as soon as it has begun, in one piece.
    setFlagsFromString("--incremental-marking-hard-trigger=1");
    collect({ type: "minor" });
    setFlagsFromString("--incremental-marking-hard-trigger=0");
    return () => isDone;
  },
  collect: () => collectorOfEngine()(),
};
