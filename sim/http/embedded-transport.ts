/**
 * The embedded server as the suite meets it: a `Transport` straight into an `ApiHandler`, and a `SuiteClock` on
 * the same virtual time. Nothing is encoded for a wire but the bodies, and nothing ever waits for real: the
 * virtual driver moves time when the suite has nothing left to do at an instant.
 */
import { gzipSync } from "node:zlib";
import type { StreamSink, SuiteClock, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";
import type { Packing } from "../contract/compression.ts";
import type { ApiHandler, ApiRequest, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import { invariant } from "../kernel/invariant.ts";
import type { CallFailure, Cancel, Micros, Prng, Process } from "../kernel/types.ts";
import type { VirtualDriver } from "../kernel/virtual-driver.ts";

export interface EmbeddedOptions {
  readonly driver: VirtualDriver;
  readonly handler: ApiHandler;
  /** The process that stands for the suite's machine: its timers, and the stream that latencies are drawn from. */
  readonly client: Process;
  /**
   * One way between client and server, in microseconds, 0 ≤ min ≤ max; drawn for each message, and never so that
   * one overtakes another of its exchange. Default 0: a request that needs no waiting is answered at once, and
   * its caller resumes without a macrotask turn.
   *
   * The draws of an exchange follow from its method, its path without digits (names and versions count up in a
   * long run) and its place among the exchanges since none was open: the same small program meets the same
   * latencies again, whatever ran before it. An exchange that begins while no other is open takes the middle.
   */
  readonly latencyMicros?: { readonly min: Micros; readonly max: Micros };
  /** Lower-case headers added to a request that lacks them, such as credentials. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a complete response is sent gzipped. Default: never. */
  readonly compress?: (request: ApiRequest, status: number, bodyBytes: number) => Packing;
}

/** Requests on their way or under way are cut when the transport closes. */
export function embeddedTransport(options: EmbeddedOptions): Transport {
  const { min, max } = options.latencyMicros ?? { min: 0, max: 0 };
  invariant(min >= 0 && min <= max, "a latency range is 0 ≤ min ≤ max", options.latencyMicros);
  const wire: Wire = { ...options, min, max };
  const latencies = options.client.prng.stream("latency");
  const open = new Set<Exchange>();
  let place = 0;
  return {
    open(request, sink) {
      place = open.size === 0 ? 0 : place + 1;
      const alone = place === 0 || max === 0;
      const prng = alone ? undefined : latencies.stream(`${place} ${request.method} ${withoutDigits(request.path)}`);
      const exchange = new Exchange(wire, prng, sink, () => open.delete(exchange));
      open.add(exchange);
      exchange.send(request);
      return () => exchange.cut();
    },
    async close() {
      for (const exchange of [...open]) exchange.cut();
    },
  };
}

/** `nowMillis` counts from 1970 as the run's epoch has it. Timers fire outside dispatch, as real ones do. */
export function virtualClock({ clock }: Process): SuiteClock {
  const after = (millis: number, fire: () => void): Cancel => {
    let cancelled = false;
    const cancelTimer = clock.after(Math.max(0, Math.ceil(millis * 1000)), () =>
      queueMicrotask(() => {
        if (!cancelled) fire();
      }),
    );
    return () => {
      cancelled = true;
      cancelTimer();
    };
  };
  return {
    nowMillis: () => clock.epochUnixMillis + clock.nowMicros() / 1000,
    after,
    sleep: (millis) => new Promise((resolve) => void after(millis, resolve)),
  };
}

const credentialsOf = (as: NonNullable<WireRequest["as"]>): ApiRequest["headers"] =>
  as === "nobody" ? {} : { authorization: `Bearer ${as.token}` };

const withoutDigits = (path: string): string => path.replace(/[?].*$/, "").replace(/\d+/g, "");

interface Wire extends EmbeddedOptions {
  readonly min: Micros;
  readonly max: Micros;
}

const encoder = new TextEncoder();

/** What Node says of a connection that came to the same end: clients decide by `code`. */
const connectionErrors: Readonly<Record<CallFailure, { readonly code: string; readonly syscall: string }>> = {
  refused: { code: "ECONNREFUSED", syscall: "connect" },
  disconnected: { code: "ECONNRESET", syscall: "read" },
  deadline: { code: "ETIMEDOUT", syscall: "read" },
};

export function connectionError(failure: CallFailure): Error {
  const { code, syscall } = connectionErrors[failure];
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

class Exchange implements Responder {
  readonly #wire: Wire;
  readonly #prng: Prng | undefined;
  readonly #sink: StreamSink;
  readonly #ended: () => void;
  #over = false;
  #headOnly = false;
  #packingOf: (status: number, bodyBytes: number) => Packing = () => false;
  #cancelAtServer: Cancel | undefined;
  /** When the last message arrives in each direction: none overtakes another. */
  #lastUpMicros = 0;
  #lastDownMicros = 0;
  #bytesUnderWay = 0;
  /** What has arrived since the client stopped reading; undefined while it reads. */
  #unread: (() => void)[] | undefined;
  #taken: (() => void) | undefined;
  /** Only there for a client that may stop reading: all others take everything at once. */
  whenTaken?: (resume: () => void) => void;

  constructor(wire: Wire, prng: Prng | undefined, sink: StreamSink, ended: () => void) {
    this.#wire = wire;
    this.#prng = prng;
    this.#sink = sink;
    this.#ended = ended;
  }

  send(request: WireRequest): void {
    this.#headOnly = request.method === "HEAD";
    const mark = request.path.indexOf("?");
    const { body } = request;
    const apiRequest = {
      method: request.method,
      path: mark < 0 ? request.path : request.path.slice(0, mark),
      query: mark < 0 ? "" : request.path.slice(mark + 1),
      headers: { ...(request.as === undefined ? this.#wire.headers : credentialsOf(request.as)), ...request.headers },
      body: typeof body === "string" ? encoder.encode(body) : body,
    };
    if (request.onReader !== undefined) {
      this.whenTaken = (resume) => (this.#taken = resume);
      request.onReader({ pause: () => (this.#unread ??= []), resume: () => this.#readOn() });
    }
    const { compress } = this.#wire;
    if (compress !== undefined) this.#packingOf = (status, bodyBytes) => compress(apiRequest, status, bodyBytes);
    this.#up(() => {
      this.#cancelAtServer = this.#wire.handler.start(apiRequest, this);
    });
  }

  /** The client goes away. What it has sent before still arrives, and the server hears of the cut after that. */
  cut(): void {
    if (this.#over) return;
    this.#finish();
    this.#up(() => this.#cancelAtServer?.());
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    const plain = payload.bytes();
    const isPacked = payload.isVerbatim !== true && this.#packingOf(status, plain.length);
    const once = isPacked === false ? plain : gzipSync(plain, { level: 1 });
    const bytes = isPacked === "twice" ? gzipSync(once) : once;
    const packing = isPacked !== false ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {};
    this.#down(bytes.length, () => {
      const length = { "content-type": payload.contentType, "content-length": String(bytes.length) };
      this.#sink.head(status, { ...length, ...packing, ...headers } satisfies WireResponse["headers"]);
      if (bytes.length > 0 && !this.#headOnly && !this.#over) this.#sink.chunk(bytes);
      this.#end();
    });
  }

  open(status: number, headers: ResponseHeaders): void {
    this.#down(0, () => this.#sink.head(status, headers));
  }

  frame(payload: Payload): number {
    const bytes = payload.bytes();
    this.#down(bytes.length, () => this.#sink.chunk(bytes));
    return this.#bytesUnderWay;
  }

  close(): void {
    this.#down(0, () => this.#end());
  }

  failed(failure: CallFailure): void {
    this.#down(0, () => {
      this.#finish();
      this.#sink.failed(connectionError(failure));
    });
  }

  #end(): void {
    if (this.#over) return; // cut from within the sink
    this.#finish();
    this.#sink.end();
  }

  #finish(): void {
    this.#over = true;
    this.#ended();
  }

  #up(arrive: () => void): void {
    const { driver, client } = this.#wire;
    const now = driver.nowMicros();
    const at = Math.max(this.#lastUpMicros, now + this.#delayMicros());
    this.#lastUpMicros = at;
    if (at === now) driver.enter(client, arrive);
    else driver.enter(client, () => client.clock.after(at - now, arrive));
  }

  #down(size: number, arrive: () => void): void {
    const { driver, client } = this.#wire;
    const now = driver.nowMicros();
    const at = Math.max(this.#lastDownMicros, now + this.#delayMicros());
    this.#lastDownMicros = at;
    this.#bytesUnderWay += size;
    const read = (): void => {
      this.#bytesUnderWay -= size;
      if (!this.#over) arrive();
      if (this.#bytesUnderWay === 0) this.#wasTaken();
    };
    const land = (): void =>
      queueMicrotask(() => {
        if (this.#unread === undefined) read();
        else this.#unread.push(read);
      });
    if (at === now) land();
    else client.clock.after(at - now, land);
  }

  #readOn(): void {
    const waiting = this.#unread ?? [];
    this.#unread = undefined;
    for (const read of waiting) read();
  }

  /** The server hears of it as of anything else that a client does. */
  #wasTaken(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    if (taken !== undefined && !this.#over) this.#up(taken);
  }

  #delayMicros(): Micros {
    const { min, max } = this.#wire;
    return this.#prng === undefined ? Math.floor((min + max) / 2) : this.#prng.intInclusive(min, max);
  }
}
