import type { ApiHandler, Responder } from "../contract/http-message.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import { Connection } from "../network/connection.ts";
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
  return {
    start(request, responder) {
      if (!client.alive) return () => {};
      let cancelAtServer: Cancel = () => {};
      const connection = new Connection(network, client, address, {
        accepted(handler) {
          cancelAtServer = handler.start(request, overConnection(connection, responder));
        },
        serverLost: () => cancelAtServer(),
        clientLost: (failure) => responder.failed?.(failure),
      });
      return () => connection.cancel();
    },
  };
}

/** The responder that the server sees: every call sets out for the client's. */
function overConnection(connection: Connection<ApiHandler>, responder: Responder): Responder {
  let unreadBytes = 0;
  return {
    respond: (status, headers, payload) => connection.finish(() => responder.respond(status, headers, payload)),
    open: (status, headers) => connection.toClient(() => responder.open(status, headers)),
    frame(payload) {
      connection.toClient(() => {
        unreadBytes = responder.frame(payload);
      });
      return unreadBytes;
    },
    close: () => connection.finish(() => responder.close()),
  };
}
