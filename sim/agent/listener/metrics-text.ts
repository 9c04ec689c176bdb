/**
 * What an agent counts and measures, as Prometheus scrapes it: about itself, about its node and its pods, and about each
 * container as the tools of the machine name it. Source: the published names of the 1.33 agent; figures that were not read
 * are left out.
 */
import type { NodeReading, PodReading } from "../stats/stats-reader.ts";

type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly rows: readonly (readonly [labels: Labels, value: number | undefined])[];
}

export function metricsText(series: readonly Series[]): string {
  return series
    .flatMap(({ name, type, help, rows }) => {
      const known = rows.filter((row): row is readonly [Labels, number] => row[1] !== undefined);
      if (known.length === 0) return [];
      return [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...known.map(([labels, value]) => `${name}${labelText(labels)} ${value}`),
      ];
    })
    .concat("")
    .join("\n");
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

const nano = 1_000_000_000;
const seconds = (nanos: number | undefined): number | undefined => (nanos === undefined ? undefined : nanos / nano);

/** `/metrics/resource`. */
export function resourceSeries(node: NodeReading | undefined, pods: readonly PodReading[]): readonly Series[] {
  const containers = pods.flatMap(({ pod, stats }) =>
    (stats.linux?.containers ?? []).map((each) => {
      const container = each.attributes?.metadata?.name ?? "";
      return { each, labels: { container, namespace: pod.namespace, pod: pod.name } };
    }),
  );
  const ofPods = pods.map(({ pod, stats }) => ({ stats, labels: { namespace: pod.namespace, pod: pod.name } }));
  const { cpu, memory } = node?.machine ?? {};
  const gauge = (name: string, help: string, rows: Series["rows"]): Series => ({
    name,
    type: "gauge",
    help: `[STABLE] ${help}`,
    rows,
  });
  const counter = (name: string, help: string, rows: Series["rows"]): Series => ({
    ...gauge(name, help, rows),
    type: "counter",
  });
  return [
    counter(
      "container_cpu_usage_seconds_total",
      "Cumulative cpu time consumed by the container in core-seconds",
      containers.map(({ each, labels }) => [labels, seconds(each.cpu?.usageCoreNanoSeconds?.value)]),
    ),
    gauge(
      "container_memory_working_set_bytes",
      "Current working set of the container in bytes",
      containers.map(({ each, labels }) => [labels, each.memory?.workingSetBytes?.value]),
    ),
    counter("node_cpu_usage_seconds_total", "Cumulative cpu time consumed by the node in core-seconds", [
      [{}, seconds(cpu?.usageCoreNanoSeconds?.value)],
    ]),
    gauge("node_memory_working_set_bytes", "Current working set of the node in bytes", [[{}, memory?.workingSetBytes]]),
    counter(
      "pod_cpu_usage_seconds_total",
      "Cumulative cpu time consumed by the pod in core-seconds",
      ofPods.map(({ stats, labels }) => [labels, seconds(stats.linux?.cpu?.usageCoreNanoSeconds?.value)]),
    ),
    gauge(
      "pod_memory_working_set_bytes",
      "Current working set of the pod in bytes",
      ofPods.map(({ stats, labels }) => [labels, stats.linux?.memory?.workingSetBytes?.value]),
    ),
    gauge("resource_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise", [
      [{}, node === undefined ? 1 : 0],
    ]),
  ];
}

/** `/metrics/cadvisor`. */
export function containerSeries(node: NodeReading | undefined, pods: readonly PodReading[]): readonly Series[] {
  const containers = pods.flatMap(({ pod, stats, figures }) =>
    (stats.linux?.containers ?? []).map((each, at) => {
      const { id = "", metadata } = each.attributes ?? {};
      const container = metadata?.name ?? "";
      const labels = {
        container,
        id: `/kubepods/pod${pod.uid}/${id}`,
        name: id,
        namespace: pod.namespace,
        pod: pod.name,
      };
      return { each, labels, disk: figures.containers[at]?.rootfs };
    }),
  );
  const gauge = (name: string, help: string, rows: Series["rows"]): Series => ({ name, type: "gauge", help, rows });
  return [
    {
      name: "container_cpu_usage_seconds_total",
      type: "counter",
      help: "Cumulative cpu time consumed in seconds.",
      rows: containers.map(({ each, labels }) => [
        { ...labels, cpu: "total" },
        seconds(each.cpu?.usageCoreNanoSeconds?.value),
      ]),
    },
    gauge(
      "container_fs_usage_bytes",
      "Number of bytes that are consumed by the container on this filesystem.",
      containers.map(({ disk, labels }) => [labels, disk?.bytes]),
    ),
    gauge(
      "container_memory_rss",
      "Size of RSS in bytes.",
      containers.map(({ each, labels }) => [labels, each.memory?.rssBytes?.value]),
    ),
    gauge(
      "container_memory_usage_bytes",
      "Current memory usage in bytes, including all memory regardless of when it was accessed",
      containers.map(({ each, labels }) => [labels, each.memory?.usageBytes?.value]),
    ),
    gauge(
      "container_memory_working_set_bytes",
      "Current working set in bytes.",
      containers.map(({ each, labels }) => [labels, each.memory?.workingSetBytes?.value]),
    ),
    gauge("machine_memory_bytes", "Amount of memory installed on the machine.", [
      [{}, sum(node?.machine.memory?.availableBytes, node?.machine.memory?.workingSetBytes)],
    ]),
  ];
}

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : one + other;
