/** A simulated client's way to an API server: whole requests with a deadline, and watches event by event. */
import type { ApiHandler, JsonObject, Responder } from "../contract/http-message.ts";
import type { CallFailure, Cancel, Micros, Process } from "../kernel/types.ts";

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
  readonly body?: JsonObject;
  /** Of the body. Default `application/json`. */
  readonly contentType?: string;
}

export type ClientAnswer =
  | { readonly ok: true; readonly status: number; readonly object: JsonObject }
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

export class ApiClient {
  private readonly process: Process;
  private readonly handler: ApiHandler;
  private readonly headers: Readonly<Record<string, string>>;

  /** `handler` is the server as this process reaches it, over a link as a rule. */
  constructor(process: Process, handler: ApiHandler, token: string) {
    this.process = process;
    this.handler = handler;
    this.headers = { accept: "application/json", authorization: `Bearer ${token}`, "user-agent": process.name };
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
      respond: (status, _headers, payload) => finish({ ok: true, status, object: payload.object ?? {} }),
      open: () => finish({ ok: true, status: 200, object: {} }),
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
    const cancel = this.start(request, {
      respond: (status, _headers, payload) =>
        unlessOver(() => {
          over = true;
          sink.refused(status, payload.object ?? {});
        }),
      open: () => unlessOver(() => sink.opened()),
      frame(payload) {
        const { type, object } = (payload.object ?? {}) as { type?: string; object?: JsonObject };
        unlessOver(() => sink.event(type ?? "", object ?? {}));
        return 0;
      },
      close: () =>
        unlessOver(() => {
          over = true;
          sink.ended(undefined);
        }),
      failed: (failure) =>
        unlessOver(() => {
          over = true;
          sink.ended(failure);
        }),
    });
    return () => {
      over = true;
      cancel();
    };
  }

  private start(request: ClientRequest, responder: Responder): Cancel {
    const { method, path, query = "", body, contentType = "application/json" } = request;
    const headers = body === undefined ? this.headers : { ...this.headers, "content-type": contentType };
    return this.handler.start({ method, path, query, headers, body }, responder);
  }
}
