/**
 * The work of an agent, in pieces: a turn of a loop, one pod's turn, one request, one event that is sent. A piece owns what it
 * leaves for later (timers, calls, tasks), as a process owns what it has started. An exception in any of that ends the piece and
 * nothing else: it is told as a bug of its component (`Process.caught`: a simulation fails, a program logs and counts it), what the
 * piece has left for later no longer happens, its tasks give back what they hold, and its own rule says what comes next.
 */
import type {
  CallResult,
  Cancel,
  Clock,
  CrashListener,
  CrashSeat,
  Endpoint,
  Micros,
  Process,
} from "../kernel/types.ts";

/** Who is at work, as metrics name it. */
export type Component =
  | "allocations"
  | "api-server-watch"
  | "certificates"
  | "container-garbage"
  | "control-groups"
  | "event-recorder"
  | "eviction"
  | "housekeeping"
  | "http-server"
  | "image-garbage"
  | "log-rotation"
  | "mirror-pods"
  | "node-lease"
  | "node-status"
  | "pod-source"
  | "pod-worker"
  | "probe"
  | "relist"
  | "resource-managers"
  | "runtime-health"
  | "start"
  | "status-manager"
  | "volumes";

/** Whose work it is, in words for the log: made only when they are needed. */
export type Words = string | (() => string);

/** Where a rule of what comes next has itself thrown: it is tried again. */
const againMicros: Micros = 10_000_000;

class Piece {
  isOver = false;
  /** What was thrown on its way through code of others, who may have kept it to themselves. */
  private hurt: { readonly error: unknown } | undefined;
  private readonly process: Process;
  private readonly component: Component;
  private readonly what: Words;
  private readonly failed: () => void;
  private tasks: Set<Cancel> | undefined;

  constructor(process: Process, component: Component, what: Words, failed: () => void) {
    this.process = process;
    this.component = component;
    this.what = what;
    this.failed = failed;
  }

  join(cancel: Cancel): void {
    (this.tasks ??= new Set()).add(cancel);
  }

  leave(cancel: Cancel): void {
    this.tasks?.delete(cancel);
  }

  throughOthers(error: unknown): void {
    this.hurt ??= { error };
  }

  /** At the end of what was at work: whether nothing was thrown that has not come this far. */
  requireWhole(): void {
    if (this.hurt !== undefined && !this.isOver) throw this.hurt.error;
  }

  end(error: unknown): void {
    const isFirst = !this.isOver;
    this.isOver = true;
    const errors = [error];
    for (const cancel of this.tasks ?? []) {
      try {
        cancel();
      } catch (another) {
        errors.push(another);
      }
    }
    this.tasks = undefined;
    for (const each of errors) this.tell(each);
    if (isFirst) outside(() => this.goOn());
  }

  private goOn(): void {
    try {
      this.failed();
    } catch (error) {
      this.tell(error);
      this.process.clock.after(againMicros, () => this.goOn());
    }
  }

  private tell(error: unknown): void {
    this.process.caught(textOf(this.what), error, this.component);
  }
}

/** Words of something that is broken may be broken as well. */
function textOf(what: Words): string {
  if (typeof what === "string") return what;
  try {
    return what();
  } catch (error) {
    return `something that has no name (${error instanceof Error ? error.message : String(error)})`;
  }
}

let current: Piece | undefined;

/** Begins a piece. `failed` is called once where it throws, then or later: what it has changed is put right, and what follows begun. */
export function piece(process: Process, component: Component, what: Words, work: () => void, failed: () => void): void {
  atWork<readonly []>(new Piece(process, component, what, failed), work, none);
}

const none = [] as const;

/** Calls `work` as that of the piece, which ends where it throws. */
function atWork<Values extends readonly unknown[]>(
  own: Piece,
  work: (...values: Values) => void,
  values: Values,
): void {
  const outer = current;
  current = own;
  try {
    work(...values);
    own.requireWhole();
  } catch (error) {
    current = outer;
    own.end(error);
  } finally {
    current = outer;
  }
}

/** A callback that is called later, as part of the piece that is at work now; not at all when that has ended by then. */
export function kept<Values extends readonly unknown[]>(
  callback: (...values: Values) => void,
): (...values: Values) => void {
  const own = current;
  if (own === undefined) return callback;
  return (...values) => {
    if (own.isOver) return;
    if (current !== own) {
      atWork(own, callback, values);
      return;
    }
    // Within its own work, by way of others, such as a server in the same process that answers at once.
    try {
      callback(...values);
    } catch (error) {
      own.throughOthers(error);
      throw error;
    }
  };
}

/** What is begun by a piece and is no part of it. */
function outside<Result>(work: () => Result): Result {
  const outer = current;
  current = undefined;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** A timer of nobody's, which begins a piece or hands on to somebody else's. */
export function later({ clock }: Process, micros: Micros, begin: () => void): Cancel {
  return outside(() => clock.after(micros, begin));
}

/**
 * Turns without end. Each calls `next` when it is done: the next one begins so much later. One that throws, then or later, is
 * followed by the next after `failedMicros`. Whatever is left of one has one turn after it, never two.
 */
export function turns(
  process: Process,
  component: Component,
  what: string,
  failedMicros: Micros,
  turn: (next: (micros: Micros) => void) => void,
): void {
  const begin = (): void => {
    let isPlanned = false;
    const next = (micros: Micros): void => {
      if (isPlanned) return;
      later(process, micros, begin);
      isPlanned = true;
    };
    piece(
      process,
      component,
      what,
      () => turn(next),
      () => next(failedMicros),
    );
  };
  begin();
}

/** For whoever runs tasks: they end with the piece that has begun them. Returns how one leaves that has ended before. */
export function joined(cancel: Cancel): () => void {
  const own = current;
  if (own === undefined) return alone;
  own.join(cancel);
  return () => own.leave(cancel);
}

const alone = (): void => {};

/** The process as pieces see it: timers and calls are those of the piece that begins them. A kernel enters the process itself. */
export function inPieces(process: Process): Process {
  return new PieceProcess(process);
}

class PieceProcess implements Process {
  readonly name: string;
  readonly prng: Process["prng"];
  readonly clock: Clock;
  private readonly inner: Process;

  constructor(inner: Process) {
    this.inner = inner;
    this.name = inner.name;
    this.prng = inner.prng;
    const { clock } = inner;
    this.clock = {
      nowMicros: () => clock.nowMicros(),
      after: (micros, fire) => clock.after(micros, kept(fire)),
      get epochUnixMillis() {
        return clock.epochUnixMillis;
      },
    };
  }

  get alive(): boolean {
    return this.inner.alive;
  }

  get isTurnOver(): boolean {
    return this.inner.isTurnOver;
  }

  call<Request, Response>(
    endpoint: Endpoint<Request, Response>,
    request: Request,
    options: { readonly deadlineMicros: Micros },
    done: (result: CallResult<Response>) => void,
  ): Cancel {
    return this.inner.call(endpoint, request, options, kept(done));
  }

  caught(what: string, error: unknown, component?: string): void {
    this.inner.caught(what, error, component);
  }

  trace(kind: string, a?: number | string, b?: number | string, c?: number | string): void {
    this.inner.trace(kind, a, b, c);
  }

  onCrash(cleanup: () => void): Cancel {
    return this.inner.onCrash(cleanup);
  }

  joinCrash(listener: CrashListener): CrashSeat {
    return this.inner.joinCrash(listener);
  }

  forgetCrash(seat: CrashSeat): void {
    this.inner.forgetCrash(seat);
  }

  crash(): void {
    this.inner.crash();
  }
}
