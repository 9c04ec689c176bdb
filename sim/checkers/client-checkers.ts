/** Promises of clients: informers, candidates, nodes, controllers. */
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros } from "../kernel/types.ts";
import type { Bench, Checker } from "./judge.ts";
import { metadataOf } from "./metadata.ts";
import { began } from "./store-checkers.ts";
import { shownKey } from "./truth.ts";

/** Handlers hear of updates that are some. */
export function callbacks({ fail }: Bench): Checker {
  return {
    told(fact) {
      if (fact.kind === "updated" && fact.before === fact.after)
        fail(
          "informer.callbacks",
          `the handlers of ${fact.client} hear of ${fact.key} when its version changes`,
          `they hear of an update from version ${fact.before} to ${fact.after}`,
        );
    },
  };
}

const requestsMax = 100;
const oneSecond: Micros = 1_000_000;

/** No client asks without end. */
export function boundedRequests({ fail, nowMicros }: Bench): Checker {
  /** Of each client: when it asked last, `requestsMax` times of them in a ring, and how often it has asked. */
  const recent = new Map<string, { count: number; readonly times: Micros[] }>();
  return {
    asked(exchange) {
      let asked = recent.get(exchange.client);
      if (asked === undefined) recent.set(exchange.client, (asked = { count: 0, times: [] }));
      const at = asked.count++ % requestsMax;
      const first = asked.times[at];
      asked.times[at] = nowMicros();
      if (first !== undefined && nowMicros() - first < oneSecond)
        fail(
          "requests.bounded",
          `${exchange.client} asks at most ${requestsMax} times in a second`,
          `it asks ${requestsMax + 1} times within ${(nowMicros() - first) / 1000} ms`,
          [began(exchange)],
        );
    },
  };
}

/** At most one leader. */
export function oneHolder({ fail, mark }: Bench): Checker {
  const holders = new Map<string, string>();
  const last = new Map<string, string>();
  return {
    told(fact) {
      if (fact.kind === "leads") {
        const other = holders.get(fact.lease);
        if (other !== undefined && other !== fact.client)
          fail("leases.one-holder", `${other} leads by ${fact.lease}`, `${fact.client} believes that it leads, too`);
        const before = last.get(fact.lease);
        if (before !== undefined && before !== fact.client) mark("lease.changed-hands");
        holders.set(fact.lease, fact.client);
        last.set(fact.lease, fact.client);
      }
      if (fact.kind === "follows" && holders.get(fact.lease) === fact.client) holders.delete(fact.lease);
    },
    happened(happening) {
      if (happening.kind !== "crash") return;
      for (const [lease, holder] of holders) if (holder === happening.place) holders.delete(lease);
    },
  };
}

/** No pod on two nodes; its status is its own. */
export function podsAtHome({ fail, mark }: Bench): Checker {
  const running = new Map<string, { client: string; uid: string }>();
  const seen = new Set<string>();
  return {
    committed({ key, value, previous }) {
      if (!key.startsWith("/registry/pods/")) return;
      if (value !== undefined && previous === undefined) {
        if (seen.has(key)) mark("pod.replaced");
        seen.add(key);
      }
      const nodeOf = (object: object | undefined): string =>
        (object as { spec?: { nodeName?: string } } | undefined)?.spec?.nodeName ?? "";
      if (
        value !== undefined &&
        previous !== undefined &&
        nodeOf(previous) !== "" &&
        nodeOf(previous) !== nodeOf(value)
      )
        fail(
          "pods.one-node",
          `${shownKey(key)} stays on ${nodeOf(previous)}`,
          `an update moves it to ${nodeOf(value)}`,
        );
    },
    told(fact) {
      if (fact.kind === "runs") {
        const other = running.get(fact.pod);
        if (other !== undefined && other.client !== fact.client)
          fail(
            "pods.one-node",
            `${fact.pod} runs on one node at a time, and runs on ${other.client}`,
            `${fact.client} runs it, too`,
            [`${other.client} runs uid ${other.uid}`, `${fact.client} runs uid ${fact.uid}`],
          );
        running.set(fact.pod, { client: fact.client, uid: fact.uid });
      }
      if (fact.kind === "stopped" && running.get(fact.pod)?.client === fact.client) running.delete(fact.pod);
      if (fact.kind === "status-sent" && fact.hit !== fact.meant)
        fail(
          "pods.own-status",
          `${fact.client} tells the status of ${fact.pod} with uid ${fact.meant}`,
          `it is written to the one with uid ${fact.hit}`,
        );
    },
    happened(happening) {
      if (happening.kind !== "crash") return;
      for (const [pod, { client }] of running) if (client === happening.place) running.delete(pod);
    },
  };
}

/**
 * Lease and node agree: who is called unready has not renewed. A node to whom nothing has happened of late renews in
 * time, so it is not called unready at all.
 */
export function nodesJudged({ truth, fail, mark, nowMicros }: Bench, leasePrefix: string): Checker {
  let troubledUntil = 0;
  let troubles = 0;
  return {
    happened(happening) {
      if (happening.kind === "crash") troubledUntil = nowMicros() + excusedMicros;
      if (happening.kind !== "fault") return;
      troubles += happening.isOver ? -1 : 1;
      troubledUntil = nowMicros() + excusedMicros;
    },
    told(fact) {
      if (fact.kind !== "judged-unready") return;
      mark("node.unready");
      const askedAt = nowMicros() - fact.askedMicros;
      const renewed = truth.of(`${leasePrefix}${fact.node}`).findLast(({ atMicros }) => atMicros <= askedAt);
      const age = renewed === undefined ? Number.POSITIVE_INFINITY : nowMicros() - renewed.atMicros;
      if (age < fact.graceMicros)
        fail(
          "nodes.judged",
          `${fact.node} is ready: its lease was renewed ${age / oneSecond} s ago, and ${fact.graceMicros / oneSecond} s are its grace`,
          `${fact.client} calls it unready`,
        );
      if (troubles === 0 && nowMicros() >= troubledUntil && renewed !== undefined)
        fail(
          "nodes.steady",
          `${fact.node} stays ready: it runs, and nothing has gone wrong for ${excusedMicros / oneSecond} s`,
          `${fact.client} calls it unready ${age / oneSecond} s after it renewed`,
        );
    },
  };
}

/** What went wrong is an excuse for so long after it was mended. */
const excusedMicros: Micros = 60_000_000;

interface Budget {
  readonly spec?: {
    readonly minAvailable?: number | string;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
}

/** Budgets never violated: a granted eviction leaves enough. Budgets in whole pods; those in percents are the controller's tests' affair. */
export function budgetsKept({ truth, fail }: Bench, budgetPrefix: string): Checker {
  return {
    answered(exchange, status) {
      if (exchange.method !== "POST" || status >= 300) return;
      const { place } = exchange;
      if (place?.subresource !== "eviction" || place.key === undefined) return;
      const evicted = truth.of(place.key).findLast(({ object }) => object !== undefined)?.object;
      const budgets = [...truth.heads.values()].filter(
        ({ key, object }) => key.startsWith(budgetPrefix) && object !== undefined,
      );
      for (const { object: budget } of budgets) check(budget as JsonObject, evicted, place.key);
    },
  };

  function check(budget: JsonObject, evicted: JsonObject | undefined, key: string): void {
    const { spec } = budget as Budget;
    const { minAvailable, selector } = spec ?? {};
    const { namespace = "", name } = metadataOf(budget);
    if (typeof minAvailable !== "number" || !matches(selector?.matchLabels, evicted)) return;
    const healthy = [...truth.heads.values()].filter(
      ({ key: other, object }) =>
        object !== undefined &&
        other.startsWith(`/registry/pods/${namespace}/`) &&
        matches(selector?.matchLabels, object) &&
        isHealthy(object),
    );
    if (healthy.length < minAvailable)
      fail(
        "budgets.kept",
        `the budget ${name} keeps ${minAvailable} pods healthy`,
        `after the eviction of ${shownKey(key)} there are ${healthy.length}`,
      );
  }
}

function matches(labels: Readonly<Record<string, string>> | undefined, object: JsonObject | undefined): boolean {
  const own = metadataOf(object).labels ?? {};
  return labels !== undefined && Object.entries(labels).every(([name, value]) => own[name] === value);
}

function isHealthy(pod: JsonObject): boolean {
  if (metadataOf(pod).deletionTimestamp !== undefined) return false;
  const { conditions = [] } = (pod["status"] ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

const eventsPrefix = "/registry/events/";

/** An event lives for its time after its last write, and goes with a deletion that is told. */
export function eventsKept(
  { truth, fail, mark, nowMicros }: Bench,
  ttlMicros: Micros,
  isThere: (key: string) => boolean,
): Checker {
  const asked = new Set<string>();
  /** Keys of the events that nobody has been told the end of. */
  let living = new Set<string>();
  return {
    asked({ method, place }) {
      const key = method === "DELETE" ? place?.key : undefined;
      if (key?.startsWith(eventsPrefix) === true) asked.add(key);
    },
    committed({ key, value, previous }) {
      if (!key.startsWith(eventsPrefix)) return;
      if (value !== undefined) living.add(key);
      else living.delete(key);
      if (value !== undefined || previous === undefined) return;
      if (asked.delete(key)) return;
      const written = truth.of(key).findLast(({ object }) => object !== undefined);
      const age = nowMicros() - (written?.atMicros ?? 0);
      mark("event.expired");
      if (age < ttlMicros)
        fail(
          "events.kept",
          `${shownKey(key)} lives for ${ttlMicros / oneSecond} s after its last write`,
          `it is gone after ${age / oneSecond} s`,
        );
    },
    look() {
      for (const key of living)
        if (!isThere(key))
          fail("events.kept", `the end of ${shownKey(key)} is told as a deletion`, "it is gone, and nobody was told");
    },
    happened({ kind }) {
      if (kind !== "restored") return;
      const heads = [...truth.heads].filter(
        ([key, { object }]) => object !== undefined && key.startsWith(eventsPrefix),
      );
      living = new Set(heads.map(([key]) => key));
    },
  };
}

/** What is collected had an owner, and none of them is left. `wasAsked`: a client deleted it, so nobody collected it. */
export function garbageOwned({ truth, fail }: Bench): Checker {
  const asked = new Set<string>();
  const uids = new Map<string, { readonly key: string }>();
  return {
    asked(exchange) {
      const key = exchange.method === "DELETE" ? exchange.place?.key : undefined;
      if (key !== undefined) asked.add(key);
    },
    committed({ key, value, previous }) {
      const { uid } = metadataOf((value ?? previous) as JsonObject);
      if (uid === undefined) return;
      if (value !== undefined) {
        uids.set(uid, { key });
        return;
      }
      uids.delete(uid);
      const wasAsked = asked.delete(key);
      const owners = metadataOf(previous as JsonObject).ownerReferences ?? [];
      if (owners.length === 0 || wasAsked) return;
      const left = owners
        .map((owner) => uids.get(owner.uid ?? ""))
        .find((owner) => owner !== undefined && namespaceOf(owner.key, key));
      if (left !== undefined && metadataOf(truth.heads.get(left.key)?.object).deletionTimestamp === undefined)
        fail("garbage.owned", `${shownKey(key)} stays: its owner ${shownKey(left.key)} is there`, "it is collected");
    },
  };
}

/** An owner is in the same namespace, or in none. */
function namespaceOf(owner: string, owned: string): boolean {
  const namespace = (key: string): string => (key.split("/").length > 4 ? (key.split("/")[3] ?? "") : "");
  return namespace(owner) === "" || namespace(owner) === namespace(owned);
}
