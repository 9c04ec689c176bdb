import type { Cancel, Endpoint, Process } from "../kernel/types.ts";
import { Connection } from "./connection.ts";
import type { Address, Network } from "./network.ts";

/**
 * An endpoint as `client` reaches it over the network: the request and the answer each cross a link, and a
 * cancel reaches the server as one, later.
 */
export function linkedEndpoint<Request, Response>(
  network: Network,
  client: Process,
  address: Address<Endpoint<Request, Response>>,
): Endpoint<Request, Response> {
  return {
    start(request, done, fail) {
      let cancelAtServer: Cancel = () => {};
      const connection = new Connection(network, client, address, {
        accepted(endpoint) {
          cancelAtServer = endpoint.start(
            request,
            (response) => connection.finish(() => done(response)),
            (failure) => connection.finish(() => fail(failure)),
          );
        },
        serverLost: () => cancelAtServer(),
        clientLost: fail,
      });
      return () => connection.cancel();
    },
  };
}
