import type { ApiHandler, ApiRequest, Payload, Responder } from "../contract/http-message.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import { type Cargo, Connection, type Path } from "../network/connection.ts";
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
      if (!client.alive) return () => {};
      let cancelAtServer: Cancel = () => {};
      const connection = new Connection(
        network,
        client,
        address,
        {
          accepted(handler) {
            cancelAtServer = handler.start(request, overConnection(connection, responder));
          },
          // Proxies try again what was asked in one piece: a watch is not.
          ...(request.method === "GET" ? {} : { repeated: (handler) => void handler.start(request, nobody) }),
          serverLost: () => cancelAtServer(),
          clientLost: (failure) => responder.failed?.(failure),
        },
        requestCargo(request),
        path,
      );
      return () => connection.cancel();
    },
  };
}

/** The responder that the server sees: every call sets out for the client's. */
function overConnection(connection: Connection<ApiHandler>, responder: Responder): Responder {
  let unreadBytes = 0;
  return {
    respond: (status, headers, payload) =>
      connection.finish(() => responder.respond(status, headers, payload), answerCargo(String(status), payload)),
    open: (status, headers) =>
      connection.toClient(() => responder.open(status, headers), answerCargo(`${status} opens`)),
    frame(payload) {
      connection.toClient(
        () => {
          unreadBytes = responder.frame(payload);
        },
        { about: () => eventText(payload), bytes: () => headBytes + payload.bytes().length },
      );
      return unreadBytes;
    },
    close: () => connection.finish(() => responder.close(), answerCargo("the watch ends")),
  };
}

/** Nobody reads the answer to a request that came a second time. */
const nobody: Responder = { respond: () => {}, open: () => {}, frame: () => 0, close: () => {} };

/** What the head of a request or an answer weighs, about. */
const headBytes = 300;

function requestCargo({ method, path, query, body }: ApiRequest): Cargo {
  const bodyBytes = (): number =>
    body === undefined ? 0 : body instanceof Uint8Array ? body.length : JSON.stringify(body).length;
  return {
    about: () => `${method} ${path}${query === "" ? "" : `?${query}`}`,
    bytes: () => headBytes + path.length + query.length + bodyBytes(),
  };
}

function answerCargo(text: string, payload?: Payload): Cargo {
  return { about: () => text, bytes: () => headBytes + (payload?.bytes().length ?? 0) };
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
