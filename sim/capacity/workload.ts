/** The verbs of a workload: each row is done by a process of its own, from its time on. */
import { namesOfBurst } from "../../scenarios/capacity/experiment-rules.ts";
import type { RowOf, WorkloadRow } from "../../scenarios/capacity/workload-rows.ts";
import { metadataOf } from "../contract/objects.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { InvariantError } from "../kernel/invariant.ts";
import { amount } from "./agent-fleet.ts";
import {
  ask,
  bodyOf,
  collectionOf,
  type DriverContext,
  insist,
  mergePatch,
  statusOf,
  strategic,
} from "./driver-client.ts";
import type { FleetNode } from "./fleet.ts";
import { budgetOf, daemonSetOf, deploymentOf, plainObject, podOf } from "./objects.ts";
import { listAgain, watchAll } from "./readers.ts";
import { replay } from "./replay.ts";
import { time } from "./silent-nodes.ts";
import { addDriver, type Stage } from "./stage.ts";

type Verb<Name extends WorkloadRow["do"]> = (stage: Stage, row: RowOf<Name>, context: DriverContext) => void;

const verbs: { readonly [Name in WorkloadRow["do"]]: Verb<Name> } = {
  burst,
  scale: ({ dialect }, { name, namespace, to }, context) =>
    insist(context, {
      method: "PATCH",
      path: `${collectionOf(dialect, "deployments", namespace)}/${name}`,
      contentType: mergePatch,
      body: { spec: { replicas: to } },
    }),
  rollout,
  churn,
  drain,
  restart,
  list: listAgain,
  watch: watchAll,
  change,
  fail,
  pull: ({ dialect }, { name }, context) =>
    insist(context, {
      method: "POST",
      path: collectionOf(dialect, "daemonsets", "default"),
      body: daemonSetOf(name, pulledImage(name)),
    }),
  ready,
  objects: ({ dialect }, { what, namespace, count, bytes }, context) =>
    createAll(context, collectionOf(dialect, what, namespace), count, (at) =>
      plainObject(what, `${what}-${at}`, bytes),
    ),
  delete: (_, { namespace }, context) => insist(context, { method: "DELETE", path: `/api/v1/namespaces/${namespace}` }),
  replay,
};

/** Starts every row, each at its time from now on. */
export function startWorkload(stage: Stage): void {
  for (const [index, row] of stage.experiment.workload.entries()) {
    const isDriver = row.do === "ready" || row.do === "delete" || stage.experiment.cluster.agents.kind === "silent";
    addDriver(
      stage,
      `workload-${index}-${row.do}`,
      isDriver ? "driver" : `workload-${row.do}`,
      (context) => {
        context.process.clock.after(row.at, () =>
          (verbs[row.do] as Verb<WorkloadRow["do"]>)(stage, row as never, context),
        );
      },
      isDriver,
    );
  }
}

export const pulledImage = (name: string): string => `pulled/${name}:1`;

function burst({ dialect }: Stage, row: RowOf<"burst">, context: DriverContext): void {
  const path = collectionOf(dialect, "deployments", row.namespace);
  for (const name of namesOfBurst(row)) {
    if (row.minAvailable !== undefined)
      insist(context, {
        method: "POST",
        path: collectionOf(dialect, "poddisruptionbudgets", row.namespace),
        body: budgetOf(name, row.minAvailable),
      });
    insist(context, { method: "POST", path, body: deploymentOf(name, row.replicas, row) });
  }
}

function rollout({ dialect }: Stage, { name, namespace }: RowOf<"rollout">, context: DriverContext): void {
  const template = { metadata: { annotations: { "rolled-out": String(context.process.clock.nowMicros()) } } };
  insist(context, {
    method: "PATCH",
    path: `${collectionOf(dialect, "deployments", namespace)}/${name}`,
    contentType: mergePatch,
    body: bodyOf({ spec: { template } }),
  });
}

/** One after the other, each once the one before is there. */
function createAll(context: DriverContext, path: string, count: number, make: (index: number) => JsonObject): void {
  const next = (index: number): void => {
    if (index < count)
      insist(context, { method: "POST", path, body: make(index) }, () =>
        context.process.clock.after(0, () => next(index + 1)),
      );
  };
  next(0);
}

function churn({ dialect, experiment }: Stage, row: RowOf<"churn">, context: DriverContext): void {
  const { clock } = context.process;
  const endMicros = clock.nowMicros() + (row.for ?? experiment.until);
  const path = collectionOf(dialect, row.what, "default");
  const gap = Math.floor(1_000_000 / row.perSecond);
  const beat = (index: number): void => {
    if (clock.nowMicros() >= endMicros) return;
    ask(context, { method: "POST", path, body: churned(row, index) });
    if (index >= row.keep) ask(context, { method: "DELETE", path: `${path}/churn-${index - row.keep}` });
    clock.after(gap, () => beat(index + 1));
  };
  beat(0);
}

function churned(row: RowOf<"churn">, index: number): JsonObject {
  const name = `churn-${index}`;
  if (row.what === "pods") return podOf(name, row);
  return row.what === "deployments" ? deploymentOf(name, 1, row) : plainObject(row.what, name, Math.max(1, row.bytes));
}

/** Changes what is there, in the order of a list, again and again. */
function change({ experiment }: Stage, row: RowOf<"change">, context: DriverContext): void {
  const { clock } = context.process;
  const endMicros = clock.nowMicros() + (row.for ?? experiment.until);
  const gap = Math.floor(1_000_000 / row.perSecond);
  insist(context, { method: "GET", path: row.path }, (answer) => {
    const items = (answer.ok ? (answer.object["items"] ?? []) : []) as readonly JsonObject[];
    const base = row.path
      .split("/")
      .slice(0, row.path.startsWith("/api/") ? 3 : 4)
      .join("/");
    const resource = row.path.slice(row.path.lastIndexOf("/") + 1);
    const beat = (index: number): void => {
      const item = items[index % items.length];
      if (item === undefined || clock.nowMicros() >= endMicros) return;
      const { namespace, name = "" } = metadataOf(item);
      const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
      const body = bodyOf({ metadata: { annotations: { changed: String(index) } } });
      ask(context, { method: "PATCH", path: `${base}${where}/${resource}/${name}`, contentType: mergePatch, body });
      clock.after(gap, () => beat(index + 1));
    };
    beat(0);
  });
}

function drain({ dialect, drains, fleet }: Stage, row: RowOf<"drain">, context: DriverContext): void {
  for (const [index, { name }] of fleet.nodes.slice(0, row.nodes).entries()) {
    context.process.clock.after(index * row.every, () => {
      insist(
        context,
        {
          method: "PATCH",
          path: `/api/v1/nodes/${name}`,
          contentType: mergePatch,
          body: { spec: { unschedulable: true } },
        },
        () => {
          const query = `fieldSelector=${encodeURIComponent(`spec.nodeName=${name}`)}`;
          insist(context, { method: "GET", path: "/api/v1/pods", query }, (answer) => {
            const pods = (answer.ok ? (answer.object["items"] ?? []) : []) as readonly JsonObject[];
            drains.begin(name, pods);
            for (const pod of pods)
              evict(
                context,
                `${collectionOf(dialect, "pods", metadataOf(pod).namespace ?? "")}/${metadataOf(pod).name}`,
                metadataOf(pod).name ?? "",
              );
          });
        },
      );
    });
  }
}

/** What a budget forbids is tried again every five seconds, as kubectl does. */
function evict(context: DriverContext, path: string, name: string): void {
  const body = bodyOf({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
  ask(context, { method: "POST", path: `${path}/eviction`, body }, (answer) => {
    if (statusOf(answer) === 429 || statusOf(answer) === 0)
      context.process.clock.after(5_000_000, () => evict(context, path, name));
  });
}

function restart({ cluster, fleet }: Stage, row: RowOf<"restart">, { process }: DriverContext): void {
  const { clock } = process;
  const prng = process.prng.stream("restarts");
  if (row.who !== "agents") {
    const member = cluster.members.get(row.who);
    if (member === undefined) throw new InvariantError("a cluster has its own components", row.who);
    member.crash();
    clock.after(row.down, () => {
      if (!member.isAlive) member.start();
    });
    return;
  }
  for (const node of fleet.nodes) {
    // Both are drawn for every node, so that another share or jitter shifts nobody else's.
    const isMeant = prng.chance(row.share.numerator, row.share.denominator);
    const millionth = prng.intInclusive(0, 999_999);
    if (!isMeant) continue;
    const later = Math.floor((row.within * millionth) / 1_000_000);
    clock.after(later, () => {
      fleet.crashAgent(node);
      clock.after(row.down, () => fleet.startAgent(node));
    });
  }
}

function fail({ fleet }: Stage, row: RowOf<"fail">, { process }: DriverContext): void {
  const meant: readonly FleetNode[] =
    row.zone === undefined
      ? fleet.nodes.slice(Math.max(0, fleet.nodes.length - (row.nodes ?? 0)))
      : fleet.nodes.filter(({ zone }) => zone === row.zone);
  for (const node of meant) fleet.fail(node);
  if (row.for !== undefined)
    process.clock.after(row.for, () => {
      for (const node of meant) fleet.recover(node);
    });
}

export function ready({ dialect }: Stage, row: RowOf<"ready">, context: DriverContext): void {
  const query = `labelSelector=${encodeURIComponent(`app=${row.name}`)}`;
  insist(context, { method: "GET", path: collectionOf(dialect, "pods", row.namespace), query }, (answer) => {
    const pods = (answer.ok ? (answer.object["items"] ?? []) : []) as readonly JsonObject[];
    const next = (index: number): void => {
      const pod = pods[index];
      if (pod === undefined) return;
      const { clock } = context.process;
      const now = time(clock);
      const condition = { type: "Ready", status: "True", lastTransitionTime: now };
      const containers = (
        pod["spec"] as { readonly containers: readonly { readonly name: string; readonly image: string }[] }
      ).containers.map(({ name, image }) => ({
        name,
        image,
        imageID: "",
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      }));
      const ip = `10.1.${index >> 8}.${index & 255}`;
      const status = {
        phase: "Running",
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [condition],
        containerStatuses: containers,
      };
      const path = `${collectionOf(dialect, "pods", row.namespace)}/${metadataOf(pod).name}/status`;
      ask(context, { method: "PATCH", path, contentType: strategic, body: bodyOf({ status }) }, () =>
        clock.after(row.every, () => next(index + 1)),
      );
    };
    next(0);
  });
}

/** Bytes of an image as a quantity says it. */
export const imageBytes = (size: string): number => amount(size);
