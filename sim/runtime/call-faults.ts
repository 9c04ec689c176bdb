/** Calls that are to go wrong: answered with an error, late, or never. */
import { type CriMethod, type CriRequest, grpcCode } from "../../wire/cri.ts";
import type { Micros } from "../kernel/types.ts";

export interface CallFault {
  /** Undefined: every method. */
  readonly method?: CriMethod;
  /** Only calls whose message names this: a pod (`namespace/name`), a container's or an image's name, or an id. */
  readonly about?: string;
  /** How many calls it takes; undefined: all from now on. */
  readonly times?: number;
  /** Never answered; the call does nothing. */
  readonly hangs?: boolean;
  /** Answered later by so much. */
  readonly delayMicros?: Micros;
  /** Answered with this instead of being carried out. Code of gRPC; default 2, unknown. */
  readonly error?: { readonly code?: number; readonly text: string };
}

export interface KeptFault {
  readonly fault: CallFault;
  readonly left: number | null;
}

export type FaultEffect =
  | { readonly is: "hang" }
  | { readonly is: "delay"; readonly micros: Micros }
  | { readonly is: "error"; readonly code: number; readonly text: string };

export class CallFaults {
  private faults: { readonly fault: CallFault; left: number }[] = [];

  /** Some calls may go wrong. */
  get isAny(): boolean {
    if (this.faults.length > 0) this.faults = this.faults.filter(({ left }) => left > 0);
    return this.faults.length > 0;
  }

  /** Counts from now on. Undoes it when called. */
  add(fault: CallFault): () => void {
    const entry = { fault, left: fault.times ?? Infinity };
    this.faults.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  /** Those that go on, with how many calls each still takes; null: all. */
  get kept(): readonly KeptFault[] {
    return this.faults
      .filter(({ left }) => left > 0)
      .map(({ fault, left }) => ({ fault, left: left === Infinity ? null : left }));
  }

  putBack(kept: readonly KeptFault[]): void {
    this.faults = kept.map(({ fault, left }) => ({ fault, left: left ?? Infinity }));
  }

  /** All is well again, from now on. */
  clear(): void {
    this.faults = [];
  }

  /** What becomes of a call; `names`: all that it is about. */
  effectOn({ method }: CriRequest, names: () => readonly string[]): FaultEffect | undefined {
    if (this.faults.length === 0) return undefined;
    const entry = this.faults.find(
      ({ fault, left }) =>
        left > 0 &&
        (fault.method === undefined || fault.method === method) &&
        (fault.about === undefined || names().includes(fault.about)),
    );
    if (entry === undefined) return undefined;
    entry.left--;
    const { fault } = entry;
    if (fault.hangs === true) return { is: "hang" };
    if (fault.error !== undefined)
      return { is: "error", code: fault.error.code ?? grpcCode.unknown, text: fault.error.text };
    return { is: "delay", micros: fault.delayMicros ?? 0 };
  }
}
