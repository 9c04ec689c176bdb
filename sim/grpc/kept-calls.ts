/** Calls of a runtime that are written down, and played again: the same ones have the same numbers. */
import type { CallTrace, CriAnswer, CriMethod, CriRequest, CriRequestOf } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { SimulatedRuntime } from "../runtime/runtime.ts";
import type { Cancel, Micros } from "../kernel/types.ts";
import type { ContainerRecord } from "../runtime/records.ts";
import type { RuntimeState } from "../runtime/runtime-state.ts";
import type { JournalEntry } from "./journal.ts";

/** Calls that change nothing. */
const reading: ReadonlySet<CriMethod> = new Set<CriMethod>([
  "Version",
  "Status",
  "RuntimeConfig",
  "PodSandboxStatus",
  "ListPodSandbox",
  "ListContainers",
  "ContainerStatus",
  "ContainerStats",
  "ListContainerStats",
  "PodSandboxStats",
  "ListPodSandboxStats",
  "ListMetricDescriptors",
  "ListPodSandboxMetrics",
  "CheckpointContainer",
  "Exec",
  "Attach",
  "PortForward",
  "ListImages",
  "ImageStatus",
  "ImageFsInfo",
  "MachineInfo",
  "MachineReading",
  "PathUsage",
  "ReadPath",
  "ListPath",
  "Connect",
]);

const isKept = ({ method }: CriRequest): boolean => !reading.has(method);

type CallEntry = Extract<JournalEntry, { readonly call: CriRequest }>;
type GoneEntry = Extract<JournalEntry, { readonly gone: number }>;

/** A call that something in the runtime may still be in the middle of. */
interface Remembered {
  readonly entry: CallEntry;
  gone?: GoneEntry;
  /** While somebody waits for the answer. */
  cancel?: Cancel | undefined;
  /** Nothing comes of it any more but what came of it. */
  isOver?: true;
  trace?: CallTrace | undefined;
}

export class KeptCalls {
  private readonly runtime: SimulatedRuntime;
  private count = 0;
  private readonly calls = new Map<number, Remembered>();

  constructor(runtime: SimulatedRuntime) {
    this.runtime = runtime;
    runtime.state.isKept = true;
  }

  /** What the next call is called. */
  get next(): number {
    return this.count;
  }

  set next(number: number) {
    this.count = Math.max(this.count, number);
  }

  /** In an event of the machine. */
  replay(entry: CallEntry | GoneEntry): void {
    if ("gone" in entry) this.cancel(entry);
    else {
      this.begin(
        entry,
        () => {},
        () => {},
      );
    }
  }

  /** The process was killed, and with it went the connections of all who waited: that is written down in turn. */
  abandon(atMicros: Micros, write: (entry: GoneEntry) => void): void {
    for (const [number, { cancel }] of [...this.calls]) {
      if (cancel === undefined) continue;
      const entry = { atMicros, gone: number };
      write(entry);
      this.cancel(entry);
    }
  }

  /** The runtime for callers from outside: each thing is written before it happens. */
  writing(nowMicros: () => Micros, write: (entry: CallEntry | GoneEntry) => void): CriRuntime {
    const { runtime } = this;
    return {
      events: (reader, sink) => runtime.events(reader, sink),
      start: (call, done, fail) => {
        if (!isKept(call)) return runtime.start(call, done, fail);
        const entry = { atMicros: nowMicros(), number: this.count, call };
        write(entry);
        this.begin(entry, done, fail);
        return () => {
          if (this.calls.get(entry.number)?.cancel === undefined) return;
          const gone = { atMicros: nowMicros(), gone: entry.number };
          write(gone);
          this.cancel(gone);
        };
      },
    };
  }

  /** The calls that a runtime made from the state of this moment has to be given again, in order; the others are forgotten. */
  needed(): readonly (CallEntry | GoneEntry)[] {
    const { state } = this.runtime;
    const scripts = [...state.containers.values()].filter(({ box, isService }) => box !== undefined && !isService);
    const entries: (CallEntry | GoneEntry)[] = [];
    for (const [number, remembered] of this.calls) {
      const { entry, gone } = remembered;
      if (!isNeeded(state, scripts, remembered)) {
        this.calls.delete(number);
        continue;
      }
      entries.push(entry);
      if (gone !== undefined) entries.push(gone);
    }
    return entries.sort((a, b) => a.atMicros - b.atMicros);
  }

  private begin(entry: CallEntry, done: (answer: CriAnswer) => void, fail: Parameters<CriRuntime["start"]>[2]): void {
    const { number, call } = entry;
    const { state } = this.runtime;
    this.count = Math.max(this.count, number + 1);
    state.prng = state.process.prng.stream(`call ${number}`);
    const remembered: Remembered = { entry };
    this.calls.set(number, remembered);
    const cancel = this.runtime.start(
      call,
      (answer) => {
        remembered.cancel = undefined;
        done(answer);
      },
      fail,
      (answer) => {
        remembered.isOver = true;
        remembered.trace = answer?.trace;
        if (answer === undefined || !mayLast.has(call.method) || answer.trace?.() === false) this.calls.delete(number);
      },
    );
    if (remembered.isOver === undefined) remembered.cancel = cancel;
  }

  private cancel(gone: GoneEntry): void {
    const remembered = this.calls.get(gone.gone);
    if (remembered?.cancel === undefined) return;
    const { cancel } = remembered;
    remembered.gone = gone;
    remembered.cancel = undefined;
    cancel?.();
  }
}

/** Calls that containers may be in the middle of when they have been answered: signals, commands, files. */
const mayLast: ReadonlySet<CriMethod> = new Set<CriMethod>([
  "StopContainer",
  "ExecSync",
  "WritePath",
  "MakePath",
  "RenamePath",
  "RemovePath",
]);

function isNeeded(
  state: RuntimeState,
  scripts: readonly ContainerRecord[],
  { entry, isOver, trace }: Remembered,
): boolean {
  const { method, message } = entry.call;
  if (isOver === undefined) return true;
  if (method === "StopContainer" || method === "ExecSync") {
    if (trace?.() === false) return false;
    const { containerId = "" } = message as CriRequestOf<typeof method>;
    const container = state.containers.get(containerId);
    return container === undefined ? containerId.length < 64 : container.box !== undefined;
  }
  const { path, from, to } = message as { readonly path?: string; readonly from?: string; readonly to?: string };
  const touched = [path, from, to].filter((each) => each !== undefined);
  return scripts.some(
    ({ startedMicros, config }) =>
      startedMicros <= entry.atMicros &&
      config.mounts?.some(({ hostPath = "/" }) => touched.some((each) => overlap(each, hostPath))),
  );
}

const overlap = (path: string, other: string): boolean =>
  path === other || path.startsWith(other === "/" ? "/" : `${other}/`) || other.startsWith(`${path}/`);
