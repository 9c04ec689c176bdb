/**
 * Published bugs that only a simulated run shows: of clients and controllers, of stores, of servers at their worst
 * moments. A scenario plants one by name (`regress.bug`, `run --fault NAME`); the checkers must find it.
 * They stand around the scenario's clients (`sim/experiments/planted/`), around store and server.
 */
import { commonMistake } from "./bug-row.ts";

export interface SimulatedBugRow {
  readonly where: "client" | "server" | "store";
  /** What goes wrong, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on. */
  readonly source: string;
}

const rows = {
  "client-410-error-event-ignored": {
    where: "client",
    symptom: "An informer knows 410 as a status and not as an ERROR event: it watches from the old version for ever.",
    source: "kubernetes-client/javascript#781, folio-pro/kdashboard#59",
  },
  "client-relist-keeps-deleted": {
    where: "client",
    symptom: "What was deleted while the informer was away stays in its store after it lists again.",
    source: "kubernetes-client/javascript@4c5ce02, kubernetes/kubernetes#115658",
  },
  "client-double-done-duplicate-watch": {
    where: "client",
    symptom: "A connection that breaks is noticed twice, and two watches go on side by side.",
    source: "kubernetes-client/javascript#2387, #1933",
  },
  "client-false-updates-on-restart": {
    where: "client",
    symptom: "Each reconnection tells the handlers of an update of every object.",
    source: "kubernetes-client/javascript#2424, #301",
  },
  "client-gap-between-watches": {
    where: "client",
    symptom: "A consumer takes the version of a new list to watch from, and loses what happened since its last event.",
    source: "openshift/origin#26862",
  },
  "continue-410-client-fails-or-relists": {
    where: "client",
    symptom:
      "A client that is told 410 in the middle of its pages goes on from the inconsistent token and keeps the first half.",
    source: "gardener/dashboard#3271, kubernetes/kubernetes#83520",
  },
  "watch-half-open-silence": {
    where: "client",
    symptom: "A connection on which nothing arrives any more is waited on for ever.",
    source: "kubernetes-client/javascript#596, fabric8io/kubernetes-client#4340",
  },
  "watch-rv0-initial-unsorted": {
    where: "client",
    symptom:
      "A client whose stream breaks among the first events resumes from the last of them, which are in no order.",
    source: "kubernetes/kubernetes#74022, #49745",
  },
  "ctl-intermediate-crash": {
    where: "client",
    symptom: "A controller notes that its work is done before it is: a crash in between leaves it half done.",
    source: "Orange-OpenSource/casskop#370, rabbitmq/cluster-operator#782",
  },
  "ctl-create-duplicate-on-stale-cache": {
    where: "client",
    symptom: "A controller counts children in its cache, which lags behind its own writes, and creates some twice.",
    source: "solo-io/skv2#27, kubernetes-sigs/controller-runtime#1622",
  },
  "lease-two-leaders": {
    where: "client",
    symptom: "A leader that cannot renew goes on leading after its lease has run out.",
    source: commonMistake,
  },
  "list-rv0-time-travel": {
    where: "client",
    symptom:
      "An agent that starts again lists at version 0, is served the past by a front-end that lags, and runs a pod that has moved.",
    source: "kubernetes/kubernetes#59848",
  },
  "status-patch-hits-new-uid": {
    where: "client",
    symptom: "A status on its way is told of the pod that took the name of the one that was meant.",
    source: "kubernetes/kubernetes#82387",
  },
  "lease-period-vs-grace-flap": {
    where: "client",
    symptom: "Leases are renewed every ten seconds and respected for ten: nodes flap with every late message.",
    source: "kubernetes/kubernetes#80172",
  },
  "lease-lag-misjudged-dead": {
    where: "client",
    symptom: "A node is called dead because its lease looks old in a cache that lags.",
    source: "kubernetes/kubernetes#132831, kubernetes-sigs/kwok#1424",
  },
  "continue-410-without-resume-token": {
    where: "server",
    symptom: "An expired continue token is answered 410 without a token to go on with.",
    source: "kubernetes/kubernetes#67284",
  },
  "watch-reinit-gap": {
    where: "server",
    symptom: "A watch that opens while the cache begins anew misses what happens until it is there.",
    source: "kubernetes/kubernetes#116122",
  },
  "watch-decode-error-skips-event": {
    where: "server",
    symptom: "An event whose object cannot be converted is passed over in silence.",
    source: "kubernetes/kubernetes#73937",
  },
  "watch-lost-when-slow-and-compacted": {
    where: "server",
    symptom: "What a slow watcher has not been told yet is lost when it is compacted.",
    source: "etcd-io/etcd#17529",
  },
  "watch-at-compact-revision-rejected": {
    where: "server",
    symptom: "A watch from exactly the compacted version is refused, although every later event is there.",
    source: "k3s-io/kine#747",
  },
  "watch-time-travel-on-failover": {
    where: "server",
    symptom: "A watch that is resumed on a server that has just started is told old events again.",
    source: "etcd-io/etcd#15271",
  },
  "acked-write-lost-on-crash": {
    where: "store",
    symptom: "A write is acknowledged before it is on disk, and a crash loses it.",
    source: "etcd-io/etcd#14370",
  },
  "rv-rewind-after-restore": {
    where: "store",
    symptom: "After a restore from a backup, versions start again lower and streams go on.",
    source: "kubernetes/kubernetes#107457, #131115",
  },
  "replica-divergence": {
    where: "store",
    symptom:
      "A member applies an entry of its log twice after a crash: from then on its versions differ from everybody's.",
    source: "etcd-io/etcd#13766",
  },
  "stale-read-paused-member": {
    where: "store",
    symptom: "A member that was paused answers consistent reads from what it knew.",
    source: "etcd-io/etcd#20418",
  },
  "compaction-resurrects-deleted": {
    where: "store",
    symptom: "Compaction removes the mark of a deletion before what it deletes: the object is back.",
    source: "k3s-io/kine#408",
  },
  "compaction-drops-live-recreated": {
    where: "store",
    symptom: "A key that was deleted and made again just before the compacted version is lost.",
    source: "etcd-io/etcd#22376",
  },
  "corrupt-key-duplicate-object": {
    where: "store",
    symptom: "An object lies under a foreign key as well, and lists have it twice.",
    source: "kubernetes/kubernetes#135115",
  },
  "event-ttl-no-deleted": {
    where: "store",
    symptom: "An event that has reached the end of its life vanishes without a deletion.",
    source: "kubernetes/kubernetes#10412",
  },
  "event-lease-batch-wrong-expiry": {
    where: "store",
    symptom: "Events of one minute share the lease of the first, and all vanish with it.",
    source: "kubernetes/kubernetes#96836",
  },
} as const satisfies Record<string, SimulatedBugRow>;

export type SimulatedBug = keyof typeof rows;
export const simulatedBugRows: Readonly<Record<SimulatedBug, SimulatedBugRow>> = rows;
export const simulatedBugNames = Object.keys(rows) as readonly SimulatedBug[];

/** Which bugs a run has. */
export type SimulatedBugs = ReadonlySet<SimulatedBug>;
