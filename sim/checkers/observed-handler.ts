/** A server as a client reaches it, with the judge looking over the client's shoulder. */
import type { ApiHandler, JsonObject, Responder } from "../contract/http-message.ts";
import type { Process } from "../kernel/types.ts";
import type { Exchange } from "./judge.ts";
import type { ExchangeWitness } from "./witness.ts";

/** Every exchange that `client` has through `handler` is shown to the witness, as the client sees it. */
export function observedHandler(
  handler: ApiHandler,
  client: Process,
  server: () => string,
  witness: ExchangeWitness,
): ApiHandler {
  return {
    start(request, responder) {
      const exchange = witness.begin(client.name, server(), request);
      let over = false;
      const end: ExchangeWitness["ended"] = (of, how) => {
        if (over) return;
        over = true;
        forget();
        witness.ended(of, how);
      };
      const forget = client.onCrash(() => end(exchange, "cancelled"));
      const cancel = handler.start(request, shown(exchange, responder, witness, end));
      return (): void => {
        end(exchange, "cancelled");
        cancel();
      };
    },
  };
}

function shown(
  exchange: Exchange,
  responder: Responder,
  witness: ExchangeWitness,
  end: ExchangeWitness["ended"],
): Responder {
  return {
    respond(status, headers, payload) {
      witness.answered(exchange, status, payload.object ?? {});
      end(exchange, "closed");
      responder.respond(status, headers, payload);
    },
    open(status, headers) {
      witness.opened(exchange);
      responder.open(status, headers);
    },
    frame(payload) {
      const { type = "", object = {} } = (payload.object ?? {}) as { type?: string; object?: JsonObject };
      witness.event(exchange, type, object);
      return responder.frame(payload);
    },
    close() {
      end(exchange, "closed");
      responder.close();
    },
    failed(failure) {
      end(exchange, failure);
      responder.failed?.(failure);
    },
  };
}
