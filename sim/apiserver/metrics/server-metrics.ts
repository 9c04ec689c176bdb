/** All that a server counts about itself, as families of samples. */
import { type Dialect } from "../../../wire/dialect.ts";
import { QueueCounts } from "../../client/queue-counts.ts";
import type { CacheFigures } from "../cache/front-end.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Flow } from "../requests/flow-control.ts";
import type { Run } from "../requests/run.ts";
import { ListCounts } from "../reads/list-counts.ts";
import { AccessMetrics } from "./access-metrics.ts";
import { AdmissionMetrics } from "./admission-metrics.ts";
import { expositionPieces, type Family, labelText } from "./exposition.ts";
import { RequestMetrics } from "./request-metrics.ts";
import { WebhookMetrics } from "./webhook-metrics.ts";

/** What stands where now; everything else has been counted. */
export interface Gauges {
  /** Requests with a seat, and waiting for one. */
  readonly reads: Readonly<Record<"inFlight" | "inQueue", number>>;
  readonly mutations: Readonly<Record<"inFlight" | "inQueue", number>>;
  readonly watches: readonly Run[];
  readonly flows: readonly Readonly<Flow>[];
  /** Stored objects by `resource.group`. */
  readonly stored: readonly (readonly [resource: string, count: number])[];
  readonly caches: readonly CacheFigures[];
  /** `resource.group` of what is stored under a prefix. */
  readonly nameOf: (prefix: string) => string;
  /** What `/version` says. */
  readonly build: JsonObject;
  /** Seconds since 1970. */
  readonly startedUnixSeconds: number;
  readonly process: ProcessFigures | undefined;
}

/** Of the operating system's process, where there is one. */
export interface ProcessFigures {
  /** Seconds of work of all processors. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Exceptions that ended one request, watch or controller's item, or one event, and nothing else: each is a bug. */
  readonly exceptionCount: number;
}

export class ServerMetrics {
  readonly requests: RequestMetrics;
  readonly webhooks = new WebhookMetrics();
  readonly admission = new AdmissionMetrics();
  readonly access = new AccessMetrics();
  readonly lists = new ListCounts();
  readonly queues = new QueueCounts();
  private readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
    this.requests = new RequestMetrics(dialect);
  }

  /** Stops after each piece: what is counted meanwhile is told by those that come after. */
  pieces(gauges: Gauges): Generator<void, readonly string[]> {
    return expositionPieces([
      ...this.requests.families(gauges.watches),
      ...this.webhooks.families(),
      ...this.admission.families(),
      ...this.access.families(),
      ...seatFamilies(gauges),
      ...flowFamilies(gauges),
      ...this.storageFamilies(gauges),
      ...cacheFamilies(gauges),
      ...this.queueFamilies(),
      ...processFamilies(gauges, this.dialect),
    ]);
  }

  private storageFamilies({ stored, nameOf }: Gauges): readonly Family[] {
    const lists = [...this.lists.all()].map(([prefix, counts]) => ({ resource: nameOf(prefix), prefix, ...counts }));
    const fromStore = lists.filter(({ store }) => store.lists > 0);
    const fromCache = lists.filter(({ cache }) => cache.lists > 0);
    const ofStore = (name: string, help: string, figure: "lists" | "read" | "given"): Family => ({
      name: `apiserver_storage_list_${name}`,
      type: "counter",
      stability: "ALPHA",
      help,
      samples: fromStore.map(({ resource, store }) => [labelText({ resource }), store[figure]]),
    });
    const ofCache = (name: string, help: string, figure: "lists" | "read" | "given"): Family => ({
      name: `apiserver_cache_list_${name}`,
      type: "counter",
      stability: "ALPHA",
      help,
      samples: fromCache.map(({ prefix, cache }) => [
        labelText({
          resource_prefix: prefix.replace(/^\/registry|\/$/g, ""),
          ...(figure === "given" ? {} : { index: "" }),
        }),
        cache[figure],
      ]),
    });
    return [
      {
        name: "apiserver_storage_objects",
        type: "gauge",
        stability: "STABLE",
        help: "Stored objects, by resource.",
        samples: stored.map(([resource, count]) => [labelText({ resource }), count]),
      },
      ofStore("total", "Lists that were read from the store.", "lists"),
      ofStore("fetched_objects_total", "Objects that lists have read from the store.", "read"),
      ofStore("evaluated_objects_total", "Objects of the store that lists have compared with what was asked.", "read"),
      ofStore("returned_objects_total", "Objects of the store that lists have given.", "given"),
      ofCache("total", "Lists that were read from a watch cache.", "lists"),
      ofCache("fetched_objects_total", "Objects that lists have read from a watch cache.", "read"),
      ofCache("returned_objects_total", "Objects of a watch cache that lists have given.", "given"),
    ];
  }

  private queueFamilies(): readonly Family[] {
    const all = [...this.queues.all()];
    const of = (figure: "adds" | "retries" | "depth" | "waited" | "worked"): Family["samples"] =>
      all.map(([name, count]) => [labelText({ name }), count[figure]]);
    return [
      {
        name: "workqueue_adds_total",
        type: "counter",
        stability: "ALPHA",
        help: "Items that came into a queue.",
        samples: of("adds"),
      },
      {
        name: "workqueue_depth",
        type: "gauge",
        stability: "ALPHA",
        help: "Items that wait in a queue.",
        samples: of("depth"),
      },
      {
        name: "workqueue_retries_total",
        type: "counter",
        stability: "ALPHA",
        help: "Items that were to come back to a queue later.",
        samples: of("retries"),
      },
      {
        name: "workqueue_queue_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that items waited in a queue.",
        samples: of("waited"),
      },
      {
        name: "workqueue_work_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that a controller was at an item.",
        samples: of("worked"),
      },
    ];
  }
}

function seatFamilies({ reads, mutations }: Gauges): readonly Family[] {
  const samples = (figure: "inFlight" | "inQueue"): Family["samples"] => [
    [labelText({ request_kind: "mutating" }), mutations[figure]],
    [labelText({ request_kind: "readOnly" }), reads[figure]],
  ];
  return [
    {
      name: "apiserver_current_inflight_requests",
      type: "gauge",
      stability: "STABLE",
      help: "Requests that hold a seat now, by kind.",
      samples: samples("inFlight"),
    },
    {
      name: "apiserver_current_inqueue_requests",
      type: "gauge",
      stability: "ALPHA",
      help: "Requests that wait for a seat now, by kind.",
      samples: samples("inQueue"),
    },
  ];
}

function flowFamilies({ flows }: Gauges): readonly Family[] {
  const labels = ({ schema, level }: Readonly<Flow>): Readonly<Record<string, string>> => ({
    flow_schema: schema,
    priority_level: level,
  });
  return [
    {
      name: "apiserver_flowcontrol_dispatched_requests_total",
      type: "counter",
      stability: "BETA",
      help: "Requests that were let in, by flow schema and priority level.",
      samples: flows.map((flow) => [labelText(labels(flow)), flow.dispatchedCount]),
    },
    {
      name: "apiserver_flowcontrol_rejected_requests_total",
      type: "counter",
      stability: "BETA",
      help: "Requests that were turned away, by flow schema and priority level.",
      samples: flows
        .filter(({ rejectedCount }) => rejectedCount > 0)
        .map((flow) => [labelText({ ...labels(flow), reason: "concurrency-limit" }), flow.rejectedCount]),
    },
  ];
}

function cacheFamilies({ caches, nameOf }: Gauges): readonly Family[] {
  const label = (prefix: string): string => labelText({ resource: nameOf(prefix) });
  const ofCache = (figure: "received" | "told" | "revision" | "capacity"): Family["samples"] =>
    caches.flatMap(({ prefix, cache }) => {
      const value = cache?.[figure];
      return value === undefined ? [] : [[label(prefix), value]];
    });
  return [
    {
      name: "apiserver_watch_cache_events_received_total",
      type: "counter",
      stability: "ALPHA",
      help: "Changes that have reached a watch cache, by resource.",
      samples: ofCache("received"),
    },
    {
      name: "apiserver_watch_cache_events_dispatched_total",
      type: "counter",
      stability: "ALPHA",
      help: "Changes that a watch cache has passed on, by resource.",
      samples: ofCache("told"),
    },
    {
      name: "apiserver_watch_cache_resource_version",
      type: "gauge",
      stability: "ALPHA",
      help: "Version of a watch cache's state, by resource.",
      samples: ofCache("revision"),
    },
    {
      name: "apiserver_watch_cache_capacity",
      type: "gauge",
      stability: "ALPHA",
      help: "Changes that a watch cache has room for, by resource.",
      samples: ofCache("capacity"),
    },
    {
      name: "apiserver_terminated_watchers_total",
      type: "counter",
      stability: "ALPHA",
      help: "Watches that were ended because their clients did not read, by resource.",
      samples: caches
        .filter(({ endedForSlowness }) => endedForSlowness > 0)
        .map(({ prefix, endedForSlowness }) => [label(prefix), endedForSlowness]),
    },
  ];
}

/** The labels of a build, by the fields of `/version`. */
const buildLabels = {
  build_date: "buildDate",
  compiler: "compiler",
  git_commit: "gitCommit",
  git_tree_state: "gitTreeState",
  git_version: "gitVersion",
  go_version: "goVersion",
  major: "major",
  minor: "minor",
  platform: "platform",
} as const;

function processFamilies({ build, startedUnixSeconds, process }: Gauges, { name }: Dialect): readonly Family[] {
  const labels = Object.fromEntries(Object.entries(buildLabels).map(([label, field]) => [label, String(build[field])]));
  const ofProcess = (figure: number | undefined): Family["samples"] => (figure === undefined ? [] : [["", figure]]);
  return [
    {
      name: `${name}_build_info`,
      type: "gauge",
      stability: "ALPHA",
      help: "Always 1; the labels say which build this is.",
      samples: [[labelText(labels), 1]],
    },
    {
      name: "process_start_time_seconds",
      type: "gauge",
      stability: "",
      help: "When the server started, in seconds since 1970.",
      samples: [["", startedUnixSeconds]],
    },
    {
      name: "process_cpu_seconds_total",
      type: "counter",
      stability: "",
      help: "Seconds that processors have worked for the server.",
      samples: ofProcess(process?.cpuSeconds),
    },
    {
      name: "process_resident_memory_bytes",
      type: "gauge",
      stability: "",
      help: "Bytes of memory that the server holds.",
      samples: ofProcess(process?.residentBytes),
    },
    {
      name: "touchstone_exceptions_total",
      type: "counter",
      stability: "",
      help: "Exceptions that were caught and logged. Each is a bug, and ended what it happened in alone.",
      samples: ofProcess(process?.exceptionCount),
    },
  ];
}
