/**
 * A way to a target that may have stopped answering: what hangs is waited for a few times, and then no longer, so that a
 * broken target costs little. Reads and writes are watched apart: one may hang without the other.
 */
import { asksForWatch } from "../client/asks-for-watch.ts";
import type { StreamSink, SuiteClock, Transport, WireRequest } from "../../wire/ports.ts";

/** So many requests in a row without any answer, each waited for by whoever asked. */
const hangsMax = 4;
const patienceMillis = 2000;
/** Of what has never been answered at all. */
const firstPatienceMillis = 6000;
/** After so many more, nobody waits; now and then one request tries whether it answers again. */
const silencesMax = 8;
const trialMillis = 10_000;

export function watchfulTransport(transport: Transport, clock: SuiteClock): Transport {
  const health = { reads: new Health(clock), writes: new Health(clock) };
  return {
    close: () => transport.close(),
    open(request, sink) {
      if (asksForWatch(request.path)) return transport.open(request, sink);
      return watched(transport, clock, request.method === "GET" ? health.reads : health.writes, request, sink);
    },
  };
}

class Health {
  silences = 0;
  hasAnswered = false;
  private triedMillis = 0;
  private readonly clock: SuiteClock;

  constructor(clock: SuiteClock) {
    this.clock = clock;
  }

  /** Whether a request is worth sending. */
  mayTry(): boolean {
    if (this.silences < silencesMax) return true;
    if (this.clock.nowMillis() - this.triedMillis < trialMillis) return false;
    this.triedMillis = this.clock.nowMillis();
    return true;
  }

  get patienceMillis(): number | undefined {
    if (this.silences >= hangsMax) return patienceMillis;
    return this.hasAnswered ? undefined : firstPatienceMillis;
  }
}

function watched(
  transport: Transport,
  clock: SuiteClock,
  health: Health,
  request: WireRequest,
  sink: StreamSink,
): () => void {
  const silent = (): Error =>
    new Error(`${request.method} hangs: the last ${health.silences} of its kind were not answered`);
  let isOver = false;
  if (!health.mayTry()) {
    return clock.after(0, () => sink.failed(silent()));
  }
  const sentMillis = clock.nowMillis();
  let stopWaiting = (): void => {};
  const heard = (): void => {
    isOver = true;
    health.silences = 0;
    health.hasAnswered = true;
    stopWaiting();
  };
  const cut = transport.open(request, {
    head(status, headers) {
      heard();
      sink.head(status, headers);
    },
    chunk: (bytes) => sink.chunk(bytes),
    end: () => sink.end(),
    failed(cause) {
      stopWaiting();
      isOver = true;
      sink.failed(cause);
    },
  });
  const { patienceMillis: waitMillis } = health;
  if (waitMillis !== undefined && !isOver) {
    stopWaiting = clock.after(waitMillis, () => {
      if (isOver) return;
      isOver = true;
      health.silences += 1;
      cut();
      sink.failed(silent());
    });
  }
  return () => {
    stopWaiting();
    // Whoever cuts at once does not want the answer; whoever has waited was not given one.
    if (!isOver && clock.nowMillis() - sentMillis >= patienceMillis) health.silences += 1;
    isOver = true;
    cut();
  };
}
