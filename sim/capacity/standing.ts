/**
 * Pods that stand where an experiment says, with their owners: put there while no controller looks, the owners first, so that
 * nothing is created, adopted or moved once they do.
 */
import { rangesOf, type StandingRow } from "../../scenarios/capacity/standing-rows.ts";
import type { ClientAnswer } from "../client/api-client.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { ExperimentError } from "./fleet.ts";
import { bodyOf, collectionOf, type DriverContext, insist, statusOf } from "./driver-client.ts";
import type { Stage } from "./stage.ts";
import { jsonSize } from "./sizes.ts";

/** Chooses a row's pods and no others. */
const rowLabel = "stands-for";
const hash = "standing";
/** Of a pod's JSON, what server and agent add to it: metadata, defaults and status. */
const addedBytes = 2_300;
/** At a time: each waits for an answer before the next one of its lane is asked for. */
const lanes = 50;

/** Calls back once all of it is there. */
export function layOut(stage: Stage, context: DriverContext, done: () => void): void {
  const { dialect, experiment } = stage;
  const rows = experiment.cluster.standing;
  const put = (resource: string, namespace: string, body: JsonObject, then: (uid: string) => void): void =>
    insist(context, { method: "POST", path: collectionOf(dialect, resource, namespace), body }, (answer) => {
      refuseFailed(answer, `${resource} ${namespace}/${metadataOf(body).name ?? ""}`);
      then(answer.ok ? (metadataOf(answer.object).uid ?? "") : "");
    });
  const pods = standingPods(rows);
  const owners = new Map<StandingRow, Owner>();
  const layPods = (): void =>
    inLanes(
      context,
      pods,
      ({ row, name, node }, next) => {
        const owner = owners.get(row);
        put("pods", row.namespace, podOf(row, name, node, owner), next);
      },
      done,
    );
  inLanes(
    context,
    rows[Symbol.iterator](),
    (row, next) => {
      const make = makers[row.owner];
      if (make === undefined) next();
      else
        make(
          stage,
          row,
          (resource, body, then) => put(resource, row.namespace, body, then),
          (owner) => {
            owners.set(row, owner);
            next();
          },
        );
    },
    layPods,
  );
}

/** Once the cluster is set up, nothing is in the way of what was asked for but what is wrong with it. */
function refuseFailed(answer: ClientAnswer, what: string): void {
  const status = statusOf(answer);
  if (status >= 200 && status < 300) return;
  const why = answer.ok ? String(answer.object["message"] ?? "") : "";
  throw new ExperimentError("cluster.standing", `${what} could not be made: status ${status} ${why}`);
}

/** Each lane takes the next one as soon as it has done with the one before. */
function inLanes<Item>(
  { process }: DriverContext,
  items: Iterator<Item>,
  work: (item: Item, next: () => void) => void,
  done: () => void,
): void {
  let open = lanes;
  const lane = (): void => {
    const { value, done: isOver } = items.next();
    if (isOver === true) {
      if (--open === 0) done();
    } else work(value, () => process.clock.after(0, lane));
  };
  for (let at = 0; at < lanes; at++) lane();
}

interface StandingPod {
  readonly row: StandingRow;
  readonly name: string;
  /** Empty: it waits for one. */
  readonly node: string;
}

function* standingPods(rows: readonly StandingRow[]): Generator<StandingPod> {
  for (const row of rows) {
    const prefix = row.owner === "Deployment" ? `${row.name}-${hash}` : row.name;
    let index = 0;
    for (const [pool, places] of Object.entries(row.on))
      for (const { first, last, count } of rangesOf(places))
        for (let node = first; node <= last; node++)
          for (let at = 0; at < count; at++) yield { row, name: `${prefix}-${index++}`, node: `${pool}-${node}` };
    for (let at = 0; at < row.waiting; at++) yield { row, name: `${prefix}-${index++}`, node: "" };
  }
}

const podCountOf = (row: StandingRow): number =>
  Object.values(row.on).reduce(
    (sum, places) =>
      sum + rangesOf(places).reduce((all, { first, last, count }) => all + (last - first + 1) * count, 0),
    row.waiting,
  );

interface Owner {
  readonly reference: object;
  /** What it sets on its pods, beside those of the row. */
  readonly labels: Readonly<Record<string, string>>;
}

type Put = (resource: string, body: JsonObject, then: (uid: string) => void) => void;
type Maker = (stage: Stage, row: StandingRow, put: Put, done: (owner: Owner) => void) => void;

const reference = (kind: string, name: string, uid: string): object => ({
  apiVersion: "apps/v1",
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

const labelsOf = (row: StandingRow): Record<string, string> => ({ ...row.labels, [rowLabel]: row.name });

function workload(kind: string, name: string, row: StandingRow, spec: object, more: object = {}): JsonObject {
  const selector = { matchLabels: { [rowLabel]: row.name } };
  const template = { metadata: { labels: labelsOf(row) }, spec: templateSpec(row) };
  return bodyOf({
    apiVersion: "apps/v1",
    kind,
    metadata: { name, ...more },
    spec: { selector, template, ...spec },
  });
}

const makers: { readonly [Kind in StandingRow["owner"]]?: Maker } = {
  Deployment(_, row, put, done) {
    const replicas = podCountOf(row);
    put("deployments", workload("Deployment", row.name, row, { replicas }), (uid) => {
      const labels = { ...labelsOf(row), "pod-template-hash": hash };
      const set = workload(
        "ReplicaSet",
        `${row.name}-${hash}`,
        row,
        {
          replicas,
          selector: { matchLabels: { [rowLabel]: row.name, "pod-template-hash": hash } },
          template: { metadata: { labels }, spec: templateSpec(row) },
        },
        {
          labels,
          annotations: { "deployment.kubernetes.io/revision": "1" },
          ownerReferences: [reference("Deployment", row.name, uid)],
        },
      );
      put("replicasets", set, (setUid) =>
        done({
          reference: reference("ReplicaSet", `${row.name}-${hash}`, setUid),
          labels: { "pod-template-hash": hash },
        }),
      );
    });
  },
  ReplicaSet(_, row, put, done) {
    put("replicasets", workload("ReplicaSet", row.name, row, { replicas: podCountOf(row) }), (uid) =>
      done({ reference: reference("ReplicaSet", row.name, uid), labels: {} }),
    );
  },
  // What is there stays: only what is gone is made anew, by the template of now.
  StatefulSet(_, row, put, done) {
    const spec = {
      replicas: podCountOf(row),
      serviceName: row.name,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
    };
    put("statefulsets", workload("StatefulSet", row.name, row, spec), (uid) =>
      done({ reference: reference("StatefulSet", row.name, uid), labels: {} }),
    );
  },
  DaemonSet(stage, row, put, done) {
    const template = {
      metadata: { labels: labelsOf(row) },
      spec: { ...templateSpec(row), affinity: { nodeAffinity: onlyWhereItIs(stage, row) } },
    };
    put("daemonsets", workload("DaemonSet", row.name, row, { updateStrategy: { type: "OnDelete" }, template }), (uid) =>
      done({ reference: reference("DaemonSet", row.name, uid), labels: {} }),
    );
  },
};

/** A DaemonSet is on the pools that it fills, or else on the very nodes. */
function onlyWhereItIs({ experiment, dialect }: Stage, { on }: StandingRow): object {
  const counts = new Map(experiment.cluster.pools.map(({ name, count }) => [name, count]));
  const isWhole = Object.entries(on).every(
    ([pool, places]) =>
      rangesOf(places).reduce((sum, { first, last }) => sum + last - first + 1, 0) === counts.get(pool),
  );
  const values = isWhole
    ? Object.keys(on)
    : Object.entries(on).flatMap(([pool, places]) =>
        rangesOf(places).flatMap(({ first, last }) =>
          Array.from({ length: last - first + 1 }, (_, at) => `${pool}-${first + at}`),
        ),
      );
  const key = isWhole ? `node.${dialect.labelSuffix}/pool` : `${dialect.labelSuffix}/hostname`;
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: "In", values }] }];
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

function templateSpec(row: StandingRow): object {
  const { containers, grace, priorityClass, nodeSelector, tolerations } = row;
  return {
    terminationGracePeriodSeconds: grace,
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    containers: containers.map(({ cpu, memory, resources }, index) => ({
      name: index === 0 ? "main" : `side-${index}`,
      image: "app:1",
      // Of resources that are not overcommitted, what is asked for is also the most.
      resources: {
        requests: { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }), ...resources },
        limits: resources,
      },
    })),
  };
}

function podOf(row: StandingRow, name: string, node: string, owner: Owner | undefined): JsonObject {
  const metadata = {
    name,
    labels: { ...labelsOf(row), ...owner?.labels },
    ...(owner === undefined ? {} : { ownerReferences: [owner.reference] }),
  };
  const spec = { ...templateSpec(row), ...(node === "" ? {} : { nodeName: node }) };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec };
  const missing = row.size - jsonSize(pod) - addedBytes;
  return bodyOf(
    missing <= 0 ? pod : { ...pod, metadata: { ...metadata, annotations: { padding: "x".repeat(missing) } } },
  );
}
