/**
 * An undici `Dispatcher` straight into a simulated server, for clients that are built on undici: hand it to
 * `fetch(url, { dispatcher })`, to a client's options, or to `setGlobalDispatcher`. Clients of undici 6 and 7 and Node's
 * own `fetch` may have it too.
 */
import { type BodyInit, Dispatcher, Response } from "undici";
import type { StreamSink, WireResponse } from "../../wire/ports.ts";
import { currentHandler } from "./legacy-handler.ts";
import type { HostCheck } from "./own-hosts.ts";
import { defaultPatience, openWithPatience, type TimedTransport } from "./patience.ts";

export class TransportDispatcher extends Dispatcher {
  readonly #transportNow: () => TimedTransport;
  readonly #checkHost: HostCheck;
  readonly #open = new Set<Exchange>();

  /** A request goes to what `transportNow` answers when it is made. One whose origin `checkHost` refuses fails. */
  constructor(transportNow: () => TimedTransport, checkHost: HostCheck) {
    super();
    this.#transportNow = transportNow;
    this.#checkHost = checkHost;
  }

  override dispatch(options: Dispatcher.DispatchOptions, given: Dispatcher.DispatchHandler): boolean {
    const handler = currentHandler(given);
    const transport = this.#transportNow();
    const exchange = new Exchange(handler, () => this.#open.delete(exchange));
    this.#open.add(exchange);
    handler.onRequestStart?.(exchange, {});
    try {
      if (options.origin !== undefined) this.#checkHost(new URL(options.origin));
    } catch (error) {
      queueMicrotask(() => exchange.abort(error as Error));
      return true;
    }
    bodyOf(options.body).then(
      (body) => {
        const headers = { ...body?.headers, ...headersOf(options.headers) };
        const head = { method: options.method, path: pathOf(options), headers };
        const wire = body === undefined ? head : { ...head, body: body.bytes };
        const patience = {
          headersMillis: options.headersTimeout ?? defaultPatience.headersMillis,
          bodyMillis: options.bodyTimeout ?? defaultPatience.bodyMillis,
        };
        exchange.begin(() => openWithPatience(transport, wire, exchange, patience));
      },
      (error: unknown) => exchange.abort(error as Error),
    );
    return true;
  }

  /** Nothing is kept open between requests, so there is nothing to wait for. */
  override close(done?: () => void): Promise<void> {
    done?.();
    return Promise.resolve();
  }

  override destroy(reason?: Error | null | (() => void), done?: () => void): Promise<void> {
    const error = reason instanceof Error ? reason : new Error("the dispatcher was destroyed");
    for (const exchange of [...this.#open]) exchange.abort(error);
    (typeof reason === "function" ? reason : done)?.();
    return Promise.resolve();
  }
}

/** One request, its own controller. A paused handler gets nothing until it resumes. */
class Exchange implements StreamSink, Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  rawHeaders: string[] = [];
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #ended: () => void;
  #cut: () => void = () => undefined;
  #over = false;
  readonly #waiting: (() => void)[] = [];

  constructor(handler: Dispatcher.DispatchHandler, ended: () => void) {
    this.#handler = handler;
    this.#ended = ended;
  }

  begin(open: () => () => void): void {
    if (!this.#over) this.#cut = open();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    while (!this.paused && this.#waiting.length > 0) this.#waiting.shift()?.();
  }

  abort(reason: Error): void {
    if (!this.#finish()) return;
    this.aborted = true;
    this.reason = reason;
    this.#cut();
    this.#handler.onResponseError?.(this, reason);
  }

  head(status: number, headers: WireResponse["headers"]): void {
    const entries = Object.entries(headers);
    this.rawHeaders = entries.flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one as string]));
    const plain = Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
    );
    this.#deliver(() => this.#handler.onResponseStart?.(this, status, plain, ""));
  }

  chunk(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#deliver(() => this.#handler.onResponseData?.(this, chunk));
  }

  end(): void {
    this.#deliver(() => {
      if (this.#finish()) this.#handler.onResponseEnd?.(this, {});
    });
  }

  failed(cause: Error): void {
    this.#deliver(() => {
      if (this.#finish()) this.#handler.onResponseError?.(this, cause);
    });
  }

  #deliver(step: () => void): void {
    if (this.paused || this.#waiting.length > 0) this.#waiting.push(step);
    else if (!this.aborted) step();
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#ended();
    return true;
  }
}

function pathOf(options: Dispatcher.DispatchOptions): string {
  const query = new URLSearchParams(options.query as Record<string, string> | undefined).toString();
  return query === "" ? options.path : `${options.path}${options.path.includes("?") ? "&" : "?"}${query}`;
}

function headersOf(headers: Dispatcher.DispatchOptions["headers"]): Record<string, string> {
  const result: Record<string, string> = {};
  const add = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) result[name.toLowerCase()] = String(value);
  };
  if (Array.isArray(headers) && typeof headers[0] === "string") {
    for (let i = 0; i + 1 < headers.length; i += 2) add(headers[i] as string, headers[i + 1]);
  } else if (headers !== null && headers !== undefined && Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<[string, unknown]>) add(name, value);
  } else for (const [name, value] of Object.entries(headers ?? {})) add(name, value);
  return result;
}

interface Body {
  readonly bytes: Uint8Array;
  /** What the body itself says of its type: a form does. */
  readonly headers?: Readonly<Record<string, string>>;
}

async function bodyOf(body: Dispatcher.DispatchOptions["body"]): Promise<Body | undefined> {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return { bytes: Buffer.from(body) };
  if (body instanceof Uint8Array) return { bytes: body };
  if (Symbol.asyncIterator in body) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body as AsyncIterable<string | Uint8Array>) chunks.push(Buffer.from(chunk as Uint8Array));
    return { bytes: Buffer.concat(chunks) };
  }
  const whole = new Response(body as BodyInit);
  return { bytes: new Uint8Array(await whole.arrayBuffer()), headers: Object.fromEntries(whole.headers) };
}
