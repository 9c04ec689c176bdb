/** What is in a cluster from the beginning: made once its nodes are there, in order, by an administrator. */
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { seed } from "../cluster/seed.ts";
import { bodyOf, collectionOf, type DriverContext, insist } from "./driver-client.ts";
import { budgetOf, deploymentOf, plainObject, podOf } from "./objects.ts";
import { ExperimentError } from "./fleet.ts";
import { layOut } from "./standing.ts";
import { addDriver, type Stage } from "./stage.ts";
import { ready } from "./workload.ts";

/** By then agents have registered their nodes. */
const nodesMicros = 5_000_000;

export function furnish(stage: Stage): void {
  const { cluster, experiment, dialect } = stage;
  const { objects, configMaps, deployments, namespaces, standing } = experiment.cluster;
  const hasStanding = standing.length > 0;
  const stand = hasStanding ? () => layOutStanding(stage) : () => {};
  // They would make anew what is not there yet.
  if (hasStanding) cluster.members.get("controllers")?.crash();
  if (hasStanding && objects.length === 0) cluster.add("overseer", ({ clock }) => void clock.after(nodesMicros, stand));
  if (objects.length > 0) {
    cluster.add("furnisher", (process) => {
      const seeds = (objects as readonly JsonObject[]).map((object) => ({
        object,
        where: `${String(object["kind"])} ${metadataOf(object).namespace ?? ""}/${metadataOf(object).name ?? ""}`,
      }));
      process.clock.after(nodesMicros, () =>
        seed(process, cluster.api(process), dialect, seeds, ({ problems }) => {
          if (problems.length > 0) throw new ExperimentError("cluster.objects", `${problems.slice(0, 5).join("; ")}`);
          stand();
        }),
      );
    });
  }
  addDriver(
    stage,
    "setup",
    "setup",
    (context) => {
      for (const name of namespaces)
        insist(context, {
          method: "POST",
          path: "/api/v1/namespaces",
          body: bodyOf({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
        });
      const path = collectionOf(dialect, "configmaps", "default");
      inBatches(context, configMaps.count, (index) =>
        insist(context, { method: "POST", path, body: plainObject("configmaps", `config-${index}`, configMaps.bytes) }),
      );
      context.process.clock.after(nodesMicros, () => {
        fill(stage, context);
        for (const row of deployments) {
          const { name, namespace, replicas, minAvailable } = row;
          if (minAvailable !== undefined)
            insist(context, {
              method: "POST",
              path: collectionOf(dialect, "poddisruptionbudgets", namespace),
              body: budgetOf(name, minAvailable),
            });
          insist(context, {
            method: "POST",
            path: collectionOf(dialect, "deployments", namespace),
            body: deploymentOf(name, replicas, row),
          });
          // Halfway, all have been bound.
          if (row.ready)
            context.process.clock.after(Math.floor(experiment.settle / 2), () =>
              ready(stage, { do: "ready", at: 0, name, namespace, every: 0 }, context),
            );
        }
      });
    },
    true,
  );
}

function layOutStanding(stage: Stage): void {
  addDriver(
    stage,
    "standing",
    "setup",
    (context) => layOut(stage, context, () => stage.cluster.members.get("controllers")?.start()),
    true,
  );
}

/** Bare pods on every node. */
function fill({ fleet, experiment, dialect }: Stage, context: DriverContext): void {
  const { podsPerNode, pod } = experiment.cluster;
  const path = collectionOf(dialect, "pods", "default");
  inBatches(context, fleet.nodes.length * podsPerNode, (index) => {
    const node = fleet.nodes[Math.floor(index / podsPerNode)]?.name ?? "";
    insist(context, {
      method: "POST",
      path,
      body: podOf(`stands-${index}`, { ...pod, cpu: "10m", memory: "16Mi" }, { nodeName: node }),
    });
  });
}

const batchSize = 100;
const batchMicros = 20_000;

/** Five thousand a second. */
function inBatches({ process }: DriverContext, count: number, make: (index: number) => void): void {
  const batch = (from: number): void => {
    for (let index = from; index < Math.min(count, from + batchSize); index++) make(index);
    if (from + batchSize < count) process.clock.after(batchMicros, () => batch(from + batchSize));
  };
  if (count > 0) batch(0);
}
