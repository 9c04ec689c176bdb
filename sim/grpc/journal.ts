/**
 * What keeps containers alive when their runtime's process is killed. A simulated runtime is a function of the calls that
 * changed it and of when they came; they are written down before they are carried out, and a new process plays them again
 * on virtual time, up to now. Identifiers, addresses, start times and what scripts have done come out as they were.
 */
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { CriAnswer, CriMethod, CriRequest } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Cancel, Micros } from "../kernel/types.ts";

export interface JournalHead {
  readonly version: 1;
  readonly seed: string;
  readonly epochUnixMillis: number;
  /** What the runtime was made from; another start has to be made from the same. */
  readonly options: unknown;
}

export type JournalEntry =
  | { readonly atMicros: Micros; readonly call: CriRequest }
  /** Who had made the call of that number, counted from 0, went away before there was an answer. */
  | { readonly atMicros: Micros; readonly gone: number }
  | { readonly atMicros: Micros; readonly control: string };

/** Calls that change nothing. */
const reading: ReadonlySet<CriMethod> = new Set<CriMethod>([
  "Version",
  "Status",
  "RuntimeConfig",
  "UpdateRuntimeConfig",
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

/** What every journal begins with: a file of one unfinished line that begins otherwise is somebody else's. */
const headPrefix = '{"version":1,"seed":';
const headBytesMax = 1 << 20;

export class Journal {
  readonly head: JournalHead;
  private readonly path: string;

  private constructor(path: string, head: JournalHead) {
    this.path = path;
    this.head = head;
  }

  /** Begins a journal, or opens the one that is there: `entries` are then to be played again. Throws `SyntaxError` when it is no journal. */
  static open(
    path: string,
    head: JournalHead,
  ): { readonly journal: Journal; readonly entries: readonly JournalEntry[] } {
    // What stands after the last end of line was being written when the process was killed: it was never carried out.
    if (existsSync(path) && !statSync(path).isFile()) throw new SyntaxError("it is no file");
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    if (whole.length === 0) {
      const begins = bytes.toString("utf8", 0, headPrefix.length);
      if (!`${JSON.stringify(head)}\n`.startsWith(begins) || bytes.length > headBytesMax)
        throw new SyntaxError("it does not begin as one");
      writeFileSync(path, `${JSON.stringify(head)}\n`, { mode: 0o600 });
      return { journal: new Journal(path, head), entries: [] };
    }
    if (whole.length < bytes.length) writeFileSync(path, whole);
    const [first, ...entries] = [...linesOf(whole)].map(parse);
    return { journal: new Journal(path, first as JournalHead), entries: entries as JournalEntry[] };
  }

  append(entry: JournalEntry): void {
    appendFileSync(
      this.path,
      `${JSON.stringify(entry, (_key, value: unknown) => (value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value))}\n`,
    );
  }
}

/** One by one: all together they may be longer than a text can be. */
function* linesOf(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\n", at);
    yield bytes.toString("utf8", at, end);
    at = end + 1;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line, (_key, value: unknown) => revived(value));
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("lists stand in one another too deep");
    throw error;
  }
}

function revived(value: unknown): unknown {
  const bytes =
    typeof value === "object" && value !== null && Object.keys(value).length === 1
      ? (value as { base64?: unknown }).base64
      : undefined;
  return typeof bytes === "string" ? Uint8Array.from(Buffer.from(bytes, "base64")) : value;
}

/** Calls of a runtime that are written down, and played again: the same ones have the same numbers. */
export class KeptCalls {
  private readonly runtime: CriRuntime;
  private count = 0;
  /** Those that have no answer yet. */
  private readonly open = new Map<number, Cancel>();

  constructor(runtime: CriRuntime) {
    this.runtime = runtime;
  }

  /** In an event of the machine. */
  replay(entry: Exclude<JournalEntry, { readonly control: string }>): void {
    if ("call" in entry)
      this.begin(
        entry.call,
        () => {},
        () => {},
      );
    else this.cancel(entry.gone);
  }

  /** The process was killed, and with it went the connections of all who waited: that is written down in turn. */
  abandon(write: (gone: number) => void): void {
    for (const number of [...this.open.keys()]) {
      write(number);
      this.cancel(number);
    }
  }

  /** The runtime for callers from outside: each thing is written before it happens. */
  writing(write: (entry: { readonly call: CriRequest } | { readonly gone: number }) => void): CriRuntime {
    const { runtime } = this;
    return {
      events: (reader, sink) => runtime.events(reader, sink),
      start: (call, done, fail) => {
        if (!isKept(call)) return runtime.start(call, done, fail);
        write({ call });
        const number = this.begin(call, done, fail);
        return () => {
          if (!this.open.has(number)) return;
          write({ gone: number });
          this.cancel(number);
        };
      },
    };
  }

  private begin(call: CriRequest, done: (answer: CriAnswer) => void, fail: Parameters<CriRuntime["start"]>[2]): number {
    const number = this.count++;
    let isOver = false;
    const over = (): void => {
      isOver = true;
      this.open.delete(number);
    };
    const cancel = this.runtime.start(
      call,
      (answer) => {
        over();
        done(answer);
      },
      (failure) => {
        over();
        fail(failure);
      },
    );
    if (!isOver) this.open.set(number, cancel);
    return number;
  }

  private cancel(number: number): void {
    const cancel = this.open.get(number);
    this.open.delete(number);
    cancel?.();
  }
}
