import { describe, expect, it } from "vitest";
import { type InvariantName, invariantNames } from "../../scenarios/expectations.ts";
import { mirrorsEqual, oneInstance } from "./agent-checkers.ts";
import { evictionsDue, evictionsMade, evictionsRanked, pressureTold } from "./eviction-checkers.ts";
import {
  boundedRequests,
  budgetsKept,
  callbacks,
  eventsKept,
  garbageOwned,
  nodesJudged,
  oneHolder,
  podsAtHome,
} from "./client-checkers.ts";
import { History, list, object, path } from "./history.fixture.ts";
import type { Bench, Fact, RankedPod } from "./judge.ts";
import { durable, type Held, linearizable, objectLives, oneContent, versionRises } from "./store-checkers.ts";
import { keptVersions, oneLiveWatch, streamLaw, wholeLists } from "./watch-checkers.ts";

const second = 1_000_000;
const events = "/registry/events/n/";
const leases = "/registry/leases/";
const pods = "/registry/pods/n/";

const containerStarted: Fact = {
  kind: "container-started",
  client: "node-1",
  pod: "n/p",
  uid: "u",
  container: "c",
  others: [],
};
const usageSeen = (available: number): Fact => ({
  kind: "usage-seen",
  client: "node-1",
  atMicros: 0,
  signals: [
    {
      signal: "memory.available",
      condition: "MemoryPressure",
      available,
      threshold: 100,
      reclaim: 0,
      graceMicros: 0,
      takenMicros: 0,
    },
  ],
  conditions: available < 100 ? ["MemoryPressure"] : [],
  transitionMicros: 30,
});
const eviction: Fact & { kind: "evicted" } = {
  kind: "evicted",
  client: "node-1",
  threshold: { signal: "memory.available", graceMicros: 0 },
  pods: [{ pod: "n/p", isExempt: false }],
  among: [{ pod: "n/p", isExempt: false, priority: 0, used: 5, requested: 0 }],
};

const other = (used: number): RankedPod => ({ pod: "n/q", isExempt: false, priority: 0, used, requested: 0 });

const everyChecker = [
  linearizable,
  (bench: Bench, history: History) =>
    durable(
      bench,
      () => history.witness.floorRevision,
      () => heldIn(history),
    ),
  oneContent,
  versionRises,
  objectLives,
  streamLaw,
  (bench: Bench) => keptVersions(bench, 60 * second),
  oneLiveWatch,
  wholeLists,
  callbacks,
  boundedRequests,
  oneHolder,
  oneInstance,
  (bench: Bench) =>
    mirrorsEqual(bench, "mirror", [{ node: "m", manifest: { metadata: { name: "p", namespace: "n" } } }]),
  evictionsDue,
  evictionsMade,
  evictionsRanked,
  pressureTold,
  podsAtHome,
  (bench: Bench) => nodesJudged(bench, leases),
  (bench: Bench) => budgetsKept(bench, "/registry/poddisruptionbudgets.policy/"),
  (bench: Bench) => eventsKept(bench, 60 * second, (key) => !lost.has(key)),
  garbageOwned,
];
/** What the store of a history denies having. */
const lost = new Set<string>();
const heldIn = ({ truth }: History): Held[] =>
  [...truth.heads].flatMap(([key, { object, revision }]) =>
    object === undefined || lost.has(key) ? [] : [{ key, modRevision: revision }],
  );

type Tell = (history: History) => unknown;
const created = (h: History, name: string): number => {
  const post = h.ask("POST");
  const revision = h.commit(name, {});
  h.answer(post, 201, object(name, revision));
  return revision;
};
const lease = (h: History, node: string): number => h.commit(node, {}, {}, leases);
const unready = (h: History, askedMicros = 0): History =>
  h.tell({ kind: "judged-unready", client: "monitor", node: "n1", graceMicros: 10 * second, askedMicros });
/** At 0 s, and again at 18 s; it is 20 s now. */
const renewedLate = (h: History): History => {
  lease(h, "n1");
  h.happen({ kind: "crash", place: "n1" });
  h.now = 18 * second;
  lease(h, "n1");
  h.now = 20 * second;
  return h;
};
const allPods = "/registry/pods/n/";
const bound = (h: History, name: string, nodeName: string): number =>
  h.commit(name, {}, { spec: { nodeName } }, allPods);
const ofNode = (h: History, node: string): ReturnType<History["ask"]> => {
  const query = `watch=true&resourceVersion=${h.truth.revision}&fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`;
  const exchange = h.ask("GET", "/api/v1/pods", query);
  h.witness.opened(exchange);
  return exchange;
};
const pod = (ready: boolean) => ({ status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } });
const budget = (h: History): number =>
  h.commit(
    "b",
    {},
    { spec: { minAvailable: 1, selector: { matchLabels: { app: "a" } } } },
    "/registry/poddisruptionbudgets.policy/n/",
  );
const evicted = (h: History, others: readonly boolean[]): void => {
  budget(h);
  h.commit("p", { labels: { app: "a" } }, pod(true), pods);
  others.forEach((ready, index) => h.commit(`q${index}`, { labels: { app: "a" } }, pod(ready), pods));
  const eviction = h.ask("POST", "/api/v1/namespaces/n/pods/p/eviction");
  h.commit("p", undefined, {}, pods);
  h.answer(eviction, 201, { kind: "Status" });
};

/** Requirement, what is told, a history that breaks it, and one that is like it and does not. */
const histories: readonly (readonly [InvariantName, string, Tell, Tell])[] = [
  [
    "store.linearizable",
    "a list of the past",
    (h) => {
      const version = created(h, "a");
      h.answer(h.ask("GET"), 200, list(version - 1));
    },
    (h) => {
      const before = h.ask("GET");
      const version = created(h, "a");
      h.answer(before, 200, list(version - 1));
    },
  ],
  [
    "store.linearizable",
    "an acknowledged object is not found",
    (h) => {
      created(h, "a");
      h.answer(h.ask("GET", `${path}/a`), 404);
    },
    (h) => {
      created(h, "a");
      h.commit("a");
      h.answer(h.ask("GET", `${path}/a`), 404);
    },
  ],
  [
    "store.linearizable",
    "a write that lands before one that was acknowledged",
    (h) => {
      const version = created(h, "a");
      h.answer(h.ask("PUT", `${path}/a`), 200, object("a", version - 1));
    },
    (h) => {
      const version = created(h, "a");
      h.answer(h.ask("PUT", `${path}/a`), 200, object("a", version));
    },
  ],
  [
    "store.durable",
    "a store that comes back older",
    (h) => h.happen({ kind: "recovered", revision: created(h, "a") - 1 }),
    (h) => h.happen({ kind: "recovered", revision: created(h, "a") }),
  ],
  [
    "store.durable",
    "compaction takes from the present",
    (h) => {
      h.commit("gone", {});
      lost.add("/registry/configmaps/n/gone");
      h.happen({ kind: "compacted", revision: 2 });
    },
    (h) => {
      h.commit("kept", {});
      h.happen({ kind: "compacted", revision: 2 });
    },
  ],
  [
    "store.one-content",
    "two contents of one version",
    (h) => {
      const version = h.commit("a", {});
      h.answer(h.ask("GET", `${path}/a`), 200, object("a", version, { data: { x: "1" } }));
      h.answer(h.ask("GET", `${path}/a`, "", "c2", "apiserver-2"), 200, object("a", version, { data: { x: "2" } }));
    },
    (h) => {
      const version = h.commit("a", {});
      h.answer(h.ask("GET", `${path}/a`), 200, object("a", version, { data: { x: "1" } }));
      h.answer(h.ask("GET"), 200, list(version, object("a", version, { data: { x: "1" } })));
    },
  ],
  [
    "store.version-rises",
    "a list older than the one before",
    (h) => h.answer(h.ask("GET"), 200, list(9)).answer(h.ask("GET"), 200, list(8)),
    (h) => h.answer(h.ask("GET"), 200, list(9)).answer(h.ask("GET", path, "resourceVersion=0"), 200, list(8)),
  ],
  [
    "objects.finalized",
    "a finalizer is no obstacle",
    (h) => {
      h.commit("a", { finalizers: ["x/y"] });
      h.commit("a");
    },
    (h) => {
      h.commit("a", { finalizers: ["x/y"] });
      h.commit("a", { finalizers: [] });
      h.commit("a");
    },
  ],
  [
    "objects.uid",
    "an update changes the uid",
    (h) => {
      h.commit("a", { uid: "1" });
      h.commit("a", { uid: "2" });
    },
    (h) => {
      h.commit("a", { uid: "1" });
      h.commit("a");
      h.commit("a", { uid: "2" });
    },
  ],
  [
    "objects.uid",
    "a deletion is taken back",
    (h) => {
      h.commit("a", { uid: "1", deletionTimestamp: "2030-01-01T00:00:00Z" });
      h.commit("a", { uid: "1" });
    },
    (h) => {
      h.commit("a", { uid: "1" });
      h.commit("a", { uid: "1", deletionTimestamp: "2030-01-01T00:00:00Z" });
    },
  ],
  [
    "watch.stream",
    "a change is passed over",
    (h) => {
      const watch = h.watch(1);
      h.commit("a", {});
      h.event(watch, "ADDED", "b", h.commit("b", {}));
    },
    (h) => {
      const watch = h.watch(1);
      h.event(watch, "ADDED", "a", h.commit("a", {})).event(watch, "ADDED", "b", h.commit("b", {}));
    },
  ],
  [
    "watch.stream",
    "a node is not told of a pod of its own",
    (h) => {
      const watch = ofNode(h, "n1");
      bound(h, "a", "n1");
      h.event(watch, "ADDED", "b", bound(h, "b", "n1"));
    },
    (h) => {
      const watch = ofNode(h, "n1");
      bound(h, "other", "n2");
      h.event(watch, "ADDED", "a", bound(h, "a", "n1")).event(watch, "MODIFIED", "a", bound(h, "a", "n1"));
      h.event(watch, "DELETED", "a", h.commit("a", undefined, {}, allPods));
    },
  ],
  [
    "watch.stream",
    "a node is told of a pod of another",
    (h) => h.event(ofNode(h, "n1"), "ADDED", "a", bound(h, "a", "n2")),
    (h) => {
      h.commit("a", {}, {}, allPods);
      h.event(ofNode(h, "n1"), "ADDED", "a", bound(h, "a", "n1"));
    },
  ],
  [
    "watch.stream",
    "a bookmark passes over a change",
    (h) => {
      const watch = h.watch(1);
      h.event(watch, "BOOKMARK", "", h.commit("a", {}));
    },
    (h) => {
      const watch = h.watch(1);
      const version = h.commit("a", {});
      h.event(watch, "ADDED", "a", version).event(watch, "BOOKMARK", "", version);
    },
  ],
  [
    "watch.stream",
    "an old event comes again",
    (h) => {
      const version = h.commit("a", {});
      h.event(h.watch(version), "ADDED", "a", version);
    },
    (h) => {
      const version = h.commit("a", {});
      h.event(h.watch(version), "MODIFIED", "a", h.commit("a", {}));
    },
  ],
  [
    "watch.stream",
    "a version that is kept is called gone",
    (h) => {
      const version = h.commit("a", {});
      h.happen({ kind: "compacted", revision: version });
      h.answer(h.ask("GET", path, `watch=true&resourceVersion=${version}`), 410);
    },
    (h) => {
      const version = h.commit("a", {});
      h.commit("b", {});
      h.happen({ kind: "compacted", revision: version + 1 });
      h.answer(h.ask("GET", path, `watch=true&resourceVersion=${version}`), 410);
    },
  ],
  [
    "watch.one-live",
    "two watches side by side",
    (h) => [h.watch(1), h.watch(1)],
    (h) => {
      h.witness.ended(h.watch(1), "disconnected");
      h.watch(1);
    },
  ],
  [
    "lists.whole",
    "halves of two states",
    (h) => {
      const version = h.commit("a", {});
      h.commit("b", {});
      h.tell({ kind: "listed", client: "c", path, version: "3", items: [object("a", version)] });
    },
    (h) => {
      const version = h.commit("a", {});
      h.tell({ kind: "listed", client: "c", path, version: String(version), items: [object("a", version)] });
      h.commit("b", {});
    },
  ],
  [
    "lists.resumable",
    "an expired token is no help",
    (h) => h.answer(h.ask("GET", path, "limit=1&continue=x"), 410, { metadata: {} }),
    (h) => h.answer(h.ask("GET", path, "limit=1&continue=x"), 410, { metadata: { continue: "y" } }),
  ],
  [
    "informer.callbacks",
    "an update without a change",
    (h) => h.tell({ kind: "updated", client: "c", key: "n/a", before: "3", after: "3" }),
    (h) => h.tell({ kind: "updated", client: "c", key: "n/a", before: "3", after: "4" }),
  ],
  [
    "requests.bounded",
    "a storm",
    (h) => Array.from({ length: 101 }, () => h.answer(h.ask("GET"), 200, list(1))),
    (h) => Array.from({ length: 100 }, () => h.answer(h.ask("GET"), 200, list(1))),
  ],
  [
    "leases.one-holder",
    "two leaders",
    (h) => h.tell({ kind: "leads", client: "a", lease: "l" }).tell({ kind: "leads", client: "b", lease: "l" }),
    (h) => {
      h.tell({ kind: "leads", client: "a", lease: "l" }).happen({ kind: "crash", place: "a" });
      h.tell({ kind: "leads", client: "b", lease: "l" });
    },
  ],
  [
    "pods.one-node",
    "a pod on two nodes",
    (h) =>
      h
        .tell({ kind: "runs", client: "a", pod: "n/p", uid: "1" })
        .tell({ kind: "runs", client: "b", pod: "n/p", uid: "2" }),
    (h) => {
      h.tell({ kind: "runs", client: "a", pod: "n/p", uid: "1" }).tell({
        kind: "stopped",
        client: "a",
        pod: "n/p",
        uid: "1",
      });
      h.tell({ kind: "runs", client: "b", pod: "n/p", uid: "2" });
    },
  ],
  [
    "pods.own-status",
    "another's status",
    (h) => h.tell({ kind: "status-sent", client: "a", pod: "n/p", meant: "1", hit: "2" }),
    (h) => h.tell({ kind: "status-sent", client: "a", pod: "n/p", meant: "1", hit: "1" }),
  ],
  [
    "nodes.judged",
    "a renewed lease is called old",
    (h) => {
      lease(h, "n1");
      h.now = 5 * second;
      unready(h);
    },
    (h) => {
      lease(h, "n1");
      h.happen({ kind: "crash", place: "n1" });
      h.now = 20 * second;
      unready(h);
    },
  ],
  [
    "nodes.judged",
    "a renewal that whoever judges had yet to ask for",
    (h) => unready(renewedLate(h), second),
    (h) => unready(renewedLate(h), 3 * second),
  ],
  [
    "nodes.steady",
    "a node to whom nothing has happened",
    (h) => {
      lease(h, "n1");
      h.now = 20 * second;
      unready(h);
    },
    (h) => {
      lease(h, "n1");
      h.happen({ kind: "fault", what: "partition", places: ["n1", "apiserver"], isOver: false });
      h.now = 200 * second;
      unready(h);
    },
  ],
  ["budgets.kept", "an eviction too many", (h) => evicted(h, [false]), (h) => evicted(h, [true])],
  [
    "events.kept",
    "an event goes early",
    (h) => {
      h.commit("e", {}, {}, events);
      h.now = 30 * second;
      h.commit("e", undefined, {}, events);
    },
    (h) => {
      h.commit("e", {}, {}, events);
      h.now = 60 * second;
      h.commit("e", undefined, {}, events);
    },
  ],
  [
    "events.kept",
    "an event vanishes",
    (h) => {
      h.commit("lost", {}, {}, events);
      lost.add(`${events}lost`);
      h.judge.look();
    },
    (h) => {
      h.commit("there", {}, {}, events);
      h.judge.look();
    },
  ],
  [
    "garbage.owned",
    "an owner is there",
    (h) => {
      h.commit("owner", { uid: "o" });
      h.commit("owned", { uid: "x", ownerReferences: [{ uid: "o" }] });
      h.commit("owned");
    },
    (h) => {
      h.commit("owner", { uid: "o" });
      h.commit("owned", { uid: "x", ownerReferences: [{ uid: "o" }] });
      h.commit("owner");
      h.commit("owned");
    },
  ],
  // More of these five: agent-checkers.test.ts, eviction-checkers.test.ts.
  [
    "containers.one-instance",
    "a container is started beside itself",
    (h) => h.tell({ ...containerStarted, others: ["c"] }),
    (h) => h.tell(containerStarted).tell(containerStarted),
  ],
  [
    "mirrors.equal",
    "a mirror has no manifest",
    (h) => void h.commit("q-m", { annotations: { mirror: "1" } }, { spec: { nodeName: "m" } }, pods),
    (h) => void h.commit("p-m", { annotations: { mirror: "1" } }, { spec: { nodeName: "m" } }, pods),
  ],
  [
    "evictions.due",
    "nothing drove it",
    (h) => h.tell(usageSeen(100)).tell(eviction),
    (h) => h.tell(usageSeen(99)).tell(eviction),
  ],
  [
    "evictions.made",
    "an agent under pressure does nothing",
    (h) => h.tell(usageSeen(99)).tell({ kind: "pass-ended", client: "node-1", cameTo: "nothing" }),
    (h) => h.tell(usageSeen(99)).tell({ kind: "pass-ended", client: "node-1", cameTo: "something" }),
  ],
  [
    "evictions.ranked",
    "another is farther beyond its request",
    (h) => h.tell(usageSeen(99)).tell({ ...eviction, among: [...eviction.among, other(6)] }),
    (h) => h.tell(usageSeen(99)).tell({ ...eviction, among: [...eviction.among, other(4)] }),
  ],
  [
    "pressure.told",
    "it is told without a crossing",
    (h) => h.tell({ ...usageSeen(100), conditions: ["MemoryPressure"] } as Fact),
    (h) => h.tell(usageSeen(100)).tell(usageSeen(99)),
  ],
];

describe("each invariant", () => {
  it.each(histories)("%s: rejects %s, and accepts what is like it", (requirement, _, broken, sound) => {
    lost.clear();
    const bad = new History(...everyChecker);
    broken(bad);
    expect(bad.broken).toBe(requirement);
    lost.clear();
    const good = new History(...everyChecker);
    sound(good);
    expect(good.judge.violation).toBeUndefined();
  });

  it("has a history that it rejects", () => {
    expect(invariantNames.filter((name) => !histories.some(([requirement]) => requirement === name))).toEqual([]);
  });

  it("is only complained of when it is asked for, and only once", () => {
    const history = new History(oneLiveWatch);
    for (let count = 0; count < 3; count++) history.watch(1);
    expect(history.judge.violation?.evidence).toHaveLength(2);
    expect(new History(oneLiveWatch).broken).toBeUndefined();
  });
});
