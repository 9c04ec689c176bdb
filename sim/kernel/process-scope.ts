import type { EventOwner } from "./event-queue.ts";
import { invariant } from "./invariant.ts";
import { prngStream } from "./prng.ts";
import { Roster } from "./roster.ts";
import type { Trace, WordId } from "./trace.ts";
import type {
  CallFailure,
  CallResult,
  Cancel,
  Clock,
  CrashListener,
  CrashSeat,
  Endpoint,
  Micros,
  Prng,
  Process,
} from "./types.ts";

/** What a process asks of the kernel that runs it. */
export interface ProcessHost {
  readonly seed: string;
  readonly trace: Trace;
  readonly epochUnixMillis: number;
  nowMicros(): Micros;
  isTurnOver(): boolean;
  schedule(owner: EventOwner, delayMicros: Micros, fire: () => void): Cancel;
  /** Whether this incarnation is the one that runs under its name. */
  isCurrent(process: Process): boolean;
  /** Takes back all that is scheduled for the owner. */
  revoke(owner: EventOwner): void;
  /** An exception that work of `owner` caught: told, or thrown again. */
  caught(owner: Process, what: string, error: unknown): void;
}

/** The cancel of what never began. */
const nothing: Cancel = () => {};

/** One incarnation of a process: the owner of everything that it has pending. */
export class ProcessScope implements Process, EventOwner {
  readonly name: string;
  readonly clock: Clock & { epochUnixMillis: number };
  readonly prng: Prng;
  readonly word: WordId;
  alive = true;
  pendingCount = 0;

  private readonly kernel: ProcessHost;
  private readonly cleanups = new Roster<CrashListener>();
  private readonly openCalls = new Set<Cancel>();

  constructor(kernel: ProcessHost, name: string, incarnation: number) {
    this.kernel = kernel;
    this.name = name;
    this.word = kernel.trace.word(name);
    this.prng = incarnation === 1 ? prngStream(kernel.seed, name) : prngStream(kernel.seed, name, `#${incarnation}`);
    this.clock = {
      nowMicros: () => kernel.nowMicros(),
      after: (delayMicros, fire) => (this.alive ? kernel.schedule(this, delayMicros, fire) : nothing),
      epochUnixMillis: kernel.epochUnixMillis,
    };
  }

  get isTurnOver(): boolean {
    return this.kernel.isTurnOver();
  }

  get openCallCount(): number {
    return this.openCalls.size;
  }

  call<Request, Response>(
    endpoint: Endpoint<Request, Response>,
    request: Request,
    options: { readonly deadlineMicros: Micros },
    done: (result: CallResult<Response>) => void,
  ): Cancel {
    if (!this.alive) return nothing;
    invariant(options.deadlineMicros > 0, "a call's deadline lies in the future", options);
    let starting = true;
    let closed = false;
    let cancelEndpoint = nothing;
    let cancelDelivery = nothing;

    const close = (): void => {
      closed = true;
      cancelDeadline();
      this.openCalls.delete(cancel);
    };
    const cancel: Cancel = () => {
      cancelDelivery();
      if (closed) return;
      close();
      cancelEndpoint();
    };
    const answer = (result: CallResult<Response>): void => {
      if (closed) return;
      close();
      // An answer out of another process's event, or from within `start`, waits for an event of ours.
      if (this.kernel.isCurrent(this) && !starting) done(result);
      else cancelDelivery = this.clock.after(0, () => done(result));
    };
    const cancelDeadline = this.clock.after(options.deadlineMicros, () => {
      cancel();
      done({ ok: false, failure: "deadline" });
    });
    this.openCalls.add(cancel);
    const started = endpoint.start(
      request,
      (response) => answer({ ok: true, response }),
      (failure: CallFailure) => answer({ ok: false, failure }),
    );
    starting = false;
    // `start` may have crashed this very process, which cancelled the call before there was a cancel to keep.
    if (closed && !this.alive) started();
    else cancelEndpoint = started;
    return cancel;
  }

  caught(what: string, error: unknown): void {
    this.kernel.caught(this, what, error);
  }

  trace(kind: string, a?: number | string, b?: number | string, c?: number | string): void {
    if (!this.alive) return;
    const { trace } = this.kernel;
    trace.record(this.kernel.nowMicros(), this.word, trace.word(kind), a, b, c);
  }

  onCrash(cleanup: () => void): Cancel {
    if (!this.alive) return nothing;
    const seat = this.cleanups.join({ crashed: cleanup });
    return () => this.cleanups.leave(seat);
  }

  joinCrash(listener: CrashListener): CrashSeat {
    const seat = this.cleanups.join(listener);
    if (!this.alive) this.cleanups.leave(seat); // it has crashed already, and does so once
    return seat;
  }

  forgetCrash(seat: CrashSeat): void {
    this.cleanups.leave(seat);
  }

  crash(): void {
    if (!this.alive) return;
    this.trace("crash");
    this.alive = false;
    this.kernel.revoke(this);
    for (const cancel of [...this.openCalls]) cancel();
    for (const listener of this.cleanups.members()) listener.crashed(this);
    this.cleanups.clear();
  }
}
