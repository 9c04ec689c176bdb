/** Figures of a report as tables for other programs: comma-separated values, columns for Parquet, and the form of perf-dash. */
import { parquetWriteBuffer } from "hyparquet-writer";
import { metrics } from "../capacity/metrics.ts";
import { LatencyHistogram } from "../capacity/latency-histogram.ts";
import { type CapacityReport, type CapacityRun, isInterrupted } from "../schema/capacity-report.ts";

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** What somebody interrupted is in no table: there it would be taken for as much as the others. */
const wholeRuns = ({ runs }: CapacityReport): readonly CapacityRun[] => runs.filter((run) => !isInterrupted(run));

/** One row a figure, arm and repetition. */
export function figureTable(report: CapacityReport): Table {
  return {
    columns: ["experiment", "arm", "repetition", "figure", "kind", "unit", "value"],
    rows: wholeRuns(report).flatMap((run) =>
      metrics.flatMap(({ name: figure, kind, unit, of }) => {
        const value = of(run);
        return value === undefined ? [] : [[report.name, run.arm, run.repetition, figure, kind, unit, value]];
      }),
    ),
  };
}

/** One row a component, verb, resource, scope and status. */
export function requestTable(report: CapacityReport): Table {
  return {
    columns: [
      "arm",
      "repetition",
      "component",
      "verb",
      "resource",
      "scope",
      "status",
      "count",
      "bytes_in",
      "bytes_out",
    ],
    rows: wholeRuns(report).flatMap(({ arm, repetition, requests }) =>
      requests.map(({ who, verb, resource, scope, code, count, bytesIn, bytesOut }) => [
        arm,
        repetition,
        who,
        verb,
        resource,
        scope,
        code,
        count,
        bytesIn,
        bytesOut,
      ]),
    ),
  };
}

/** Status × verb × second: rows with something in them. */
export function secondTable(report: CapacityReport): Table {
  return {
    columns: ["arm", "repetition", "second", "verb", "status", "count"],
    rows: wholeRuns(report).flatMap(({ arm, repetition, byVerb }) =>
      byVerb.flatMap(({ verb, code, seconds }) =>
        seconds.flatMap((count, second) => (count === 0 ? [] : [[arm, repetition, second, verb, code, count]])),
      ),
    ),
  };
}

/** By RFC 4180, but for line ends. */
export function renderCsv({ columns, rows }: Table): string {
  const cell = (value: string | number): string =>
    typeof value === "string" && /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value);
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Text columns as strings, numbers as 64-bit floats. */
export function renderParquet({ columns, rows }: Table): Uint8Array {
  const columnData = columns.map((name, at) => {
    const data = rows.map((row) => row[at] as string | number);
    const isText = typeof data[0] === "string";
    return { name, data, type: isText ? ("STRING" as const) : ("DOUBLE" as const), nullable: false };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** Latencies in milliseconds by verb, resource and scope, as perf-dash of the Kubernetes project reads them. */
export function renderPerfDash(report: CapacityReport): string {
  const dataItems = wholeRuns(report).flatMap(({ arm, latencies, podStartup }) => {
    const series = [
      ...latencies.map(({ verb, resource, scope, micros }) => ({
        micros,
        labels: {
          Resource: resource,
          Subresource: "",
          Scope: scope,
          Verb: verb.toUpperCase(),
          Metric: "api_responsiveness",
          Arm: arm,
        },
      })),
      ...(podStartup.counts.length === 0 ? [] : [{ micros: podStartup, labels: { Metric: "pod_startup", Arm: arm } }]),
    ];
    return series.map(({ micros, labels }) => {
      const histogram = LatencyHistogram.of([micros]);
      const millis = (percent: number): number => (histogram.percentile(percent) ?? 0) / 1000;
      return {
        data: {
          Average: histogram.count === 0 ? 0 : histogram.sum / histogram.count / 1000,
          Perc50: millis(50),
          Perc90: millis(90),
          Perc99: millis(99),
        },
        unit: "ms",
        labels: { ...labels, Count: String(histogram.count) },
      };
    });
  });
  return `${JSON.stringify({ version: "v1", dataItems }, undefined, 2)}\n`;
}
