/** `fetch` straight into a simulated server: the same call and the same answers, with no socket between. */
import type { StreamSink, WireResponse } from "../../wire/ports.ts";
import type { HostCheck } from "./own-hosts.ts";
import { defaultPatience, openWithPatience, type TimedTransport } from "./patience.ts";

/** What Node's own `fetch` sends unless it is told otherwise. */
const defaultHeaders = { accept: "*/*", "accept-language": "*", "user-agent": "node" };

/**
 * A `fetch` whose requests reach the transport that `transportNow` answers when it is called; a URL that `checkHost`
 * refuses rejects. A body streams as the server sends it;
 * an abort, or cancelling the body, cuts the exchange as a closed connection would.
 */
export function transportFetch(transportNow: () => TimedTransport, checkHost: HostCheck): typeof globalThis.fetch {
  return async (input, init) => {
    const transport = transportNow();
    const request = new Request(input, init);
    const { method, signal } = request;
    const url = new URL(request.url);
    checkHost(url);
    const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    signal.throwIfAborted();
    const { pathname, search } = url;
    const headers = { ...defaultHeaders, ...Object.fromEntries(request.headers) };
    const wire = { method, path: pathname + search, headers, ...(bytes === undefined ? {} : { body: bytes }) };
    return new Promise<Response>((resolve, reject) => {
      const answer = new StreamedResponse(request, resolve, reject);
      answer.begin(openWithPatience(transport, wire, answer, defaultPatience));
    });
  };
}

/** Statuses whose responses have no body: `Response` refuses one. */
const bodiless = new Set([101, 103, 204, 205, 304]);

class StreamedResponse implements StreamSink {
  /** Kept for as long as the exchange lasts: a request that is collected no longer follows its caller's signal. */
  readonly #request: Request;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #cut: () => void = () => undefined;
  #over = false;

  constructor(request: Request, resolve: (response: Response) => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(cut: () => void): void {
    if (this.#over) return;
    this.#cut = cut;
    this.#request.signal.addEventListener("abort", this.#abort, { once: true });
  }

  head(status: number, headers: WireResponse["headers"]): void {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
      cancel: () => {
        if (this.#finish()) this.#cut();
      },
    });
    const init = { status, headers: fetchHeaders(headers) };
    const response = new Response(bodiless.has(status) ? null : stream, init);
    Object.defineProperty(response, "url", { value: this.#request.url });
    this.#resolve(response);
  }

  chunk(bytes: Uint8Array): void {
    this.#body?.enqueue(bytes);
  }

  end(): void {
    if (this.#finish()) this.#body?.close();
  }

  failed(cause: Error): void {
    this.#fail(new TypeError(this.#body === undefined ? "fetch failed" : "terminated", { cause }));
  }

  readonly #abort = (): void => {
    this.#cut();
    this.#fail(this.#request.signal.reason);
  };

  #fail(error: unknown): void {
    if (!this.#finish()) return;
    if (this.#body === undefined) this.#reject(error);
    else this.#body.error(error);
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#request.signal.removeEventListener("abort", this.#abort);
    return true;
  }
}

function fetchHeaders(headers: WireResponse["headers"]): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === "string" ? [value] : value) result.append(name, one);
  }
  return result;
}
