/** What each verb of scenarios does to a run, seen from outside: what is written down, and what was met on the way. */
import { describe, expect, it, test } from "vitest";
import type { TraceDocument } from "../../reports/schema/trace-document.ts";
import { type FaultVerb, faultVerbs } from "../../scenarios/fault-rows.ts";
import { parseScenario } from "../../scenarios/load.ts";
import { playScenario } from "./play.ts";
import { Recorder } from "./recorder.ts";

function play(fault: string) {
  const scenario = parseScenario(
    `
apiVersion: scenarios/v1
name: one-verb
until: 30s
cluster: { controllers: false }
network: { latency: 10ms, detect: 2s }
clients:
  - { name: writer-1, kind: writer, every: 100ms }
  - { name: informer-1, kind: informer, timeout: 5s }
  - { name: informer-2, kind: informer }
# An informer that is away for a while goes on where it was, unless that is gone.
faults: [{ at: 8s, partition: [informer-2, apiserver], for: 4s }${fault === "" ? "" : `, { at: 10s, ${fault} }`}]
`,
    "test.yaml",
  );
  const recorder = new Recorder(scenario);
  const { report } = playScenario(scenario, { watcher: recorder });
  return { report, trace: recorder.document(report) };
}

type Played = ReturnType<typeof play>;
const from = 10_000_000;

/** Between what was sent and what came, the longest of one way: in milliseconds, of what was sent from 10 s on. */
const slowest = ({ messages }: TraceDocument, sender: string): number =>
  Math.max(
    0,
    ...messages
      .filter(({ sentMicros, from: by }) => sentMicros >= from && by.startsWith(sender))
      .map(({ sentMicros, arrivesMicros = sentMicros }) => (arrivesMicros - sentMicros) / 1000),
  );
const lost = ({ messages }: TraceDocument, sender: string, to: string): number =>
  messages.filter((one) => one.arrivesMicros === undefined && one.from === sender && one.to === to).length;
/** Some message arrives before one that the same sender sent earlier. */
const isOvertaken = ({ messages }: TraceDocument): boolean =>
  messages.some(
    ({ from: by, sentMicros, arrivesMicros = Number.POSITIVE_INFINITY }, at) =>
      at > 0 &&
      messages
        .slice(Math.max(0, at - 40), at)
        .some(
          (earlier) =>
            earlier.from === by && earlier.sentMicros < sentMicros && (earlier.arrivesMicros ?? 0) > arrivesMicros,
        ),
  );
const says = ({ entries }: TraceDocument, lane: string, sign: string, text = ""): boolean =>
  entries.some((entry) => entry.lane === lane && entry.sign === sign && entry.text.includes(text));
const stamps = ({ writes }: TraceDocument): string[] =>
  writes.flatMap(({ object }) => {
    const { creationTimestamp } = (object as { metadata?: { creationTimestamp?: string } } | undefined)?.metadata ?? {};
    return creationTimestamp === undefined ? [] : [creationTimestamp];
  });

const effects: readonly (readonly [fault: string, has: (played: Played) => boolean])[] = [
  ["partition: [informer-1, apiserver], for: 5s", ({ trace }) => lost(trace, "apiserver", "informer-1") > 0],
  ["cut: [apiserver, informer-1], for: 5s", ({ trace }) => lost(trace, "apiserver", "informer-1") > 0],
  ["silence: [informer-1, apiserver], for: 5s", ({ trace }) => lost(trace, "apiserver", "informer-1") > 0],
  ["isolate: writer-1, for: 5s", ({ trace }) => lost(trace, "writer-1", "apiserver") > 0],
  ["slow: [writer-1, apiserver], by: 400ms, for: 5s", ({ trace }) => slowest(trace, "writer-1") >= 410],
  ["lose: [writer-1, apiserver], rate: 1/4, for: 5s", ({ report }) => (report.coverage["message.lost"] ?? 0) > 0],
  [
    "duplicate: [writer-1, apiserver], rate: 1/2, for: 5s",
    ({ report }) => (report.coverage["request.doubled"] ?? 0) > 0,
  ],
  ["reorder: ['*', apiserver], rate: 1/4, by: 300ms, for: 5s", ({ trace }) => isOvertaken(trace)],
  ["narrow: [informer-1, apiserver], bytesPerSecond: 500, for: 5s", ({ trace }) => slowest(trace, "apiserver") > 200],
  ["crash: informer-1", ({ report }) => report.coverage["client.crashed"] === 1],
  ["crash: apiserver", ({ report }) => report.coverage["server.crashed"] === 1],
  ["crash: store", ({ trace }) => says(trace, "store", "^", "recovered at version")],
  ["compact: apiserver", ({ report }) => (report.coverage["watch.expired"] ?? 0) > 0],
  ["forget: apiserver", ({ report }) => (report.coverage["watch.expired"] ?? 0) > 0],
  ["lag: apiserver, by: 2s, for: 5s", ({ trace }) => lagOf(trace) > 1_900_000],
  ["stall: apiserver, for: 3s", ({ trace }) => longestPause(trace) > 2_900_000],
  ["clock: apiserver, step: 1h", ({ trace }) => stamps(trace).some((stamp) => stamp.includes("T01:00:"))],
  ["drift: apiserver, step: 10s, for: 15s", ({ trace }) => stamps(trace).some((stamp) => stamp >= "2030-01-01T00:02")],
  ["throttle: apiserver, rate: 1/2, for: 5s", ({ report }) => (report.coverage["request.throttled"] ?? 0) > 0],
  ["fill: store, for: 5s", ({ trace }) => says(trace, "writer-1", "E", ": 500")],
  ["restore: store, ago: 5s", ({ trace }) => says(trace, "store", "^", "restored at version")],
  [
    "request: POST /api/v1/namespaces, body: { metadata: { name: by-hand } }",
    ({ trace }) => says(trace, "store", "+", "by-hand"),
  ],
];

/** The longest from a write to the informer's hearing of it, of what was written from 10 s to 14 s. */
function lagOf({ writes, entries }: TraceDocument): number {
  const heard = new Map(
    entries.flatMap(({ lane, sign, revision, atMicros }) =>
      lane === "informer-1" && sign === "e" && revision !== undefined ? [[revision, atMicros]] : [],
    ),
  );
  return Math.max(
    0,
    ...writes
      .filter(({ atMicros }) => atMicros >= from && atMicros < 14_000_000)
      .map(({ revision, atMicros }) => (heard.get(revision) ?? atMicros) - atMicros),
  );
}

/** Between two writes. */
const longestPause = ({ writes }: TraceDocument): number =>
  Math.max(0, ...writes.map(({ atMicros }, at) => atMicros - (writes[at - 1]?.atMicros ?? 0)));

describe("a verb has its effect, which is not there without it", () => {
  const undisturbed = play("");
  test.each(effects)("%s", (fault, has) => {
    expect(has(undisturbed)).toBe(false);
    expect(has(play(fault))).toBe(true);
  });

  it("each verb is tried here, or on the machine of a node, or on whom servers call", () => {
    const elsewhere: readonly FaultVerb[] = ["heal", "reboot", "press", "misreport", "misbehave", "delay", "rotate"];
    const here = effects.map(([fault]) => fault.slice(0, fault.indexOf(":")));
    expect(new Set([...here, ...elsewhere])).toEqual(new Set(Object.keys(faultVerbs)));
  });
});
