/**
 * Requests and watches, counted under the real server's names. A request adds to plain numbers; text is made when
 * somebody asks. Times are the server's clock's: under virtual time a request that had to wait for nothing took none.
 * Source: the published server's endpoint metrics.
 *
 * Simplifications: sizes are those before compression, and only of answers whose bytes somebody asked for; what is
 * refused before it is known whose request it is (401) is counted, too.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import type { ResourceRow } from "../../../wire/resources.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Payload } from "../../contract/http-message.ts";
import type { ResourcePlace } from "../requests/route.ts";
import type { Endpoint, RequestSeries } from "../requests/request-series.ts";
import type { Run } from "../requests/run.ts";
import { type Family, labelText } from "./exposition.ts";
import { Histogram, requestSeconds, responseBytes, sliSeconds, watchEventBytes } from "../../contract/histogram.ts";

/** Resources that have been asked for, each by some verbs and in some scopes. */
const longNamesMin = 100;

/** What watches of one kind of object have been told. */
class WatchEvents {
  count = 0;
  readonly sizes = new Histogram(watchEventBytes);

  /** `bytes` of the event; undefined when it was handed over in process. */
  told(bytes: number | undefined): void {
    this.count++;
    if (bytes !== undefined) this.sizes.observe(bytes);
  }
}

export class RequestMetrics {
  private readonly dialect: Dialect;
  /** By what was asked: then by verb or method, then by scope. */
  private readonly endpoints = new Named<Map<string, (Endpoint | undefined)[]>>(() => new Map());
  private readonly events = new Named<WatchEvents>(() => new WatchEvents());

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  /** Counts a request that has had an answer. */
  ended(run: Run, nowMicros: Micros): void {
    if (run.answered === 0) return; // its client went away first
    const series = this.seriesOf(run);
    const { counts, durations, endpoint } = series;
    run.counted = series;
    counts.set(run.answered, (counts.get(run.answered) ?? 0) + 1);
    durations.observe((nowMicros - run.arrivedMicros) / 1_000_000);
    endpoint.sli.observe(run.ownMicros(nowMicros) / 1_000_000);
    if (run.isTerminated) endpoint.terminated.set(run.answered, (endpoint.terminated.get(run.answered) ?? 0) + 1);
  }

  /** Counts the bytes of a read's answer: once it has been sent, or of one that leaves in parts with the last of them. */
  sent({ counted, verb }: Run, payload: Payload): void {
    if (counted === undefined || (verb !== "get" && verb !== "list")) return;
    const { sizes } = counted.endpoint;
    if (payload.sizeBytes === undefined) payload.onceSized?.((bytes) => sizes.observe(bytes));
    else sizes.observe(payload.sizeBytes);
  }

  /** Where a watch of this resource counts its events. */
  eventsOf(row: ResourceRow): WatchEvents {
    return this.events.of(row, () => this.kindLabels(row));
  }

  /** Whether there is so much to tell that it takes more than a moment. */
  get isLong(): boolean {
    return this.endpoints.byName.size > longNamesMin;
  }

  /** `watches` are those that are open. */
  families(watches: readonly Run[]): readonly Family[] {
    const endpoints = [...this.endpoints.byName.values()].flatMap((ofName) =>
      [...ofName.values()].flatMap((ofVerb) => ofVerb.filter((endpoint) => endpoint !== undefined)),
    );
    const series = endpoints.flatMap((endpoint) => endpoint.series.filter((each) => each !== undefined));
    const open = new Map<Endpoint, number>();
    for (const run of watches) {
      const endpoint = this.endpointOf(run);
      open.set(endpoint, (open.get(endpoint) ?? 0) + 1);
    }
    const events = [...this.events.byName];
    return [
      {
        name: "apiserver_request_total",
        type: "counter",
        stability: "STABLE",
        help: "Answered requests, by what was asked and by the status of the answer.",
        get samples() {
          return series.flatMap((each) =>
            [...each.counts].map(([code, count]) => [seriesLabels(each, code), count] as const),
          );
        },
      },
      {
        name: "apiserver_request_duration_seconds",
        type: "histogram",
        stability: "STABLE",
        help: "Seconds from a request's arrival to the end of its answer, by what was asked.",
        get samples() {
          return series.map((each) => [seriesLabels(each), each.durations] as const);
        },
      },
      {
        name: "apiserver_request_sli_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that a request took without its waits for a seat and for webhooks, by what was asked.",
        get samples() {
          return endpoints.flatMap((each) => (each.sli.count === 0 ? [] : [[labelsOf(each), each.sli] as const]));
        },
      },
      {
        name: "apiserver_response_sizes",
        type: "histogram",
        stability: "STABLE",
        help: "Bytes of the answers to reads, by what was asked.",
        get samples() {
          return endpoints.flatMap((each) => (each.sizes.count === 0 ? [] : [[labelsOf(each), each.sizes] as const]));
        },
      },
      {
        name: "apiserver_request_terminations_total",
        type: "counter",
        stability: "ALPHA",
        help: "Requests that the server ended to protect itself: too many at once, or too long.",
        samples: endpoints.flatMap(({ labels, terminated }) =>
          [...terminated].map(([code, count]) => [labelText({ ...labels, code: String(code) }), count] as const),
        ),
      },
      {
        name: "apiserver_longrunning_requests",
        type: "gauge",
        stability: "STABLE",
        help: "Watches that are open, by what is watched.",
        samples: [...open].map(([{ labels }, count]) => [labelText(labels), count]),
      },
      {
        name: "apiserver_watch_events_total",
        type: "counter",
        stability: "ALPHA",
        help: "Events sent to watches, by the kind that is watched.",
        samples: events.map(([labels, { count }]) => [labels, count]),
      },
      {
        name: "apiserver_watch_events_sizes",
        type: "histogram",
        stability: "ALPHA",
        help: "Bytes of the events sent to watches, by the kind that is watched.",
        samples: events.map(([labels, { sizes }]) => [labels, sizes]),
      },
    ];
  }

  private kindLabels({ group, version, kind }: ResourceRow): string {
    return labelText({ group: groupInDialect(this.dialect, group), version, kind });
  }

  private seriesOf(run: Run): RequestSeries {
    const endpoint = this.endpointOf(run);
    const dryRun = dryRunOf(run);
    return (endpoint.series[dryRuns.indexOf(dryRun)] ??= {
      endpoint,
      dryRun,
      counts: new Map(),
      durations: new Histogram(requestSeconds),
    });
  }

  /** No text is put together for a request of a kind that is known. */
  private endpointOf(run: Run): Endpoint {
    const { place } = run;
    const isResource = place.is === "resource";
    const asked = isResource ? (place.place.subresource ?? place.place.row) : nowhere;
    const ofName = this.endpoints.of(asked, () => (isResource ? nameOf(place.place) : ""));
    const verb = !isResource ? pathVerb(run) : isApply(run) ? "apply" : run.verb === "" ? methodOf(run) : run.verb;
    let ofVerb = ofName.get(verb);
    if (ofVerb === undefined) ofName.set(verb, (ofVerb = []));
    return (ofVerb[scopes.indexOf(scopeOf(run))] ??= {
      labels: this.labelsOf(run),
      series: [],
      terminated: new Map(),
      sli: new Histogram(sliSeconds),
      sizes: new Histogram(responseBytes),
    });
  }

  private labelsOf(run: Run): Endpoint["labels"] {
    const { place } = run;
    const known = place.is === "resource" ? place.place : undefined;
    const health = known === undefined ? healthPath(run) : "";
    return {
      component: health === "" ? "apiserver" : "", // the real checks are of no component
      group: known === undefined ? "" : groupInDialect(this.dialect, known.row.group),
      resource: known?.row.resource ?? "",
      scope: scopeOf(run),
      subresource: known === undefined ? health : (known.subresource?.subresource ?? ""),
      verb: known === undefined ? methodOf(run) : isApply(run) ? "APPLY" : (verbs[run.verb] ?? methodOf(run)),
      version: known?.row.version ?? "",
    };
  }
}

/** Found by the row that was asked. Custom resources get new rows with every change of their definition: by name they stay. */
class Named<Value> {
  readonly byName = new Map<string, Value>();
  private readonly byRow = new WeakMap<object, Value>();
  private readonly make: () => Value;

  constructor(make: () => Value) {
    this.make = make;
  }

  of(row: object, name: () => string): Value {
    let value = this.byRow.get(row);
    if (value !== undefined) return value;
    const text = name();
    value = this.byName.get(text) ?? this.make();
    this.byName.set(text, value);
    this.byRow.set(row, value);
    return value;
  }
}

/** What is asked when it is no resource. */
const nowhere = {};

const nameOf = ({ row, subresource }: ResourcePlace): string =>
  [row.group, row.version, row.resource, subresource?.subresource ?? ""].join("/");

/** Put into words once: there are thousands, and whoever scrapes comes again and again. */
const labelTexts = new WeakMap<object, Map<number, string>>();

function labelsOnce(of: object, code: number, make: () => Readonly<Record<string, string>>): string {
  let texts = labelTexts.get(of);
  if (texts === undefined) labelTexts.set(of, (texts = new Map()));
  let text = texts.get(code);
  if (text === undefined) texts.set(code, (text = labelText(make())));
  return text;
}

const labelsOf = (endpoint: Endpoint): string => labelsOnce(endpoint, 0, () => endpoint.labels);

/** `code`: of those that are counted by the status of the answer. */
const seriesLabels = (series: RequestSeries, code = 0): string =>
  labelsOnce(series, code, () => ({
    ...series.endpoint.labels,
    dry_run: series.dryRun,
    ...(code === 0 ? {} : { code: String(code) }),
  }));

/** A deletion of many is one of its method, as the real server has it. */
const verbs: Readonly<Record<string, string>> = { get: "GET", list: "LIST", watch: "WATCH" };

/** Clients must not be able to make series without end. */
const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "CONNECT"]);

function methodOf({ request: { method } }: Run): string {
  if (method === "HEAD") return "GET";
  return methods.has(method) ? method : "other";
}

const isApply = ({ verb, request }: Run): boolean =>
  verb === "patch" && request.headers["content-type"] === "application/apply-patch+yaml";

const pathVerb = (run: Run): string => `${methodOf(run)} ${healthPath(run)}`;

const healthPaths = new Set(["/healthz", "/livez", "/readyz"]);

const healthPath = ({ request: { path } }: Run): string => (healthPaths.has(path) ? path : "");

const scopes = ["", "cluster", "namespace", "resource"] as const;

function scopeOf(run: Run): (typeof scopes)[number] {
  if (run.place.is !== "resource") return "";
  const { name, namespace } = run.place.place;
  if (name !== "" || run.verb === "create") return "resource";
  return namespace !== "" ? "namespace" : "cluster";
}

const dryRuns = ["", "All", "invalid"] as const;

function dryRunOf({ place, query }: Run): (typeof dryRuns)[number] {
  if (query.isEmpty || place.is !== "resource" || !query.has("dryRun")) return "";
  return query.all("dryRun").every((value) => value === "All") ? "All" : "invalid";
}
