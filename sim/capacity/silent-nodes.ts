/**
 * Nodes without agents: one driver registers them, renews their leases and finishes the deletion of their pods. For
 * workloads of which a real cluster was counted the same way.
 */
import type { Experiment } from "../../scenarios/capacity/schema.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { formatTime } from "../../wire/time.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { Clock } from "../kernel/types.ts";
import { shapesOf } from "./agent-fleet.ts";
import {
  ask,
  bodyOf,
  collectionOf,
  type DriverContext,
  driverContext,
  insist,
  mergePatch,
  strategic,
} from "./driver-client.ts";
import type { Fleet } from "./fleet.ts";
import { microTime } from "./held-lease.ts";

export function startSilentNodes(cluster: Cluster, { cluster: shape }: Experiment, dialect: Dialect): Fleet {
  const shapes = shapesOf(shape, dialect);
  const silent = new Set<string>();
  cluster.add("driver", (process) => {
    const context = driverContext(cluster, process, "driver", dialect, true);
    for (const [index, { name, labels, capacity, taints }] of shapes.entries()) {
      const spec = taints.length === 0 ? {} : { taints };
      insist(
        context,
        {
          method: "POST",
          path: "/api/v1/nodes",
          body: bodyOf({ apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec }),
        },
        () => {
          insist(context, {
            method: "PATCH",
            path: `/api/v1/nodes/${name}/status`,
            contentType: strategic,
            body: readyStatus(capacity, process.clock),
          });
        },
      );
      const lease = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(process.clock) };
      const path = collectionOf(dialect, "leases", dialect.systemNamespaces.nodeLease);
      const apiVersion = path.split("/").slice(2, 4).join("/");
      insist(context, {
        method: "POST",
        path,
        body: bodyOf({ apiVersion, kind: "Lease", metadata: { name }, spec: lease }),
      });
      // Spread evenly over the interval, as nodes that came one after another.
      const first = Math.floor((shape.agents.leaseEvery * (index + 1)) / (shapes.length + 1));
      process.clock.after(first, () => renew(context, `${path}/${name}`, name, silent, shape.agents.leaseEvery));
    }
    finishDeletions(context, silent);
  });
  const quiet =
    (names: Set<string>) =>
    ({ name }: { readonly name: string }): void =>
      void names.add(name);
  return {
    nodes: shapes.map(({ name, labels }) => ({ name, zone: labels[`topology.${dialect.labelSuffix}/zone`] ?? "" })),
    crashAgent: quiet(silent),
    fail: quiet(silent),
    startAgent: ({ name }) => void silent.delete(name),
    recover: ({ name }) => void silent.delete(name),
  };
}

function renew(context: DriverContext, path: string, name: string, silent: ReadonlySet<string>, every: number): void {
  const { clock } = context.process;
  if (!silent.has(name))
    ask(context, { method: "PATCH", path, contentType: mergePatch, body: { spec: { renewTime: microTime(clock) } } });
  clock.after(every, () => renew(context, path, name, silent, every));
}

/** As an agent ends a pod that is being deleted, but at once. */
function finishDeletions(context: DriverContext, silent: ReadonlySet<string>): void {
  const finish = (pod: JsonObject): void => {
    const { name = "", namespace = "", uid = "" } = metadataOf(pod);
    const { deletionTimestamp } = (pod["metadata"] ?? {}) as { readonly deletionTimestamp?: string };
    const { nodeName } = (pod["spec"] ?? {}) as { readonly nodeName?: string };
    if (deletionTimestamp === undefined || nodeName === undefined || silent.has(nodeName)) return;
    const body = bodyOf({ apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } });
    ask(context, { method: "DELETE", path: `${collectionOf(context.dialect, "pods", namespace)}/${name}`, body });
  };
  const follow = (): void => {
    const again = (): void => void context.process.clock.after(1_000_000, follow);
    context.client.watch(
      { method: "GET", path: "/api/v1/pods", query: "watch=true&timeoutSeconds=86400" },
      {
        opened: () => {},
        event: (type, object) => {
          if (type !== "DELETED") finish(object);
        },
        refused: again,
        ended: again,
      },
    );
  };
  follow();
}

export const time = (clock: Clock): string =>
  formatTime(Math.floor((clock.epochUnixMillis * 1000 + clock.nowMicros()) / 1_000_000));

function readyStatus(capacity: Readonly<Record<string, string>>, clock: Clock): JsonObject {
  const now = time(clock);
  const condition = (type: string, status: string): object => ({
    type,
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  const conditions = [
    condition("Ready", "True"),
    ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False")),
  ];
  return bodyOf({ status: { capacity, allocatable: capacity, conditions } });
}
