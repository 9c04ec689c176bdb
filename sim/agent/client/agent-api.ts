/**
 * An agent's ways to the API server: requests at a rate of their own, and watches. Retries as the published clients do:
 * what the server puts off with Retry-After, up to ten times, and reads whose connection broke, after a second.
 * Source: the facts, Clients and events.
 */
import type { WatchHearer } from "../../client/reflector.ts";
import type { ApiHandler, ApiRequest, Payload, Responder, ResponseHeaders } from "../../contract/http-message.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import type { ApiAnswer, ApiCall, ApiCaller } from "../ports.ts";
import { microsOfSeconds } from "../seconds.ts";
import { kept } from "../piece.ts";
import type { TokenBucket } from "./token-bucket.ts";

export interface AgentApiOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  /** Sent with every request: who the agent is. */
  readonly headers: Readonly<Record<string, string>>;
  /** In process: whom the agent's certificate names. */
  readonly identity?: NonNullable<ApiRequest["clientCertificate"]>;
  /** Undefined: no rate. */
  readonly bucket?: TokenBucket;
}

const deadlineMicrosDefault: Micros = 60_000_000;
const retriesMax = 10;
const lostRetryMicros: Micros = 1_000_000;

export class AgentApi implements ApiCaller {
  readonly process: Process;
  private readonly options: AgentApiOptions;
  /** Headers of requests with a body, by its type: made once. */
  private readonly headersOf = new Map<string, Readonly<Record<string, string>>>();

  constructor(options: AgentApiOptions) {
    this.options = options;
    this.process = options.process;
  }

  call(request: ApiCall, done: (answer: ApiAnswer) => void): void {
    const { bucket } = this.options;
    const { clock } = this.process;
    const waitMicros = bucket === undefined ? 0 : bucket.take(clock.nowMicros());
    const attempt = new Attempt(this, request, 0, done);
    if (waitMicros === 0) attempt.begin();
    else clock.after(waitMicros, () => attempt.begin());
  }

  /** Nothing is heard after the cancel, nor when this process has died. Watches draw on the rate too. */
  watch(path: string, query: string, hearer: WatchHearer): Cancel {
    let isOver = false;
    const forget = this.process.onCrash(() => cancel());
    let cancelStream: Cancel = () => {};
    const cancel: Cancel = () => {
      isOver = true;
      forget();
      cancelStream();
    };
    const heard = kept(({ object }: Payload): void => {
      if (!isOver && this.process.alive && object !== undefined)
        hearer.event(object["type"] as string, object["object"] as JsonObject);
    });
    const last = kept((tell: () => void): void => {
      if (isOver || !this.process.alive) return;
      isOver = true;
      forget();
      tell();
    });
    try {
      cancelStream = this.start(
        { method: "GET", path, query },
        {
          respond: (status) => last(() => hearer.refused(status)),
          open: () => {},
          frame: (payload) => {
            heard(payload);
            return 0;
          },
          close: () => last(() => hearer.ended()),
          failed: () => last(() => hearer.ended()),
        },
      );
    } catch (error) {
      cancel(); // nothing is left of a watch that could not begin
      throw error;
    }
    return cancel;
  }

  start({ method, path, query = "", body, contentType }: ApiCall, responder: Responder): Cancel {
    const { server, headers: own, identity } = this.options;
    const headers = body === undefined ? own : this.headersWith(contentType ?? "application/json");
    const request: ApiRequest =
      identity === undefined
        ? { method, path, query, headers, body }
        : { method, path, query, headers, body, clientCertificate: identity };
    return server.start(request, responder);
  }

  private headersWith(contentType: string): Readonly<Record<string, string>> {
    let headers = this.headersOf.get(contentType);
    if (headers === undefined) {
      headers = { ...this.options.headers, "content-type": contentType };
      this.headersOf.set(contentType, headers);
    }
    return headers;
  }
}

/** One sending of a request, until its answer: one object, since thousands of nodes send two in ten seconds each. */
class Attempt implements Responder {
  private readonly api: AgentApi;
  private readonly request: ApiCall;
  /** How many were sent before. */
  private readonly retries: number;
  private readonly done: (answer: ApiAnswer) => void;
  /** An answer is heard by the piece of work that asked. */
  private readonly answered: (status: number, headers: ResponseHeaders, payload: Payload | undefined) => void;
  private state: "starting" | "open" | "over" = "starting";
  private cancelDeadline: Cancel | undefined;
  private cancelCall: Cancel | undefined;

  constructor(api: AgentApi, request: ApiCall, retries: number, done: (answer: ApiAnswer) => void) {
    this.api = api;
    this.request = request;
    this.retries = retries;
    this.done = done;
    this.answered = kept((status, headers, payload) => this.finish(status, headers, payload?.object));
  }

  begin(): void {
    this.cancelDeadline = this.api.process.clock.after(this.request.deadlineMicros ?? deadlineMicrosDefault, () => {
      if (this.state === "over") return;
      this.state = "over";
      this.cancelCall?.();
      this.done({ status: 0, object: undefined });
    });
    try {
      this.cancelCall = this.api.start(this.request, this);
    } catch (error) {
      this.state = "over";
      this.cancelDeadline?.();
      throw error;
    }
    if (this.state === "starting") this.state = "open";
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    this.answered(status, headers, payload);
  }

  open(status: number, headers: ResponseHeaders): void {
    this.answered(status, headers, undefined);
  }

  frame(): number {
    return 0;
  }

  close(): void {}

  failed(): void {
    this.answered(0, {}, undefined);
  }

  private finish(status: number, headers: ResponseHeaders, object: JsonObject | undefined): void {
    const { state } = this;
    if (state === "over") return;
    this.state = "over";
    this.cancelDeadline?.();
    const { process } = this.api;
    // An answer from within the call itself comes later than the call, as any other.
    if (state === "starting") process.clock.after(0, () => this.end(status, headers, object));
    else if (process.alive) this.end(status, headers, object);
  }

  private end(status: number, headers: ResponseHeaders, object: JsonObject | undefined): void {
    const again = this.retries < retriesMax ? retryMicros(this.request.method, status, headers) : undefined;
    if (again === undefined) return this.done({ status, object });
    const next = new Attempt(this.api, this.request, this.retries + 1, this.done);
    this.api.process.clock.after(again, () => next.begin());
  }
}

function retryMicros(method: string, status: number, headers: ResponseHeaders): Micros | undefined {
  if (status === 0) return method === "GET" ? lostRetryMicros : undefined;
  if (status !== 429 && status < 500) return undefined;
  const seconds = Number(headers["retry-after"] ?? "none");
  return Number.isInteger(seconds) && seconds >= 0 ? microsOfSeconds(seconds) : undefined;
}
