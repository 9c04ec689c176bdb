/**
 * Work that is done at ticks of a fixed period, but only at those that somebody has asked for: what looks every second
 * whether there is anything to do costs nothing while there is not.
 */
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { type Component, later, piece } from "./piece.ts";

export class Ticks {
  private readonly process: Process;
  private readonly component: Component;
  private readonly periodMicros: Micros;
  private readonly work: () => void;
  private beganMicros: Micros | undefined;
  private firedMicros: Micros = -1;
  /** What was asked for before the start, and what is asked for now. */
  private wantedMicros: Micros = Infinity;
  private armed: { readonly atMicros: Micros; readonly cancel: Cancel } | undefined;

  /** Work that throws is done again at the next tick. */
  constructor(process: Process, component: Component, periodMicros: Micros, work: () => void) {
    this.process = process;
    this.component = component;
    this.periodMicros = periodMicros;
    this.work = work;
  }

  /** Ticks are a period apart from now on; the first is in a period. */
  start(): void {
    this.beganMicros = this.process.clock.nowMicros();
    this.firedMicros = this.beganMicros;
    if (this.wantedMicros !== Infinity) this.arm(this.tickAt(this.wantedMicros));
  }

  /** The work is to be done at the first tick that is not before this. Default: the next one. */
  ask(atMicros: Micros = 0): void {
    this.wantedMicros = Math.min(this.wantedMicros, atMicros);
    if (this.beganMicros === undefined || atMicros === Infinity) return;
    const tick = this.tickAt(atMicros);
    if (this.armed === undefined || tick < this.armed.atMicros) this.arm(tick);
  }

  private tickAt(atMicros: Micros): Micros {
    const { periodMicros, beganMicros = 0 } = this;
    const from = Math.max(atMicros, this.process.clock.nowMicros());
    const tick = beganMicros + Math.ceil((from - beganMicros) / periodMicros) * periodMicros;
    // Of one instant there is one tick.
    return tick === this.firedMicros ? tick + periodMicros : tick;
  }

  private arm(atMicros: Micros): void {
    const { process, component } = this;
    const before = this.armed;
    const cancel = later(process, atMicros - process.clock.nowMicros(), () => {
      this.armed = undefined;
      this.firedMicros = atMicros;
      this.wantedMicros = Infinity;
      piece(process, component, `turn of ${component}`, this.work, () => this.ask());
    });
    before?.cancel();
    this.armed = { atMicros, cancel };
  }
}
