/**
 * One request as a state machine. With nothing to wait for it goes from arrived to done inside `start`; it may
 * park on a timer, a seat, a revision or an admission step, and is then cancelled by a client that goes away, by
 * its deadline, or by a crash of the server. A write that has been committed is no longer undone by any of them.
 */
import { drained } from "../../../wire/steps.ts";
import type { Drawn, RareBugs } from "../../planted/rare-bugs.ts";
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import type { Span } from "../../contract/tracing.ts";
import type { User } from "../access/authenticate.ts";
import { ApiError, internalError, timeout } from "../../contract/errors.ts";
import type {
  ApiRequest,
  JsonObject,
  Payload,
  Responder,
  ResponseHeaders,
  TunnelTarget,
} from "../../contract/http-message.ts";
import type { Flow } from "./flow-control.ts";
import type { RequestSeries } from "./request-series.ts";
import type { Place, ResourcePlace, Verb } from "./route.ts";
import { Pace, TurnBudget } from "../../expressions/pace.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import { emptyQuery, type Query } from "./url.ts";
import type { WritersInTurn } from "./writers-in-turn.ts";

export type RunState =
  | "arrived"
  | "queued" // waits for a seat
  | "seated" // has a seat; its cost is being paid
  | "executing"
  | "waiting" // parked: on a revision, an admission step
  | "committed" // the write is in the store; the answer is on its way
  | "responding" // a watch is open
  | "done";

/** What a list cost. */
interface ListWork {
  /** Objects looked at, and objects in the answer. */
  readonly readCount: number;
  readonly givenCount: number;
  readonly origin: "cache" | "store";
}

/** An object in the store. */
interface StoredAt {
  readonly key: string;
  readonly stored: JsonObject;
}

/** What the server does around a run. */
export interface RunHost {
  /** Undefined: planted bugs show in every request. */
  readonly rare: Pick<RareBugs<string>, "during"> | undefined;
  readonly clock: Clock;
  readonly alive: boolean;
  readonly writersInTurn: WritersInTurn;
  /** Encodes and sends the answer to an error. */
  refuse(run: Run, error: ApiError): void;
  /** A stage threw what is no answer: a bug of ours. Throws it again where that must fail the whole run. */
  broke(run: Run, error: unknown): void;
  /** By which the log and the answer name a request. */
  idOf(run: Run): string;
  /** Delay ≥ 0 between a request's effect and its answer, which is to be `payload`. */
  answerDelayMicros(run: Run, payload: Payload): Micros;
  /** A run is over: gives its seat back. */
  ended(run: Run): void;
  /** The client went away before it had an answer. */
  abandoned(run: Run): void;
  /** The answer has gone to the client. */
  sent(run: Run, payload: Payload): void;
}

/** From here on a request is carried out in several events: what comes meanwhile has its turn in between. */
const largeBodyBytesMin = 128 * 1024;
/** Of a body of many small values, which cost more than their bytes say. */
const denseBodyBytesMin = 32 * 1024;
const denseSeparatorsMin = 8_000;
const largeQueryLengthMin = 16 * 1024;

function isLarge({ body, query, headers }: ApiRequest): boolean {
  if (query.length >= largeQueryLengthMin) return true;
  if (!(body instanceof Uint8Array)) return body !== undefined && isLargeObject(body);
  if (body.length < denseBodyBytesMin) return false;
  return body.length >= largeBodyBytesMin || /cbor|protobuf/i.test(headers["content-type"] ?? "") || isDense(body);
}

/** Whether a text has a comma or a line for each of many values. */
function isDense(body: Uint8Array): boolean {
  let count = 0;
  for (const byte of body) if (byte === 44 || byte === 10) count++;
  return count >= denseSeparatorsMin;
}

const brokeText = "an exception in the server ended this request; its log has it under the id ";

/** Where encoding itself is broken. */
const lastResort: Payload = {
  object: undefined,
  contentType: "text/plain; charset=utf-8",
  bytes: () => new TextEncoder().encode("Internal Server Error\n"),
};

/** Of a request whose path has not been read yet, or cannot be. */
const nowhere: Place = { is: "other", segments: [] };

export class Run {
  readonly host: RunHost;
  readonly request: ApiRequest;
  readonly responder: Responder;
  state: RunState = "arrived";
  query: Query = emptyQuery;
  place: Place = nowhere;
  user!: User;
  /** Known once the user is. */
  flow: Flow | undefined;
  verb: Verb | "" = "";
  /** Number of this request in the server's life: its audit id is made from it. */
  readonly number: number;
  readonly arrivedMicros: Micros;
  /** Status of the answer; 0 before there is one. */
  answered = 0;
  seat: "none" | "reads" | "mutations" = "none";
  warnings: string[] | undefined;
  /** Which of the planted bugs show in this request. Undefined: they always do. */
  drawn: Drawn | undefined;
  /** Undefined: the server does not trace. */
  span: Span | undefined;
  /** Where it was counted. */
  counted: RequestSeries | undefined;
  /** Of a list that has been read. */
  listed: ListWork | undefined;
  /** The server ended it to protect itself. */
  isTerminated = false;
  /** Its steps are events of their own. */
  isLarge: boolean;
  /** Gives up its place among the large ones that are carried out. */
  leaveLine: (() => void) | undefined;
  private ownBudget: TurnBudget | undefined;
  /** Spent waiting for others: for a seat, for webhooks. */
  private waitedMicros: Micros = 0;
  /** Since when it waits for others; -1 when it does not. */
  private waitsSince: Micros = -1;
  private waitingFor: Cancel | undefined;
  private deadline: Cancel | undefined;
  /** The time by which an answer must have left; 0 for never. Its timer is only set should the run park. */
  deadlineMicros: Micros = 0;

  constructor(host: RunHost, request: ApiRequest, responder: Responder, number: number) {
    this.host = host;
    this.request = request;
    this.responder = responder;
    this.number = number;
    this.isLarge = isLarge(request);
    this.arrivedMicros = host.clock.nowMicros();
  }

  get resourcePlace(): ResourcePlace {
    if (this.place.is !== "resource") throw new InvariantError("a run outside resources asked for its resource");
    return this.place.place;
  }

  /** What may be evaluated in this turn. */
  get budget(): TurnBudget {
    return (this.ownBudget ??= new TurnBudget());
  }

  /** Runs a stage; an error that it throws becomes the answer, and a bug of ours ends this request alone. */
  stage(work: () => void): void {
    if (this.state === "done" || !this.host.alive) return;
    this.ownBudget?.refill();
    try {
      try {
        if (this.span === undefined) this.asDrawn(work);
        else this.span.during(() => this.asDrawn(work));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.next(() => this.fail(error)); // what is refused may be told at length
      }
    } catch (error) {
      this.host.broke(this, error);
      this.breakOff();
    }
  }

  private asDrawn(work: () => void): void {
    const { rare } = this.host;
    if (rare === undefined || this.drawn === undefined) work();
    else rare.during(this.drawn, work);
  }

  /** Ends whatever was under way: a 500 where there is no answer yet. Nothing of it may throw. */
  private breakOff(): void {
    if ((this.state as RunState) === "done") return;
    try {
      if (this.state === "responding") this.close();
      else this.host.refuse(this, internalError(`${brokeText}${this.host.idOf(this)}`));
    } catch (error) {
      this.host.broke(this, error);
    }
    if ((this.state as RunState) === "done") return;
    try {
      // Not even the error can be put into words: what needs no encoder.
      this.send(500, {}, lastResort);
    } catch (error) {
      this.host.broke(this, error);
      this.finish();
    }
  }

  /** Waits: `cancel` stops what is waited for. The deadline begins to tick. `forOthers`: the time is not the request's own. */
  park(state: RunState, cancel: Cancel, forOthers = false): void {
    if (this.state === "done") return;
    if (forOthers) {
      this.waitsSince = this.host.clock.nowMicros();
      this.letOthersIn();
      this.host.writersInTurn.leave(this);
    }
    this.state = state;
    this.waitingFor = cancel;
    if (this.deadlineMicros === 0 || this.deadline !== undefined) return;
    const left = Math.max(0, this.deadlineMicros - this.host.clock.nowMicros());
    this.deadline = this.host.clock.after(left, () => this.expire());
  }

  /**
   * Goes on with the answer to `ask`: at once if it comes at once, else the run is parked until then. `ask` calls its
   * `done` once, and never after the cancel that it returns.
   */
  await<Answer>(ask: (done: (answer: Answer) => void) => Cancel, proceed: (answer: Answer) => void): void {
    const before = this.state;
    let settled: { readonly answer: Answer } | undefined;
    let isWaiting = false;
    const cancel = ask((answer) => {
      settled = { answer };
      if (!isWaiting) return;
      this.unpark(before);
      this.stage(() => proceed(answer));
    });
    if (settled !== undefined) {
      proceed(settled.answer);
      return;
    }
    isWaiting = true;
    this.park("waiting", cancel, true);
  }

  /**
   * Goes on with a write of what is stored: at once, or for a large request when it is its turn among those that write the same
   * object; then `again` looks at the object anew. What is stored counts as well: a word added to a large object is a large request.
   */
  meets({ key, stored }: StoredAt, again: () => void, write: () => void): void {
    const { writersInTurn } = this.host;
    this.isLarge ||= isLargeObject(stored);
    if (!this.isLarge || writersInTurn.has(this, key)) write();
    else this.await<void>((begin) => writersInTurn.enter(this, key, begin), again);
  }

  /** The next step: at once, or for a large request in an event of its own, at this instant, after what has come meanwhile. */
  next(proceed: () => void): void {
    if (this.isLarge) this.later(proceed);
    else proceed();
  }

  /** In an event of its own. */
  private later(proceed: () => void): void {
    const before = this.state;
    const timer = this.host.clock.after(0, () => {
      this.unpark(before);
      this.stage(proceed);
    });
    this.park("waiting", timer);
  }

  /** Work that stops now and then: what is left of it is the next step. */
  steps<Result>(work: Generator<void, Result>, proceed: (result: Result) => void): void {
    if (!this.isLarge) {
      proceed(drained(work));
      return;
    }
    const { done, value } = work.next();
    if (done === true) proceed(value);
    else this.next(() => this.steps(work, proceed));
  }

  /** The same for a request of any size, whose work stops nowhere unless it is long. */
  longSteps<Result>(work: Generator<void, Result>, proceed: (result: Result) => void): void {
    const { done, value } = work.next();
    if (done === true) proceed(value);
    else this.later(() => this.longSteps(work, proceed));
  }

  /** Goes on with what expressions say, in as many events as they take. `judge` does nothing but judge, and the same each time. */
  judge<Result>(judge: () => Result, proceed: (result: Result) => void): void {
    const pace = new Pace(this.budget);
    const turn = (): void => {
      const made = pace.turn(judge);
      if (made !== undefined) {
        proceed(made.result);
        return;
      }
      this.letOthersIn();
      this.later(turn);
    };
    turn();
  }

  /** What follows may take its time, and holds no other large request up. */
  letOthersIn(): void {
    this.leaveLine?.();
    this.leaveLine = undefined;
  }

  /** The time by which an answer must have left, from now on. */
  limit(deadlineMicros: Micros): void {
    this.deadlineMicros = deadlineMicros;
    if (this.deadline === undefined) return;
    this.deadline();
    this.deadline = undefined;
  }

  /** `cancel` stops what an open watch is fed by. */
  hold(cancel: Cancel): void {
    if (this.state === "done") cancel();
    else this.waitingFor = cancel;
  }

  /** The wait is over. */
  unpark(state: RunState): void {
    if (this.state === "done") return;
    if (this.waitsSince >= 0) this.endWait();
    this.waitingFor = undefined;
    this.state = state;
  }

  /** From the arrival to `nowMicros`, without the waits for others. */
  ownMicros(nowMicros: Micros): Micros {
    const waits = this.waitsSince < 0 ? 0 : nowMicros - this.waitsSince;
    return nowMicros - this.arrivedMicros - this.waitedMicros - waits;
  }

  private endWait(): void {
    this.waitedMicros += this.host.clock.nowMicros() - this.waitsSince;
    this.waitsSince = -1;
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    if (this.state === "done") return;
    this.answered = status;
    const delay = this.host.answerDelayMicros(this, payload);
    if (delay === 0 && !this.isLarge) {
      this.send(status, headers, payload);
      return;
    }
    if (delay > 0) this.letOthersIn();
    const timer = this.host.clock.after(delay, () => {
      this.waitingFor = undefined;
      this.send(status, headers, payload);
    });
    this.park("committed", timer);
  }

  private send(status: number, headers: ResponseHeaders, payload: Payload): void {
    if (!this.finish()) return;
    try {
      // Makes the bytes.
      if (this.host.rare === undefined) this.responder.respond(status, headers, payload);
      else this.asDrawn(() => this.responder.respond(status, headers, payload));
    } catch (error) {
      this.host.broke(this, error);
      this.answered = 500;
      this.responder.respond(500, {}, lastResort);
      return;
    }
    this.host.sent(this, payload);
  }

  /** A watch begins: it has no deadline of its own and holds no seat. */
  open(status: number, headers: ResponseHeaders): void {
    if (this.state === "done") return;
    this.state = "responding";
    this.answered = status;
    this.deadline?.();
    this.deadline = undefined;
    this.deadlineMicros = 0;
    this.responder.open(status, headers);
  }

  close(): void {
    if (this.finish()) this.responder.close();
  }

  /** Whether the client's connection can be handed on. */
  get canHandOver(): boolean {
    return this.responder.tunnel !== undefined;
  }

  /** Hands the client's connection on; `unreached` makes the error that is answered where nobody is there. */
  handOver(to: TunnelTarget, unreached: (why: string) => ApiError): void {
    let isOver = false;
    const cancel = this.responder.tunnel?.(to, (outcome) => {
      isOver = true;
      if (this.state === "waiting") this.unpark("executing");
      if ("error" in outcome) this.stage(() => this.fail(unreached(outcome.error)));
      else {
        this.answered = outcome.status;
        this.finish();
      }
    });
    if (!isOver && cancel !== undefined) this.park("waiting", cancel, true);
  }

  fail(error: ApiError): void {
    if (this.state === "done") return;
    if (this.state === "responding") throw new InvariantError("an error after the response began", error);
    this.host.refuse(this, error);
  }

  /** The client went away, or the server crashed: nothing is sent any more. */
  cancel(): void {
    const hadNoAnswer = this.state !== "responding" && this.state !== "done";
    if (this.finish() && hadNoAnswer) this.host.abandoned(this);
  }

  private expire(): void {
    this.deadline = undefined;
    this.isTerminated = true;
    this.stage(() => {
      this.waitingFor?.();
      this.waitingFor = undefined;
      this.fail(timeout("Timeout: request did not complete within requested timeout - context deadline exceeded"));
    });
  }

  private finish(): boolean {
    if (this.state === "done") return false;
    this.state = "done";
    const stopWaiting = this.waitingFor;
    this.waitingFor = undefined;
    this.deadline?.();
    this.deadline = undefined;
    try {
      stopWaiting?.();
      this.host.ended(this);
    } catch (error) {
      this.host.broke(this, error); // the answer leaves all the same
    }
    return this.host.alive;
  }
}
