/**
 * A target that is a recorded history: it answers what was answered, in the recorded order of sendings and answers, so
 * that the judges of a check can look at the same history again. Whatever was not asked then gets no answer now.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { StreamSink, SuiteClock, Transport, WireRequest } from "../../wire/ports.ts";
import type { ExchangeRecord } from "../../reports/schema/suite-report.ts";

export interface RecordedTarget {
  readonly transport: Transport;
  /** Stands at the time of what came last; sleepers are woken when nothing else can happen. */
  readonly clock: SuiteClock;
  /** Requests that the history does not hold, as `METHOD path`: the check is no longer the one that was recorded. */
  readonly unknown: readonly string[];
}

/** Why a history cannot be judged again; undefined when it can. Bodies are kept as text, and not beyond some kilobytes. */
export function unfitHistory(history: readonly ExchangeRecord[], droppedCount: number): string | undefined {
  if (droppedCount > 0) return `the first ${droppedCount} exchanges were not kept`;
  for (const { responseBody, responseHeaders, method, path } of history) {
    const shown = `the answer to ${method} ${path}`;
    if (/…\(\d+ more bytes\)$/.test(responseBody)) return `${shown} was not kept whole`;
    if (responseHeaders["content-encoding"] !== undefined) return `${shown} is packed`;
    if (/protobuf|cbor/.test(String(responseHeaders["content-type"] ?? ""))) return `${shown} is no text`;
  }
  return undefined;
}

/** One thing that happened, at its place in the one order. */
interface Happening {
  readonly place: number;
  readonly atMillis: number;
  readonly exchange: Played;
  readonly what: "sent" | "document" | "ended";
}

interface Played {
  readonly record: ExchangeRecord;
  readonly documents: string[];
  sink: StreamSink | undefined;
  isCut: boolean;
}

export function recordedTarget(history: readonly ExchangeRecord[]): RecordedTarget {
  const played = history.map(
    (record): Played => ({ record, documents: record.responseBody.split("\n"), sink: undefined, isCut: false }),
  );
  const happenings = played.flatMap(happeningsOf).sort((a, b) => a.place - b.place);
  const timers = new Set<{ readonly atMillis: number; readonly fire: () => void }>();
  const unknown: string[] = [];
  let nowMillis = history[0]?.sentAtMillis ?? 0;
  let next = 0;
  let isPlaying = false;

  const play = (): void => {
    if (isPlaying) return;
    isPlaying = true;
    // Once what was ready has run, and what that made ready.
    setImmediate(() => setImmediate(step));
  };
  const step = (): void => {
    isPlaying = false;
    const happening = happenings[next];
    if (happening !== undefined && (happening.what !== "sent" || happening.exchange.sink !== undefined)) {
      next += 1;
      nowMillis = Math.max(nowMillis, happening.atMillis);
      if (happening.what !== "sent") tell(happening);
      play();
      return;
    }
    const [timer] = [...timers].sort((a, b) => a.atMillis - b.atMillis);
    if (timer === undefined) return;
    timers.delete(timer);
    nowMillis = Math.max(nowMillis, timer.atMillis);
    timer.fire();
    play();
  };
  const after = (millis: number, fire: () => void): (() => void) => {
    const timer = { atMillis: nowMillis + millis, fire };
    timers.add(timer);
    play();
    return () => void timers.delete(timer);
  };
  return {
    unknown,
    clock: {
      nowMillis: () => nowMillis,
      after,
      sleep: (millis) => new Promise((resolve) => void after(millis, resolve)),
    },
    transport: {
      open(request, sink) {
        const found = played.find((each) => each.sink === undefined && isSame(each.record, request));
        if (found === undefined) {
          unknown.push(`${request.method} ${request.path}`);
          queueMicrotask(() => sink.failed(new Error("this was not asked when the history was recorded")));
          return () => {};
        }
        found.sink = sink;
        if (isWatch(found.record)) queueMicrotask(() => begin(found));
        play();
        return () => void (found.isCut = true);
      },
      async close() {},
    },
  };
}

function happeningsOf(exchange: Played): Happening[] {
  const { began, ended, sentAtMillis, endedAtMillis, arrivals = [] } = exchange.record;
  return [
    { place: began, atMillis: sentAtMillis, exchange, what: "sent" },
    ...arrivals.map(({ place, atMillis }): Happening => ({ place, atMillis, exchange, what: "document" })),
    ...(ended === undefined
      ? []
      : [{ place: ended, atMillis: endedAtMillis ?? sentAtMillis, exchange, what: "ended" } as const]),
  ];
}

const isWatch = ({ path }: ExchangeRecord): boolean => asksForWatch(path);

function isSame(record: ExchangeRecord, { method, path, body }: WireRequest): boolean {
  const text = body === undefined || typeof body === "string" ? body : new TextDecoder().decode(body);
  return record.method === method && record.path === path && record.requestBody === text;
}

function begin({ record, sink, isCut }: Played): void {
  if (!isCut && record.status !== undefined) sink?.head(record.status, record.responseHeaders);
}

const encoder = new TextEncoder();

function tell({ exchange, what }: Happening): void {
  const { record, sink, documents, isCut } = exchange;
  if (sink === undefined || isCut) return;
  if (what === "document") {
    sink.chunk(encoder.encode(`${documents.shift() ?? ""}\n`));
    return;
  }
  if (record.lost !== undefined) {
    sink.failed(new Error(record.lost));
    return;
  }
  if (!isWatch(record)) begin(exchange);
  const rest = isWatch(record) ? documents.join("\n") : record.responseBody;
  if (rest !== "") sink.chunk(encoder.encode(rest));
  sink.end();
}
