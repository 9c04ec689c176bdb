/**
 * The one way to call an API server, over a link or in its own process: whole requests with a deadline, and watches event
 * by event. What a client has pending ends with its process.
 */
import type { ApiHandler, ClientIdentity, JsonObject, Payload, Responder } from "../contract/http-message.ts";
import type { CallFailure, Cancel, Micros, Process } from "../kernel/types.ts";

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
  readonly body?: JsonObject;
  /** Of the body. Default `application/json`. */
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
}

export type ClientAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      /** Empty when the answer is no object. */
      readonly object: JsonObject;
      /** Undefined when a watch began instead. */
      readonly payload: Payload | undefined;
    }
  /** The outcome is unknown, unless the failure is `refused`. */
  | { readonly ok: false; readonly failure: CallFailure };

export interface WatchSink {
  /** The server has begun to stream. */
  opened(): void;
  event(type: string, object: JsonObject): void;
  /** The server answered something else than a stream. */
  refused(status: number, object: JsonObject): void;
  /** It is over: by the server's will, or because the connection broke. Nothing follows. */
  ended(failure: CallFailure | undefined): void;
}

const json = "application/json";

export class ApiClient {
  private readonly process: Process;
  private readonly handler: ApiHandler;
  private readonly headers: Readonly<Record<string, string>>;
  /** With what each request says of its body and of its answer: few are ever different. */
  private readonly headersOf = new Map<string, Readonly<Record<string, string>>>();
  private readonly identity: ClientIdentity | undefined;

  /**
   * `handler` is the server as this process reaches it, over a link as a rule. `credentials`: a bearer token, or whom a
   * certificate names.
   */
  constructor(
    process: Process,
    handler: ApiHandler,
    credentials: string | ClientIdentity,
    userAgent: string = process.name,
  ) {
    this.process = process;
    this.handler = handler;
    const isToken = typeof credentials === "string";
    this.identity = isToken ? undefined : credentials;
    this.headers = { ...(isToken ? { authorization: `Bearer ${credentials}` } : {}), "user-agent": userAgent };
  }

  /** `done` fires once, unless the call is cancelled or the process dies. */
  call(request: ClientRequest, deadlineMicros: Micros, done: (answer: ClientAnswer) => void): Cancel {
    let over = false;
    const finish = (answer: ClientAnswer): void => {
      if (over) return;
      over = true;
      cancelDeadline();
      if (this.process.alive) done(answer);
    };
    const cancelDeadline = this.process.clock.after(deadlineMicros, () => {
      cancelRequest();
      finish({ ok: false, failure: "deadline" });
    });
    const cancelRequest = this.start(request, {
      respond: (status, _headers, payload) => finish({ ok: true, status, object: payload.object ?? {}, payload }),
      open: () => finish({ ok: true, status: 200, object: {}, payload: undefined }),
      frame: () => 0,
      close: () => {},
      failed: (failure) => finish({ ok: false, failure }),
    });
    return () => {
      over = true;
      cancelDeadline();
      cancelRequest();
    };
  }

  /** Nothing reaches the sink after the cancel. */
  watch(request: ClientRequest, sink: WatchSink): Cancel {
    let over = false;
    const unlessOver = (act: () => void): void => {
      if (!over && this.process.alive) act();
    };
    const forget = this.process.onCrash(() => stop());
    const end = (tell: () => void): void =>
      unlessOver(() => {
        over = true;
        forget();
        tell();
      });
    const cancel = this.start(request, {
      respond: (status, _headers, payload) => end(() => sink.refused(status, payload.object ?? {})),
      open: () => unlessOver(() => sink.opened()),
      frame(payload) {
        const { type, object } = (payload.object ?? {}) as { type?: string; object?: JsonObject };
        unlessOver(() => sink.event(type ?? "", object ?? {}));
        return 0;
      },
      close: () => end(() => sink.ended(undefined)),
      failed: (failure) => end(() => sink.ended(failure)),
    });
    const stop = (): void => {
      over = true;
      forget();
      cancel();
    };
    return stop;
  }

  private start(request: ClientRequest, responder: Responder): Cancel {
    const { method, path, query = "", body, contentType = json, accept = json } = request;
    const headers = this.headersFor(accept, body === undefined ? "" : contentType);
    const identified = this.identity === undefined ? {} : { clientCertificate: this.identity };
    return this.handler.start({ method, path, query, headers, body, ...identified }, responder);
  }

  /** `contentType`: empty without a body. */
  private headersFor(accept: string, contentType: string): Readonly<Record<string, string>> {
    const words = accept === json ? contentType : `${accept}\n${contentType}`;
    let headers = this.headersOf.get(words);
    if (headers === undefined) {
      headers = { ...this.headers, accept, ...(contentType === "" ? {} : { "content-type": contentType }) };
      this.headersOf.set(words, headers);
    }
    return headers;
  }
}
