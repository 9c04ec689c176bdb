/**
 * What the server counts about itself, in the text form that Prometheus scrapes, under the real server's names. A
 * request adds to plain numbers; text is made when somebody asks. Times are the server's clock's: under virtual time
 * a request that had to wait for nothing took none.
 * Source: the published server's metrics.
 */
import { compareBytes } from "../../wire/go-strings.ts";
import { groupInDialect, type Dialect } from "../../wire/dialect.ts";
import type { Micros } from "../kernel/types.ts";
import type { Run } from "./pipeline/run.ts";

/** Upper bounds in seconds, as the real server's histogram has them. */
const bucketSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const bucketMicros = bucketSeconds.map((seconds) => Math.round(seconds * 1_000_000));

/** Requests of one kind. */
interface Series {
  readonly labels: string;
  readonly counts: Map<number, number>;
  /** Requests that took no longer than a bound and longer than the one before; the last has no bound. */
  readonly buckets: number[];
  totalMicros: number;
}

export interface Gauges {
  readonly readsInFlight: number;
  readonly mutationsInFlight: number;
  readonly watches: readonly Run[];
  /** Stored objects by `resource.group`. */
  readonly stored: readonly (readonly [resource: string, count: number])[];
}

const verbs: Readonly<Record<string, string>> = { create: "POST", update: "PUT" };

export class Metrics {
  private readonly dialect: Dialect;
  /** By the row that was asked, then by verb or method, then by scope and dry run: see `kindOf`. */
  private readonly series = new Map<object, Map<string, Series[]>>();

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  /** Counts a request that has had an answer. */
  ended(run: Run, nowMicros: Micros): void {
    if (run.answered === 0) return; // its client went away first
    const series = this.seriesOf(run);
    series.counts.set(run.answered, (series.counts.get(run.answered) ?? 0) + 1);
    if (run.verb === "watch") return; // how long a watch stays open says nothing about the server
    const took = nowMicros - run.arrivedMicros;
    let bucket = 0;
    while (bucket < bucketMicros.length && took > (bucketMicros[bucket] as number)) bucket++;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.totalMicros += took;
  }

  private seriesOf(run: Run): Series {
    const row = run.place.is === "resource" ? (run.place.place.subresource ?? run.place.place.row) : this;
    let ofRow = this.series.get(row);
    if (ofRow === undefined) this.series.set(row, (ofRow = new Map()));
    const verb = run.place.is === "resource" ? run.verb : run.request.method;
    let ofVerb = ofRow.get(verb);
    if (ofVerb === undefined) ofRow.set(verb, (ofVerb = []));
    const kind = kindOf(run);
    return (ofVerb[kind] ??= { labels: this.labelsOf(run), counts: new Map(), buckets: [], totalMicros: 0 });
  }

  private labelsOf(run: Run): string {
    const { place, request } = run;
    const known = place.is === "resource" ? place.place : undefined;
    return labels({
      component: "apiserver",
      dry_run: known === undefined ? "" : dryRunOf(run),
      group: known === undefined ? "" : groupInDialect(this.dialect, known.row.group),
      resource: known?.row.resource ?? "",
      scope: known === undefined ? "" : scopeOf(run),
      subresource: known?.subresource?.subresource ?? "",
      verb: run.verb === "" ? request.method : (verbs[run.verb] ?? run.verb.toUpperCase()),
      version: known?.row.version ?? "",
    });
  }

  /** Families by name, series by their labels: two scrapes of equal servers are equal. */
  text({ readsInFlight, mutationsInFlight, watches, stored }: Gauges): string {
    const all = [...this.series.values()].flatMap((ofRow) =>
      [...ofRow.values()].flatMap((ofVerb) => Object.values(ofVerb)),
    );
    const open = new Map<string, number>();
    for (const run of watches) open.set(this.labelsOf(run), (open.get(this.labelsOf(run)) ?? 0) + 1);
    return [
      family("apiserver_current_inflight_requests", "gauge", "Requests that hold a seat now.", [
        `{request_kind="mutating"} ${mutationsInFlight}`,
        `{request_kind="readOnly"} ${readsInFlight}`,
      ]),
      family(
        "apiserver_longrunning_requests",
        "gauge",
        "Watches that are open now.",
        [...open].map(([text, count]) => `{${text}} ${count}`),
      ),
      family(
        "apiserver_request_duration_seconds",
        "histogram",
        "Time from a request's arrival to its answer, on the server's clock.",
        inOrder(all).flatMap((series) => histogram(series)),
        false,
      ),
      family(
        "apiserver_request_total",
        "counter",
        "Requests that were answered.",
        all.flatMap(({ labels: text, counts }) =>
          [...counts].map(([code, count]) => `{code="${code}",${text}} ${count}`),
        ),
      ),
      family(
        "apiserver_storage_objects",
        "gauge",
        "Objects in the store.",
        stored.map(([resource, count]) => `{${labels({ resource })}} ${count}`),
      ),
    ].join("");
  }
}

const scopes = ["", "cluster", "namespace", "resource"] as const;

function scopeOf(run: Run): (typeof scopes)[number] {
  if (run.place.is !== "resource") return "";
  const { name, namespace } = run.place.place;
  return name !== "" ? "resource" : namespace !== "" ? "namespace" : "cluster";
}

/** A small number for scope and dry run together: no text is put together for a request that is counted. */
function kindOf(run: Run): number {
  return scopes.indexOf(scopeOf(run)) * 2 + (dryRunOf(run) === "" ? 0 : 1);
}

function dryRunOf(run: Run): string {
  return !run.query.isEmpty && run.query.first("dryRun") === "All" ? "All" : "";
}

function inOrder(series: readonly Series[]): readonly Series[] {
  return series.toSorted((left, right) => compareBytes(left.labels, right.labels));
}

/** Buckets count all that they bound, so each includes the ones before. */
function histogram({ labels: text, buckets, totalMicros }: Series): readonly string[] {
  let sum = 0;
  const lines = bucketSeconds.map((bound, at) => {
    sum += buckets[at] ?? 0;
    return `_bucket{${text},le="${bound}"} ${sum}`;
  });
  sum += buckets[bucketSeconds.length] ?? 0;
  if (sum === 0) return [];
  return [
    ...lines,
    `_bucket{${text},le="+Inf"} ${sum}`,
    `_sum{${text}} ${totalMicros / 1_000_000}`,
    `_count{${text}} ${sum}`,
  ];
}

function family(name: string, type: string, help: string, samples: readonly string[], sorts = true): string {
  const ordered = sorts ? samples.toSorted(compareBytes) : samples;
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...ordered.map((sample) => name + sample), ""].join("\n");
}

function labels(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
    )
    .join(",");
}
