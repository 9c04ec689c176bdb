/** A simulated container runtime whose containers outlive its process: what happens to it stands in a journal. */
import type { CriRuntime } from "../cri/cri-port.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { applyControl } from "../runtime/control.ts";
import { keptState, pictureOf, Restoration } from "../runtime/kept-state.ts";
import type { RuntimeOptions, StreamAddresses } from "../runtime/runtime-state.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { type CompactStep, Journal, type JournalEntry, type JournalHead } from "./journal.ts";
import { KeptCalls } from "./kept-calls.ts";
import { type KeptJournal, keptOf, linesOf } from "./kept-lines.ts";

export interface KeptRuntimeOptions {
  readonly statePath: string;
  readonly seed: string;
  readonly name: string;
  readonly runtime: RuntimeOptions;
  /** Where commands and ports are streamed; without it they are unimplemented. */
  readonly streams?: StreamAddresses;
  readonly nowUnixMillis: number;
  /** The state file is written anew when it has grown to so many bytes, and to twice what it was. Default 1 MiB. */
  readonly compactBytes?: number;
  /** Told how far a new state file is. */
  readonly onCompact?: (done: CompactStep) => void;
}

/** The state was made from other options: its containers would not come out as they were. */
export class OtherState extends Error {}

export class KeptRuntime {
  readonly kernel: Kernel;
  readonly process: Process;
  readonly runtime: SimulatedRuntime;
  /** For callers from outside. */
  readonly port: CriRuntime;
  /** Calls that were played again, and containers that are as they were. */
  readonly restored: number;
  private readonly options: KeptRuntimeOptions;
  private readonly journal: Journal;
  private readonly calls: KeptCalls;
  private isClosed = false;
  /** What a shorter journal that is being made has to say beside its state, up to the last call; undefined: none is. */
  private entries: JournalEntry[] | undefined;
  /** That journal, while it is being written. */
  private writing: Generator<undefined, void> | undefined;

  /** Throws `OtherState`, and `SyntaxError` for a file that is no journal. */
  constructor(options: KeptRuntimeOptions) {
    this.options = options;
    const { seed, name, nowUnixMillis } = options;
    const head = {
      version: 2,
      seed,
      epochUnixMillis: nowUnixMillis,
      options: { name, runtime: options.runtime },
    } as const;
    const { journal, state, entries } = Journal.open(options.statePath, head, options.compactBytes);
    const made = journal.head;
    if (made.seed !== seed || JSON.stringify(made.options) !== JSON.stringify(head.options)) {
      throw new OtherState("it was made with other options");
    }
    this.journal = journal;
    const kept = keptOf(state);
    const life = new Life(options, made, kept, entries);
    while (!life.goOn(Infinity));
    const { kernel, process, calls } = life;
    [this.kernel, this.process, this.runtime, this.calls] = [kernel, process, life.runtime, calls];
    kernel.run(Math.max(kernel.nowMicros(), (nowUnixMillis - made.epochUnixMillis) * 1000));
    const write = (entry: JournalEntry): void => this.write(entry);
    kernel.enter(process, () => calls.abandon(kernel.nowMicros(), write));
    this.port = calls.writing(() => kernel.nowMicros(), write);
    this.restored = (kept?.containers.length ?? 0) + entries.filter((entry) => !("gone" in entry)).length;
  }

  /** In an event of the machine. Throws with what is wrong; nothing has then changed. */
  control(control: string): void {
    applyControl(this.runtime, control);
    this.write({ atMicros: this.kernel.nowMicros(), control });
  }

  /** Nothing is written any more. */
  close(): void {
    this.isClosed = true;
    this.writing?.return();
  }

  private write(entry: JournalEntry): void {
    if (this.isClosed) return;
    this.journal.append(entry);
    this.entries?.push(entry);
    if (!this.journal.isDue || this.entries !== undefined) return;
    this.entries = [];
    // After what was written has happened.
    this.process.clock.after(0, () => this.compact());
  }

  /**
   * Makes the journal shorter, if a machine made from the shorter one is in the middle of the very same. A script that reads what
   * others have changed meanwhile may do otherwise when it is run again; while such a one runs, the journal stays as it is.
   */
  private compact(): void {
    if (this.isClosed) return;
    const { runtime, calls, journal, options } = this;
    const entries = calls.needed();
    this.entries = [...entries];
    const kept: KeptJournal = { ...keptState(runtime.state), next: calls.next, neededCount: entries.length };
    const picture = pictureOf(runtime.state);
    const again = new Life(options, journal.head, kept, entries);
    // Scripts may have gone on for long, and files may be many: what they did is done again a little at a time, and written so,
    // beside all else.
    const goOn = (): void => {
      if (this.isClosed) return;
      if (this.writing === undefined) {
        if (!again.goOn(EVENTS_AT_A_TIME)) return void this.process.clock.after(PAUSE_MICROS, goOn);
        if (pictureOf(again.runtime.state) !== picture) {
          journal.putOff();
          this.endCompaction();
          return;
        }
        this.writing = journal.compacting(() => linesOf(kept), this.entries as JournalEntry[], options.onCompact);
      }
      let isWritten = false;
      try {
        isWritten = this.writing.next().done === true;
      } catch (error) {
        // A disk that is full, say: the old file goes on.
        journal.putOff();
        this.endCompaction();
        throw error;
      }
      if (isWritten) this.endCompaction();
      else this.process.clock.after(PAUSE_MICROS, goOn);
    };
    goOn();
  }

  private endCompaction(): void {
    this.entries = undefined;
    this.writing = undefined;
  }
}

const EVENTS_AT_A_TIME = 500;
const PAUSE_MICROS = 10_000;

/** A machine to which one thing after the other happens again. */
class Life {
  readonly kernel: Kernel;
  readonly process: Process;
  readonly runtime: SimulatedRuntime;
  readonly calls: KeptCalls;
  private readonly steps: readonly { readonly atMicros: Micros; readonly take: () => void }[];
  private next = 0;

  constructor(
    { seed, name, runtime: runtimeOptions, streams }: KeptRuntimeOptions,
    { epochUnixMillis }: JournalHead,
    kept: KeptJournal | undefined,
    entries: readonly JournalEntry[],
  ) {
    this.kernel = new Kernel({ seed, epochUnixMillis });
    this.process = this.kernel.process(name);
    const options = { ...runtimeOptions, ...(streams === undefined ? {} : { streams }) };
    this.runtime = new SimulatedRuntime(this.process, options);
    this.calls = new KeptCalls(this.runtime);
    const stepOf = (entry: JournalEntry) => ({
      atMicros: entry.atMicros,
      take: (): void => {
        if ("control" in entry) applyControl(this.runtime, entry.control);
        else this.calls.replay(entry);
      },
    });
    if (kept === undefined) {
      this.steps = entries.map(stepOf);
      return;
    }
    this.calls.next = kept.next;
    const restoration = new Restoration(this.runtime.state, kept);
    const starts = this.kernel.enter(this.process, () => restoration.begin());
    const before = [...starts, ...entries.slice(0, kept.neededCount).map(stepOf)];
    this.steps = [
      ...before.sort((a, b) => a.atMicros - b.atMicros),
      { atMicros: kept.atMicros, take: () => restoration.end() },
      ...entries.slice(kept.neededCount).map(stepOf),
    ];
  }

  /** Fires so many events at most. True: it is at the end. */
  goOn(eventsMax: number): boolean {
    const { kernel } = this;
    for (let left = eventsMax; ; ) {
      const step = this.steps[this.next];
      if (step === undefined) return true;
      const atMicros = Math.max(kernel.nowMicros(), step.atMicros);
      for (; (kernel.nextEventMicros ?? Infinity) <= atMicros; left--) {
        if (left <= 0) return false;
        kernel.step();
      }
      kernel.run(atMicros);
      kernel.enter(this.process, step.take);
      this.next++;
    }
  }
}
