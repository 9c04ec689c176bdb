/**
 * A trace in the JSON of Chrome's tracing tools, which Perfetto opens: a process for the store, the servers, the clients and
 * the pods, a thread a lane, instants for entries, spans for what goes wrong, flows for messages.
 * Source: the Trace Event Format (ph: M, i, X, s, f), times in microseconds.
 */
import { type TraceDocument, traceLegend } from "../schema/trace-document.ts";

type TraceEvent = Readonly<Record<string, unknown>>;

const groups = ["store", "server", "client", "node", "pod"] as const;
const faultsProcess = groups.length + 1;

/** Ends in a newline. */
export function renderPerfetto(trace: TraceDocument): string {
  const threads = new Map(
    trace.lanes.map(({ name, kind }, index) => [name, { pid: groups.indexOf(kind) + 1, tid: index + 1 }]),
  );
  const everybody = { pid: faultsProcess, tid: 0 };
  const named: TraceEvent[] = [...groups, "what goes wrong"].map((name, index) => ({
    ph: "M",
    name: "process_name",
    pid: index + 1,
    tid: 0,
    args: { name },
  }));
  const lanes: TraceEvent[] = [...threads].map(([name, at]) => ({
    ph: "M",
    name: "thread_name",
    ...at,
    args: { name },
  }));
  const entries: TraceEvent[] = trace.entries.map(({ atMicros, lane, sign, text, revision }) => ({
    ph: "i",
    s: lane === "" ? "g" : "t",
    name: `${traceLegend[sign]}: ${text}`,
    cat: sign === "F" ? "failure" : "entry",
    ts: atMicros,
    ...(threads.get(lane) ?? everybody),
    ...(revision === undefined ? {} : { args: { revision } }),
  }));
  const faults: TraceEvent[] = trace.faults.map(({ what, places, fromMicros, toMicros }, index) => ({
    ph: "X",
    name: [what, ...places].join(" "),
    cat: "fault",
    ts: fromMicros,
    dur: Math.max(1, (toMicros ?? fromMicros) - fromMicros),
    pid: faultsProcess,
    tid: index + 1,
  }));
  const messages: TraceEvent[] = trace.messages.flatMap(({ from, to, sentMicros, arrivesMicros, about }, id) => {
    const [sender, receiver] = [threads.get(from), threads.get(to)];
    if (sender === undefined || receiver === undefined || arrivesMicros === undefined) return [];
    const flow = { name: "message", cat: "message", id };
    return [
      { ph: "X", name: about || "message", cat: "message", ts: sentMicros, dur: 1, ...sender },
      { ph: "s", ...flow, ts: sentMicros, ...sender },
      { ph: "X", name: about || "message", cat: "message", ts: arrivesMicros, dur: 1, ...receiver },
      { ph: "f", bp: "e", ...flow, ts: arrivesMicros, ...receiver },
    ];
  });
  const traceEvents = [named, lanes, entries, faults, messages].flat();
  const { scenario, seed, profile, traceHash } = trace;
  return `${JSON.stringify({ traceEvents, displayTimeUnit: "ms", otherData: { scenario, seed, profile, traceHash } })}\n`;
}
