import type { EventOwner } from "./event-queue.ts";
import { invariant } from "./invariant.ts";
import { prngStream } from "./prng.ts";
import { Roster, type Seat } from "./roster.ts";
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
  caught(owner: Process, what: string, error: unknown, component: string | undefined): void;
}

/** The cancel of what never began. */
const nothing: Cancel = () => {};

interface Pending {
  cancel(): void;
}

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
  private readonly openCalls = new Roster<Pending>();

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
    return new OpenCall(this, this.openCalls, done).begin(endpoint, request, options.deadlineMicros);
  }

  /** Whether the event that is firing is its own. */
  get isCurrent(): boolean {
    return this.kernel.isCurrent(this);
  }

  caught(what: string, error: unknown, component?: string): void {
    this.kernel.caught(this, what, error, component);
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
    for (const call of this.openCalls.members()) call.cancel();
    for (const listener of this.cleanups.members()) listener.crashed(this);
    this.cleanups.clear();
  }
}

/** A call until its answer: one object, since there are very many of them. */
class OpenCall<Response> implements Pending {
  private readonly scope: ProcessScope;
  private readonly calls: Roster<Pending>;
  private readonly done: (result: CallResult<Response>) => void;
  private readonly seat: Seat<Pending>;
  private isStarting = true;
  private isClosed = false;
  private cancelDeadline = nothing;
  private cancelEndpoint = nothing;
  private cancelDelivery = nothing;

  constructor(scope: ProcessScope, calls: Roster<Pending>, done: (result: CallResult<Response>) => void) {
    this.scope = scope;
    this.calls = calls;
    this.done = done;
    this.seat = calls.join(this);
  }

  begin<Request>(endpoint: Endpoint<Request, Response>, request: Request, deadlineMicros: Micros): Cancel {
    this.cancelDeadline = this.scope.clock.after(deadlineMicros, () => {
      this.cancel();
      this.done({ ok: false, failure: "deadline" });
    });
    let started: Cancel;
    try {
      started = endpoint.start(
        request,
        (response) => this.answer({ ok: true, response }),
        (failure: CallFailure) => this.answer({ ok: false, failure }),
      );
    } catch (error) {
      this.cancel(); // nothing is left of a call that could not begin
      throw error;
    }
    this.isStarting = false;
    // `start` may have crashed this very process, which cancelled the call before there was a cancel to keep.
    if (this.isClosed && !this.scope.alive) started();
    else this.cancelEndpoint = started;
    return () => this.cancel();
  }

  cancel(): void {
    this.cancelDelivery();
    if (this.isClosed) return;
    this.close();
    this.cancelEndpoint();
  }

  private answer(result: CallResult<Response>): void {
    if (this.isClosed) return;
    this.close();
    // An answer out of another process's event, or from within `start`, waits for an event of ours.
    if (this.scope.isCurrent && !this.isStarting) this.done(result);
    else this.cancelDelivery = this.scope.clock.after(0, () => this.done(result));
  }

  private close(): void {
    this.isClosed = true;
    this.cancelDeadline();
    this.calls.leave(this.seat);
  }
}
