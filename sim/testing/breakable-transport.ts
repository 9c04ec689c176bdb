import type { StreamSink, Transport } from "../../wire/ports.ts";
import { connectionError } from "../http/embedded-transport.ts";

/** A request that is not wholly answered. */
export interface OpenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Virtual time at which it was made, since the cluster began. */
  readonly sinceMicros: number;
  /** The answer's head has come: a watch under way, or a body that nobody reads. */
  readonly isAnswered: boolean;
}

export interface Breakable extends Transport {
  /** Breaks all open exchanges at once, as a proxy that restarts does: the client sees a reset, the server a client that went away. */
  reset(): void;
  /** Requests that are not wholly answered, in the order in which they began. */
  openRequests(): readonly OpenRequest[];
}

/** A transport whose open exchanges can be broken. Once it is closed, every request fails. */
export function breakable(transport: Transport, nowMicros: () => number): Breakable {
  const open = new Map<() => void, OpenRequest>();
  let closed = false;
  return {
    reset() {
      for (const breakOne of [...open.keys()]) breakOne();
    },
    openRequests: () => [...open.values()],
    open(request, sink) {
      if (closed) {
        queueMicrotask(() => sink.failed(new Error("the cluster is closed")));
        return () => undefined;
      }
      const watched: StreamSink = {
        head(status, headers) {
          const entry = open.get(breakOne);
          if (entry !== undefined) open.set(breakOne, { ...entry, isAnswered: true });
          sink.head(status, headers);
        },
        chunk: (bytes) => sink.chunk(bytes),
        end() {
          if (open.delete(breakOne)) sink.end();
        },
        failed(cause) {
          if (open.delete(breakOne)) sink.failed(cause);
        },
      };
      const breakOne = (): void => {
        open.delete(breakOne);
        cut();
        sink.failed(connectionError("disconnected"));
      };
      const { method, path } = request;
      open.set(breakOne, { method, path, sinceMicros: nowMicros(), isAnswered: false });
      const cut = transport.open(request, watched);
      return () => {
        open.delete(breakOne);
        cut();
      };
    },
    close() {
      closed = true;
      open.clear();
      return transport.close();
    },
  };
}
