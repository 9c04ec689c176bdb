/**
 * The figures of a run that are shown in tables and compared between arms, each with its kind: counted, modelled or
 * measured. A figure is undefined where there was nothing to take it from.
 */
import type { CapacityRun } from "../schema/capacity-report.ts";
import { LatencyHistogram } from "./latency-histogram.ts";

export interface Metric {
  readonly name: string;
  readonly kind: "counted" | "modelled";
  readonly unit: "" | "/s" | "bytes" | "µs" | "%";
  /** Which way it is worse. */
  readonly worse: "more" | "less" | "neither";
  readonly of: (run: CapacityRun) => number | undefined;
}

type Row = CapacityRun["requests"][number];

const seconds = (run: CapacityRun): number => Math.max(1, run.virtualMicros / 1_000_000);
const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
const requests =
  (takes: (row: Row) => boolean) =>
  (run: CapacityRun): number =>
    sum(run.requests, (row) => (takes(row) ? row.count : 0));

const mutating: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/** Of all series together. */
function latencies(run: CapacityRun, takes: (verb: string) => boolean): LatencyHistogram {
  return LatencyHistogram.of(run.latencies.filter(({ verb }) => takes(verb)).map(({ micros }) => micros));
}

const percentile =
  (percent: number, takes: (verb: string) => boolean) =>
  (run: CapacityRun): number | undefined =>
    latencies(run, takes).percentile(percent);

const isMutating = (verb: string): boolean => mutating.has(verb);
const meanOf = ({ count, sum: total }: LatencyHistogram): number | undefined =>
  count === 0 ? undefined : total / count;

/** Of the nodes that were drained, from the first eviction of each until the last of its pods ran elsewhere. */
const drainPercentile =
  (percent: number) =>
  ({ drains }: CapacityRun): number | undefined =>
    drains && LatencyHistogram.of([drains.micros]).percentile(percent);

export const metrics: readonly Metric[] = [
  { name: "requests", kind: "counted", unit: "", worse: "more", of: requests(() => true) },
  {
    name: "requests a second",
    kind: "counted",
    unit: "/s",
    worse: "more",
    of: (run) => requests(() => true)(run) / seconds(run),
  },
  { name: "writes", kind: "counted", unit: "", worse: "more", of: requests(({ verb }) => mutating.has(verb)) },
  { name: "lists", kind: "counted", unit: "", worse: "more", of: requests(({ verb }) => verb === "list") },
  { name: "watches begun", kind: "counted", unit: "", worse: "more", of: requests(({ verb }) => verb === "watch") },
  {
    name: "turned away (429)",
    kind: "counted",
    unit: "",
    worse: "more",
    of: requests(({ code, resource }) => code === 429 && !resource.endsWith("/eviction")),
  },
  {
    name: "given up by clients (499)",
    kind: "counted",
    unit: "",
    worse: "more",
    of: requests(({ code }) => code === 499),
  },
  { name: "gone (410)", kind: "counted", unit: "", worse: "more", of: requests(({ code }) => code === 410) },
  { name: "server errors (5xx)", kind: "counted", unit: "", worse: "more", of: requests(({ code }) => code >= 500) },
  {
    name: "bytes answered",
    kind: "counted",
    unit: "bytes",
    worse: "more",
    of: (run) => sum(run.requests, ({ bytesOut }) => bytesOut),
  },
  {
    name: "objects read by lists",
    kind: "counted",
    unit: "",
    worse: "more",
    of: (run) => sum(run.lists, ({ read }) => read),
  },
  {
    name: "watch events",
    kind: "counted",
    unit: "",
    worse: "more",
    of: (run) => sum(run.watches, ({ events }) => events),
  },
  {
    name: "bytes of watch events",
    kind: "counted",
    unit: "bytes",
    worse: "more",
    of: (run) => sum(run.watches, ({ bytes }) => bytes),
  },
  {
    name: "watches open at most",
    kind: "counted",
    unit: "",
    worse: "neither",
    of: (run) => sum(run.watches, ({ most }) => most),
  },
  {
    name: "requests of an agent, mean",
    kind: "counted",
    unit: "",
    worse: "more",
    of: ({ agents }) => (agents.count === 0 ? undefined : agents.requests / agents.count),
  },
  {
    name: "requests of an agent, most",
    kind: "counted",
    unit: "",
    worse: "more",
    of: ({ agents }) => (agents.count === 0 ? undefined : agents.most),
  },
  {
    name: "objects stored",
    kind: "counted",
    unit: "",
    worse: "neither",
    of: ({ store }) => sum(store.objects, ({ count }) => count),
  },
  {
    name: "store with its history, at most",
    kind: "counted",
    unit: "bytes",
    worse: "more",
    of: ({ store }) => store.bytesMost,
  },
  { name: "old versions kept", kind: "counted", unit: "", worse: "neither", of: ({ store }) => store.revisions },
  { name: "pods that became ready", kind: "counted", unit: "", worse: "less", of: ({ pods }) => pods.ready },
  { name: "pods evicted", kind: "counted", unit: "", worse: "more", of: ({ pods }) => pods.evicted },
  {
    name: "evictions that a budget refused",
    kind: "counted",
    unit: "",
    worse: "more",
    of: requests(({ code, resource }) => code === 429 && resource.endsWith("/eviction")),
  },
  { name: "nodes drained", kind: "counted", unit: "", worse: "less", of: ({ drains }) => drains?.done },
  {
    name: "nodes not drained by the end",
    kind: "counted",
    unit: "",
    worse: "more",
    of: ({ drains }) => drains && drains.nodes - drains.done,
  },
  { name: "pods without a node", kind: "counted", unit: "", worse: "more", of: ({ pods }) => pods.unscheduled },
  {
    name: "writes, mean",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => meanOf(latencies(run, isMutating)),
  },
  { name: "writes, p50", kind: "modelled", unit: "µs", worse: "more", of: percentile(50, isMutating) },
  { name: "writes, p99", kind: "modelled", unit: "µs", worse: "more", of: percentile(99, isMutating) },
  { name: "gets, p99", kind: "modelled", unit: "µs", worse: "more", of: percentile(99, (verb) => verb === "get") },
  { name: "lists, p50", kind: "modelled", unit: "µs", worse: "more", of: percentile(50, (verb) => verb === "list") },
  { name: "lists, p99", kind: "modelled", unit: "µs", worse: "more", of: percentile(99, (verb) => verb === "list") },
  {
    name: "pod start-up, p50",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => LatencyHistogram.of([run.podStartup]).percentile(50),
  },
  {
    name: "pod start-up, p99",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => LatencyHistogram.of([run.podStartup]).percentile(99),
  },
  {
    name: "pods with a pull, p99",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => LatencyHistogram.of([run.podPulled]).percentile(99),
  },
  { name: "drain of a node, p50", kind: "modelled", unit: "µs", worse: "more", of: drainPercentile(50) },
  { name: "drain of a node, p90", kind: "modelled", unit: "µs", worse: "more", of: drainPercentile(90) },
  { name: "drain of a node, longest", kind: "modelled", unit: "µs", worse: "more", of: drainPercentile(100) },
  { name: "drain of all nodes", kind: "modelled", unit: "µs", worse: "more", of: ({ drains }) => drains?.wholeMicros },
  {
    name: "watch delivery, p99",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => LatencyHistogram.of([run.watchDelivery]).percentile(99),
  },
  {
    name: "wait for a seat, p99",
    kind: "modelled",
    unit: "µs",
    worse: "more",
    of: (run) => LatencyHistogram.of([run.seatWaits]).percentile(99),
  },
  {
    name: "processors busy",
    kind: "modelled",
    unit: "%",
    worse: "more",
    of: ({ processor, virtualMicros }) =>
      processor.cores === 0 ? undefined : (100 * processor.busyMicros) / (processor.cores * Math.max(1, virtualMicros)),
  },
];

/** A figure as a person reads it. */
export function figureText(value: number | undefined, unit: Metric["unit"]): string {
  if (value === undefined) return "–";
  if (unit === "µs") return microsText(value);
  if (unit === "bytes") return bytesText(value);
  if (unit === "%") return `${value.toFixed(Math.abs(value) < 10 ? digitsOf(value) : 0)} %`;
  const isLong = Math.abs(value) >= 100 || Number.isInteger(value);
  const text = isLong ? grouped(Math.round(value)) : value.toFixed(digitsOf(value));
  return unit === "" ? text : `${text} ${unit}`;
}

/** Behind the point: more where little is, so that it is told from none, and from half as much again. */
function digitsOf(value: number): number {
  const size = Math.abs(value);
  if (size >= 1 || size === 0) return 1;
  return size >= 0.1 ? 2 : 3;
}

export function microsText(micros: number): string {
  if (micros < 1000) return `${Math.round(micros)} µs`;
  return micros < 1_000_000 ? `${short(micros / 1000)} ms` : `${short(micros / 1_000_000)} s`;
}

function bytesText(bytes: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const)
    if (bytes >= size) return `${short(bytes / size)} ${unit}`;
  return `${Math.round(bytes)} B`;
}

const short = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : grouped(Math.round(value));

/** 12,345. */
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
