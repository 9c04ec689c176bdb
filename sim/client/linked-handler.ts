import type { ApiHandler, ApiRequest, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import type { CallFailure, Cancel, Process } from "../kernel/types.ts";
import { type Cargo, Connection, type ConnectionEnds, type Path } from "../network/connection.ts";
import type { Address, Network } from "../network/network.ts";

/**
 * An API server as `client` reaches it over the network. Each of a response's calls crosses the link in
 * order; a cancel, a crash or a cut reaches the server as a client that goes away. A broken connection
 * reaches the client's responder as `failed`.
 *
 * Simplification: `frame` reports what the client had left to read when it last took one. Frames on a cut
 * link are dropped; the real server's send buffer would fill until it notices.
 */
export function linkedHandler(network: Network, client: Process, address: Address<ApiHandler>): ApiHandler {
  const path: Path = {};
  return {
    start(request, responder) {
      if (!client.alive) return nothing;
      const exchange = new LinkedExchange(request, responder);
      return exchange.begin(network, client, address, path);
    },
  };
}

const nothing: Cancel = () => {};

/**
 * One request over its connection, whose ends it is, and the responder that the server sees: every call of it sets out for
 * the client's. One object, since there is one for each of very many requests.
 */
class LinkedExchange implements ConnectionEnds<ApiHandler>, Responder, Cargo {
  readonly repeated: ((handler: ApiHandler) => void) | undefined;
  private readonly request: ApiRequest;
  private readonly responder: Responder;
  private connection: Connection<ApiHandler> | undefined;
  private cancelAtServer: Cancel = nothing;
  private unreadBytes = 0;

  constructor(request: ApiRequest, responder: Responder) {
    this.request = request;
    this.responder = responder;
    // Proxies try again what was asked in one piece: a watch is not.
    this.repeated = request.method === "GET" ? undefined : (handler) => void handler.start(request, nobody);
  }

  begin(network: Network, client: Process, address: Address<ApiHandler>, path: Path): Cancel {
    const connection = new Connection(network, client, address, this, this, path);
    this.connection = connection;
    return () => connection.cancel();
  }

  accepted(handler: ApiHandler): void {
    this.cancelAtServer = handler.start(this.request, this);
  }

  serverLost(): void {
    this.cancelAtServer();
  }

  clientLost(failure: CallFailure): void {
    this.responder.failed?.(failure);
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    this.connection?.finish(() => this.responder.respond(status, headers, payload), new Part(String(status), payload));
  }

  open(status: number, headers: ResponseHeaders): void {
    this.connection?.toClient(() => this.responder.open(status, headers), new Part(`${status} opens`));
  }

  frame(payload: Payload): number {
    this.connection?.toClient(() => (this.unreadBytes = this.responder.frame(payload)), new Part(undefined, payload));
    return this.unreadBytes;
  }

  close(): void {
    this.connection?.finish(() => this.responder.close(), new Part("the watch ends"));
  }

  about(): string {
    const { method, path, query } = this.request;
    return `${method} ${path}${query === "" ? "" : `?${query}`}`;
  }

  bytes(): number {
    const { path, query, body } = this.request;
    const size = body === undefined ? 0 : body instanceof Uint8Array ? body.length : JSON.stringify(body).length;
    return headBytes + path.length + query.length + size;
  }
}

/** Nobody reads the answer to a request that came a second time. */
const nobody: Responder = { respond: () => {}, open: () => {}, frame: () => 0, close: () => {} };

/** What the head of a request or an answer weighs, about. */
const headBytes = 300;

/** A part of an answer. Without a text: the event that it carries. */
class Part implements Cargo {
  private readonly text: string | undefined;
  private readonly payload: Payload | undefined;

  constructor(text: string | undefined, payload?: Payload) {
    this.text = text;
    this.payload = payload;
  }

  about(): string {
    return this.text ?? (this.payload === undefined ? "" : eventText(this.payload));
  }

  bytes(): number {
    return headBytes + (this.payload?.bytes().length ?? 0);
  }
}

function eventText({ object }: Payload): string {
  const { type = "", object: item } = (object ?? {}) as { type?: string; object?: { metadata?: EventMetadata } };
  const { name = "", resourceVersion = "" } = item?.metadata ?? {};
  return `${type} ${name === "" ? "" : `${name} `}${resourceVersion === "" ? "" : `@${resourceVersion}`}`.trimEnd();
}

interface EventMetadata {
  readonly name?: string;
  readonly resourceVersion?: string;
}
