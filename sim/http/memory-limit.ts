/**
 * How near the process is to the memory that it may have. It is looked at when requests come in, now and then; before
 * anybody is refused, what nobody uses any more is collected.
 */
import process from "node:process";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { wallPorts } from "./wall.ts";

/** `scarce`: nothing may be added any more. `none`: nothing may be asked any more. */
export type MemoryLevel = "free" | "scarce" | "none";

const lookMicros = 100_000;
/** A collection stops everybody for a while: so often at most, and only where as much has come since the last one. */
const collectMicros = 2_000_000;
const collectShare = 0.1;
const scarceShare = 0.8;
const noneShare = 0.95;
/** Of the engine's heap. With less left than the rest the engine does little but collect, and in the end gives up. */
const heapShare = 0.75;

export interface MemoryPorts {
  /** Bytes in use, with what nobody uses any more. */
  usedBytes(): number;
  nowMicros(): number;
  /** Frees what nobody uses any more. */
  collect(): void;
}

export class MemoryLimit {
  readonly #bytesMax: number;
  readonly #ports: MemoryPorts;
  #level: MemoryLevel = "free";
  #lookedMicros = -Infinity;
  #collectedMicros = -Infinity;
  /** What was in use after the last collection. */
  #keptBytes = 0;

  /** `bytesMax` above zero. Default: three quarters of what the engine's heap may have, beyond which the process ends. */
  constructor(bytesMax = Infinity, ports: MemoryPorts = processPorts) {
    this.#bytesMax = bytesMax === Infinity ? getHeapStatistics().heap_size_limit * heapShare : bytesMax;
    this.#ports = ports;
  }

  level(): MemoryLevel {
    const now = this.#ports.nowMicros();
    if (now - this.#lookedMicros < lookMicros) return this.#level;
    this.#lookedMicros = now;
    let used = this.#ports.usedBytes();
    const isWorthIt = used - this.#keptBytes > collectShare * this.#bytesMax;
    if (used > scarceShare * this.#bytesMax && isWorthIt && now - this.#collectedMicros > collectMicros) {
      this.#ports.collect();
      this.#collectedMicros = this.#ports.nowMicros();
      used = this.#ports.usedBytes();
      this.#keptBytes = used;
    }
    // The engine has collected by itself meanwhile.
    this.#keptBytes = Math.min(this.#keptBytes, used);
    const share = used / this.#bytesMax;
    this.#level = share > noneShare ? "none" : share > scarceShare ? "scarce" : "free";
    return this.#level;
  }
}

let collector: (() => void) | undefined;

const processPorts: MemoryPorts = {
  usedBytes() {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  nowMicros: () => wallPorts.nowMicros(),
  collect() {
    if (collector === undefined) {
      setFlagsFromString("--expose-gc");
      collector = runInNewContext("gc") as () => void;
    }
    collector();
  },
};
