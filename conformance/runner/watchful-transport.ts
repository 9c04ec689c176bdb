/**
 * A way to a target that may have stopped answering: what hangs is waited for a few times, and then no longer, so that a
 * broken target costs little. Reads, writes and watches are looked at apart: one may hang without the others.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
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
  const watches = { silences: 0 };
  return {
    close: () => transport.close(),
    open(request, sink) {
      if (asksForWatch(request.path)) return listenedTo(transport, clock, watches, request, sink);
      return watched(transport, clock, request.method === "GET" ? health.reads : health.writes, request, sink);
    },
  };
}

/** A watch that somebody has listened to for so long, for a word that did not come. */
const listenedMillisMin = 9000;
const wordMillis = 1000;

/**
 * A watch may be silent for good reasons. Where one after the other was given up without a word, and none has said one
 * since, the next are given a moment, and are then taken for broken.
 */
function listenedTo(
  transport: Transport,
  clock: SuiteClock,
  watches: { silences: number },
  request: WireRequest,
  sink: StreamSink,
): () => void {
  const openedMillis = clock.nowMillis();
  let isOver = false;
  let hasSpoken = false;
  let stopWaiting = (): void => {};
  const cut = transport.open(request, {
    head: (status, headers) => sink.head(status, headers),
    chunk(bytes) {
      watches.silences = 0;
      hasSpoken = true;
      stopWaiting();
      sink.chunk(bytes);
    },
    end() {
      isOver = true;
      stopWaiting();
      sink.end();
    },
    failed(cause) {
      isOver = true;
      stopWaiting();
      sink.failed(cause);
    },
  });
  if (watches.silences >= hangsMax && !isOver && !hasSpoken) {
    stopWaiting = clock.after(wordMillis, () => {
      if (isOver || hasSpoken) return;
      isOver = true;
      cut();
      sink.failed(new Error(`watches are silent: the last ${watches.silences} said no word`));
    });
  }
  return () => {
    stopWaiting();
    if (!isOver && !hasSpoken && clock.nowMillis() - openedMillis >= listenedMillisMin) watches.silences += 1;
    isOver = true;
    cut();
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
