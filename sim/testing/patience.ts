/**
 * Giving up on a server that stays silent, as undici and Node's own `fetch` do: by default after 300 s without
 * headers, and after 300 s without a byte of the body. A quiet watch ends that way, unless bookmarks come.
 * Source: undici's documentation, Client, headersTimeout and bodyTimeout.
 */
import { errors } from "undici";
import type { StreamSink, SuiteClock, Transport, WireRequest } from "../../wire/ports.ts";

export interface Patience {
  /** Milliseconds; 0 is for ever. */
  readonly headersMillis: number;
  readonly bodyMillis: number;
}

export const defaultPatience: Patience = { headersMillis: 300_000, bodyMillis: 300_000 };

/** A transport that knows the time, for exchanges that end by themselves. */
export interface TimedTransport extends Transport {
  readonly clock: SuiteClock;
}

/** As `transport.open`, but for its patience. */
export function openWithPatience(
  transport: TimedTransport,
  request: WireRequest,
  sink: StreamSink,
  { headersMillis, bodyMillis }: Patience,
): () => void {
  let stopWaiting = (): void => undefined;
  const wait = (millis: number, silence: () => Error): void => {
    stopWaiting();
    if (millis === 0) return;
    stopWaiting = transport.clock.after(millis, () => {
      cut();
      sink.failed(silence());
    });
  };
  const bodySilence = (): Error => new errors.BodyTimeoutError();
  wait(headersMillis, () => new errors.HeadersTimeoutError());
  const cut = transport.open(request, {
    head(status, headers) {
      wait(bodyMillis, bodySilence);
      sink.head(status, headers);
    },
    chunk(bytes) {
      wait(bodyMillis, bodySilence);
      sink.chunk(bytes);
    },
    end() {
      stopWaiting();
      sink.end();
    },
    failed(cause) {
      stopWaiting();
      sink.failed(cause);
    },
  });
  return () => {
    stopWaiting();
    cut();
  };
}
