import type { StreamSink, Transport } from "../../wire/ports.ts";
import { connectionError } from "../http/embedded-transport.ts";

export interface Breakable extends Transport {
  /** Breaks all open exchanges at once, as a proxy that restarts does: the client sees a reset, the server a client that went away. */
  reset(): void;
  openCount(): number;
}

/** A transport whose open exchanges can be broken. Once it is closed, every request fails. */
export function breakable(transport: Transport): Breakable {
  const open = new Set<() => void>();
  let closed = false;
  return {
    reset() {
      for (const breakOne of [...open]) breakOne();
    },
    openCount: () => open.size,
    open(request, sink) {
      if (closed) {
        queueMicrotask(() => sink.failed(new Error("the cluster is closed")));
        return () => undefined;
      }
      const watched: StreamSink = {
        head: (status, headers) => sink.head(status, headers),
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
      open.add(breakOne);
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
