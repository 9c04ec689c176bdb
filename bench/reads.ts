/**
 * What reads cost inside the server, without a pipeline around them: gets, lists, watch fan-out, many open watches.
 * Run alone: `node bench/reads.ts`.
 */
import { everyField, everyLabel } from "../wire/selectors.ts";
import { startGet } from "../sim/apiserver/reads/get.ts";
import { Testbed } from "../sim/apiserver/reads/reads.fixture.ts";
import type { GetSink, ListOptions } from "../sim/apiserver/reads/types.ts";
import { startList } from "../sim/apiserver/reads/list.ts";
import { startWatch } from "../sim/apiserver/reads/watch.ts";
import type { Bench } from "./harness.ts";

const OBJECTS = 5_000;
const WATCHES = 10_000;

const options: ListOptions = {
  labelSelector: everyLabel,
  fieldSelector: everyField,
  watch: false,
  allowWatchBookmarks: false,
  resourceVersion: "0",
  resourceVersionMatch: "",
  timeoutSeconds: undefined,
  limit: 0,
  continue: "",
  sendInitialEvents: undefined,
};

let kept: Testbed | undefined;
function filled(): Testbed {
  if (kept === undefined) {
    kept = new Testbed();
    for (let index = 0; index < OBJECTS; index++) kept.label(`n/c${index}`, { app: `a${index % 10}` });
  }
  return kept;
}

function seconds(work: () => void): number {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
}

function gets(resourceVersion: string): () => number {
  const names = Array.from({ length: OBJECTS }, (_, index) => `c${index}`);
  return () => {
    const { context } = filled();
    const target = filled().target();
    let found = 0;
    const sink: GetSink = {
      found: () => void found++,
      failed: (error) => {
        throw error;
      },
    };
    const time = seconds(() => {
      for (let count = 0; count < 1_000_000; count++) {
        startGet(context, target, { namespace: "n", name: names[count % OBJECTS] as string, resourceVersion }, sink);
      }
    });
    return Math.round(found / time);
  };
}

/** Each list after a write in the collection, so that none can be shared with the one before. */
function lists(change: Partial<ListOptions>): () => number {
  return () => {
    const bed = filled();
    const target = bed.target();
    const request = { namespace: "n", options: { ...options, ...change } };
    let items = 0;
    const sink = {
      listed: (list: { items: readonly object[] | null }) => void (items += list.items?.length ?? 0),
      failed: () => {},
    };
    const rounds = 1_000;
    const time = seconds(() => {
      for (let round = 0; round < rounds; round++) {
        bed.put("n/c0");
        startList(bed.context, target, request, sink);
      }
    });
    return Math.round(items / time);
  };
}

/** Events delivered: one write, told to everybody who watches the collection. */
function deliveriesPerSecond(): number {
  const bed = new Testbed();
  let delivered = 0;
  const payload = { object: undefined, contentType: "", bytes: () => new Uint8Array() };
  const sink = { open: () => {}, event: () => (delivered++, 0), close: () => {}, failed: () => {} };
  const encoder = { event: () => payload };
  const request = { namespace: "n", options: { ...options, watch: true }, encoder };
  const target = bed.target();
  for (let count = 0; count < WATCHES; count++) startWatch(bed.context, target, request, sink);
  const time = seconds(() => {
    for (let count = 0; count < 500; count++) bed.put("n/c");
  });
  return Math.round(delivered / time);
}

/** Writes of pods while 10,000 agents each watch the pods of their own node. */
function writesPastAgentsPerSecond(): number {
  const bed = new Testbed();
  const pods = bed.target("pods");
  for (let node = 0; node < WATCHES; node++)
    bed.watch(`resourceVersion=1&fieldSelector=spec.nodeName%3Dn${node}`, "", pods);
  const writes = 100_000;
  const time = seconds(() => {
    for (let count = 0; count < writes; count++) {
      bed.put(`n/p${count % 1000}`, { spec: { nodeName: `n${count % WATCHES}` } }, pods);
    }
  });
  return Math.round(writes / time);
}

function watchesOpenedPerSecond(): number {
  const bed = new Testbed();
  bed.put("n/c");
  const time = seconds(() => {
    for (let count = 0; count < WATCHES; count++) bed.watch("resourceVersion=2&allowWatchBookmarks=true", "n");
  });
  bed.pass(61_000_000);
  return Math.round(WATCHES / time);
}

export const benches = [
  { name: "reads.gets", unit: "gets/s", run: gets("") },
  { name: "reads.cached-gets", unit: "gets/s", run: gets("0") },
  { name: "reads.lists", unit: "objects/s", run: lists({}) },
  { name: "reads.pages", unit: "objects/s", run: lists({ limit: 500 }) },
  { name: "reads.deliveries", unit: "events/s", run: deliveriesPerSecond },
  { name: "reads.writes-past-agents", unit: "writes/s", run: writesPastAgentsPerSecond },
  { name: "reads.watches-opened", unit: "watches/s", run: watchesOpenedPerSecond },
] as const satisfies readonly Bench[];

if (import.meta.main) {
  for (const { name, unit, run } of benches) {
    run();
    console.log(name, [run(), run(), run()].map((figure) => figure.toLocaleString("en")).join("  "), unit);
  }
}
