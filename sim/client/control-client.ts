/** A controller's way to the API server: requests and watches under the account that it has in a cluster. */
import type { Dialect } from "../../wire/dialect.ts";
import type { ApiHandler, ApiRequest, JsonObject, Responder } from "../contract/http-message.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import { QueueCounts } from "./queue-counts.ts";

export interface ControlClientOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  /** Of the controller's service account, such as `generic-garbage-collector`. */
  readonly account: string;
  /** Where work queues count what they do. Default: nobody looks. */
  readonly queueCounts?: QueueCounts;
}

export interface ControlRequest {
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

export interface ControlAnswer {
  /** 0 when the connection broke: whether anything happened is unknown. */
  readonly status: number;
  /** Undefined when the answer is no object. */
  readonly object: JsonObject | undefined;
}

export interface WatchHearer {
  event(type: string, object: JsonObject): void;
  /** The server answered something else than a stream. */
  refused(status: number): void;
  /** The stream is over. Nothing follows. */
  ended(): void;
}

export class ControlClient {
  readonly process: Process;
  readonly queueCounts: QueueCounts;
  private readonly server: ApiHandler;
  private readonly agent: string;
  private readonly identity: NonNullable<ApiRequest["clientCertificate"]>;

  constructor({ process, server, dialect, account, queueCounts = new QueueCounts() }: ControlClientOptions) {
    const { system } = dialect.systemNamespaces;
    this.process = process;
    this.queueCounts = queueCounts;
    this.server = server;
    this.agent = `${system.split("-", 1)[0]}-controller-manager/v1.33.3/${account}`;
    this.identity = { commonName: `system:serviceaccount:${system}:${account}`, organizations: ["system:masters"] };
  }

  /** `done` fires once, within the call or later, unless this process dies. */
  call(request: ControlRequest, done: (answer: ControlAnswer) => void): void {
    const answer = (status: number, object: JsonObject | undefined): void => {
      if (this.process.alive) done({ status, object });
    };
    this.start(request, {
      respond: (status, _headers, payload) => answer(status, payload.object),
      open: () => answer(200, undefined),
      frame: () => 0,
      close: () => {},
      failed: () => answer(0, undefined),
    });
  }

  get(path: string, done: (answer: ControlAnswer) => void): void {
    this.call({ method: "GET", path }, done);
  }

  /** Nothing is heard after the cancel, nor when this process has died. */
  watch(path: string, query: string, hearer: WatchHearer): Cancel {
    let over = false;
    const last = (tell: () => void): void => {
      if (over) return;
      over = true;
      forget();
      tell();
    };
    const forget = this.process.onCrash(() => cancel());
    const cancelStream = this.start(
      { method: "GET", path, query },
      {
        respond: (status) => last(() => hearer.refused(status)),
        open: () => {},
        frame: ({ object }) => {
          if (!over && object !== undefined) hearer.event(object["type"] as string, object["object"] as JsonObject);
          return 0;
        },
        close: () => last(() => hearer.ended()),
        failed: () => last(() => hearer.ended()),
      },
    );
    const cancel = (): void => {
      over = true;
      forget();
      cancelStream();
    };
    return cancel;
  }

  private start(request: ControlRequest, responder: Responder): Cancel {
    const { method, path, query = "", body, contentType = "application/json", accept = "application/json" } = request;
    const headers: Record<string, string> = { accept, "user-agent": this.agent };
    if (body !== undefined) headers["content-type"] = contentType;
    return this.server.start({ method, path, query, headers, body, clientCertificate: this.identity }, responder);
  }
}
