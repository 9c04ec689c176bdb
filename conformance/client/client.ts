import { Gathered } from "../../wire/gathered.ts";
import type { SuiteClock, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";
import { Cancelled } from "./findings.ts";
import { Coming, shownOfUnsent, unreadJson, unsent } from "./answer-limits.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { parsed, ReadAnswers } from "./read-answers.ts";
import type { Recorder } from "./recorder.ts";
import type { Json, JsonObject } from "./types.ts";
import { WatchStream } from "./watch-stream.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: Json | JsonObject | undefined;
  /** Sent as it is; goes before `body`. */
  readonly rawBody?: string | Uint8Array | undefined;
  /** Default `application/json` when there is a body. */
  readonly contentType?: string | undefined;
  /** Default `application/json`; null sends no Accept header. */
  readonly accept?: string | null | undefined;
  /** Further headers, names in lower case. They go before what the client itself would send. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default 30,000. */
  readonly timeoutMillis?: number | undefined;
  /**
   * Wait and repeat on 429, on 503 with Retry-After, and what only reads on any 503. Default true. Where these may
   * themselves be the answer to the question: whether this one is not, but says that the server is too busy.
   */
  readonly retryTooMany?: boolean | ((answer: Answer) => boolean) | undefined;
  /** Another's bearer token, or no credentials at all. Default: those of the run. */
  readonly as?: WireRequest["as"] | undefined;
  /** Told of who reads the answer, where that can be stopped for a while. */
  readonly onReader?: WireRequest["onReader"] | undefined;
  /** Go away right after sending: the outcome is then unknown. */
  readonly cutAfterSending?: boolean | undefined;
}

/** No answer is known: the request may have had its effect or not. */
export class LostAnswer extends Error {
  override readonly name = "LostAnswer";
  readonly exchange: Exchange;

  constructor(exchange: Exchange) {
    super(`no answer to ${exchange.request.method} ${exchange.request.path}: ${exchange.lost}`);
    this.exchange = exchange;
  }
}

/** An abort without a reason of its own is a person's. */
export function whyStopped({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message : "stopped by a person";
}

/** The only door to the target: everything that goes through it is recorded. */
export class Client {
  readonly clock: SuiteClock;
  readonly recorder: Recorder;
  /** Of the suite's clock: no version that is asked for through this client was given out before. */
  readonly madeMillis: number;
  private readonly transport: Transport;
  private readonly userAgent: string;
  private readonly signal: AbortSignal | undefined;
  private readonly onRefusedMethod: ((client: Client, refused: Exchange) => Promise<void>) | undefined;
  private readonly openWatches = new Set<WatchStream>();
  private readonly answers = new ReadAnswers();
  private watchCount = 0;

  /**
   * Once `signal` is aborted nothing more is sent: whatever runs ends at its next request, as `Cancelled`.
   * `onRefusedMethod` is told of each exchange that was answered 405, and may end whatever runs by throwing.
   */
  constructor(
    transport: Transport,
    clock: SuiteClock,
    recorder: Recorder,
    userAgent: string,
    signal?: AbortSignal,
    onRefusedMethod?: (client: Client, refused: Exchange) => Promise<void>,
  ) {
    this.transport = transport;
    this.clock = clock;
    this.madeMillis = clock.nowMillis();
    this.recorder = recorder;
    this.userAgent = userAgent;
    this.signal = signal;
    this.onRefusedMethod = onRefusedMethod;
  }

  /** Throws `LostAnswer` when no complete answer came. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const result = await this.attempt(method, path, options);
    if (result instanceof LostAnswer) throw result;
    return result;
  }

  /** Like `request`, but a loss is a value: for programs that expect to lose answers. */
  async attempt(method: string, path: string, options: RequestOptions = {}): Promise<Answer | LostAnswer> {
    const request = this.wireRequest(method, path, options);
    let waitedMillis = 0;
    for (let awayCount = 0; ; ) {
      this.mayGoOn();
      const result = await this.exchange(request, options);
      if (result instanceof LostAnswer) return result;
      const { retryTooMany = true } = options;
      const mayRetry = typeof retryTooMany === "function" ? retryTooMany(result) : retryTooMany;
      const pauseMillis =
        method === "GET" && (mayRetry || isOfGateway(result)) ? awayMillis(result, awayCount) : undefined;
      if (pauseMillis !== undefined) {
        awayCount += 1;
        await this.pause(pauseMillis);
        continue;
      }
      if (isOfGateway(result)) return nothingHeard(result.exchange, `a gateway answered ${result.status}, in HTML`);
      const lateAnswer = method === "GET" ? lateMillis(result) : undefined;
      const waitMillis = mayRetry ? (busyMillis(result) ?? lateAnswer) : undefined;
      if (waitMillis === undefined) {
        if (result.status === 405) await this.onRefusedMethod?.(this, result.exchange);
        return result;
      }
      const isLate = busyMillis(result) === undefined;
      if (waitedMillis + waitMillis > (isLate ? lateWaitMillisMax : retryWaitMillisMax)) {
        // One that is busy may be so for ever; one that is late with what it must have by now does not have it.
        if (isLate) return result;
        const after = `after ${waitedMillis / 1000} s of waiting`;
        return nothingHeard(result.exchange, `it is too busy: ${result.status}, ${after}`);
      }
      waitedMillis += waitMillis;
      await this.pause(waitMillis);
    }
  }

  /** Lets time pass, but ends as soon as the run is stopped: then as `Cancelled`. */
  async pause(millis: number): Promise<void> {
    this.mayGoOn();
    const { signal } = this;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancelTimer();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancelTimer = this.clock.after(millis, end);
      signal?.addEventListener("abort", end);
    });
    this.mayGoOn();
  }

  watch(
    path: string,
    query: Query,
    options: Pick<RequestOptions, "accept" | "headers" | "as" | "onReader"> = {},
  ): WatchStream {
    this.mayGoOn();
    // The documents' spelling and the one that most clients send, in turn.
    const watch = this.watchCount++ % 2 === 0 ? "true" : "1";
    const request = this.wireRequest("GET", path, { ...options, query: { watch, ...query } });
    const stream = new WatchStream(this.transport, this.clock, this.recorder, request, () =>
      this.openWatches.delete(stream),
    );
    this.openWatches.add(stream);
    return stream;
  }

  /** Cuts every watch that is still open. */
  closeWatches(): void {
    for (const watch of [...this.openWatches]) watch.close();
  }

  private mayGoOn(): void {
    if (this.signal?.aborted === true) throw new Cancelled(whyStopped(this.signal));
  }

  private wireRequest(method: string, path: string, options: RequestOptions): WireRequest {
    const headers: Record<string, string> = { "user-agent": this.userAgent };
    if (options.accept !== null) headers["accept"] = options.accept ?? "application/json";
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    if (body !== undefined) headers["content-type"] = options.contentType ?? "application/json";
    Object.assign(headers, options.headers);
    const fullPath = path + queryText(options.query);
    return {
      method,
      path: fullPath,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(options.as === undefined ? {} : { as: options.as }),
      ...(options.onReader === undefined ? {} : { onReader: options.onReader }),
    };
  }

  private notSent(request: WireRequest, why: string): LostAnswer {
    const exchange = this.recorder.begin(shownOfUnsent(request));
    this.recorder.end(exchange);
    return nothingHeard(exchange, why);
  }

  private exchange(request: WireRequest, options: RequestOptions): Promise<Answer | LostAnswer> {
    const { answers, clock, recorder, transport } = this;
    const why = unsent(request);
    if (why !== undefined) return Promise.resolve(this.notSent(request, why));
    const exchange = recorder.begin(request);
    return new Promise((resolve) => {
      const body = new Gathered();
      const coming = new Coming(request.method);
      let settled = false;
      let cancelTimer = () => {};
      const settle = (result: () => Answer | LostAnswer) => {
        if (settled) return;
        settled = true;
        cancelTimer();
        recorder.end(exchange);
        resolve(result());
      };
      const lose = (why: string) =>
        settle(() => {
          exchange.lost = why;
          return new LostAnswer(exchange);
        });
      let cancel = () => {};
      cancel = transport.open(request, {
        head(status, headers) {
          exchange.status = status;
          exchange.headers = headers;
        },
        chunk(bytes) {
          if (settled) return;
          exchange.keep(bytes);
          const unread = coming.add(bytes);
          if (unread === undefined) {
            body.add(bytes);
            return;
          }
          cancel();
          body.clear();
          lose(unread);
        },
        end() {
          if (settled) return;
          const bytes = body.joined();
          body.clear();
          const unread = isJson(exchange.headers) ? unreadJson(bytes) : undefined;
          if (unread !== undefined) {
            lose(unread);
            return;
          }
          settle(() => {
            const answer = completeAnswer(exchange, bytes, answers);
            recorder.observer?.answered(exchange, answer.json, headerOf(answer.headers, "retry-after"));
            return answer;
          });
        },
        failed: (cause) => lose(cause.message),
      });
      if (settled) return;
      if (options.cutAfterSending === true) {
        cancel();
        lose("the suite went away after sending");
        return;
      }
      const timeoutMillis = options.timeoutMillis ?? 30_000;
      cancelTimer = clock.after(timeoutMillis, () => {
        if (settled) return;
        cancel();
        lose(`nothing complete within ${timeoutMillis} ms`);
      });
    });
  }
}

/** A server that is this long too busy says nothing. */
export const retryWaitMillisMax = 60_000;

/** Longer than a front-end that keeps up is behind the others. */
const lateWaitMillisMax = 5_000;

/** What is no answer of the target to the question: nothing may be judged by it. */
function nothingHeard(exchange: Exchange, why: string): LostAnswer {
  exchange.lost = why;
  return new LostAnswer(exchange);
}

const decoder = new TextDecoder();

function completeAnswer(exchange: Exchange, bytes: Uint8Array, answers: ReadAnswers): Answer {
  const text = decoder.decode(bytes);
  return {
    exchange,
    status: exchange.status as number,
    headers: exchange.headers,
    bytes,
    text,
    json: isJson(exchange.headers) ? documentOf(exchange, text, answers) : undefined,
  };
}

function documentOf({ request, status }: Exchange, text: string, answers: ReadAnswers): Json | undefined {
  if (request.method !== "GET" || status !== 200) return parsed(text);
  return answers.read(`${request.path} ${request.headers["accept"]}`, text);
}

/** One header's value; of a repeated header, the first. */
export function headerOf(headers: WireResponse["headers"], name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

export function mediaTypeOf(headers: WireResponse["headers"]): string {
  return (headerOf(headers, "content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function isJson(headers: WireResponse["headers"]): boolean {
  return mediaTypeOf(headers) === "application/json";
}

type AnswerHead = Pick<Answer, "status" | "headers">;

/** How long to wait before asking again, when the answer is that the server is too busy. */
export function busyMillis({ status, headers }: AnswerHead): number | undefined {
  const asked = headerOf(headers, "retry-after");
  if (status !== 429 && (status !== 503 || asked === undefined)) return undefined;
  return askedMillis(headers);
}

/** How long to wait before reading again, when the server did not manage in time and says when to come again. */
function lateMillis({ status, headers }: AnswerHead): number | undefined {
  return status === 504 && headerOf(headers, "retry-after") !== undefined ? askedMillis(headers) : undefined;
}

function askedMillis(headers: WireResponse["headers"]): number {
  const asked = headerOf(headers, "retry-after");
  if (asked === undefined) return 1000;
  const seconds = /^\d+$/.test(asked)
    ? Number(asked)
    : (Date.parse(asked) - Date.parse(headerOf(headers, "date") ?? "")) / 1000; // by the server's own clock
  return Number.isFinite(seconds) ? Math.max(seconds, 1) * 1000 : 1000;
}

/** Whoever stands in front of the target has not reached it: no cluster API says this in HTML. */
export function isOfGateway({ status, headers }: AnswerHead): boolean {
  return [502, 503, 504].includes(status) && mediaTypeOf(headers) === "text/html";
}

const awayPausesMillis = [1000, 2000, 4000];

/**
 * How long to wait before reading again, when the target was not reached or is not there, and nobody says for how long.
 * Only for what may be asked twice. `tries`: how often it was asked again already. Undefined: the answer stands.
 */
export function awayMillis(head: AnswerHead, tries: number): number | undefined {
  const isAway = isOfGateway(head) || (head.status === 503 && busyMillis(head) === undefined);
  return isAway ? awayPausesMillis[tries] : undefined;
}

function queryText(query: Query | undefined): string {
  if (query === undefined) return "";
  const words: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) words.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  }
  return words.length === 0 ? "" : `?${words.join("&")}`;
}
