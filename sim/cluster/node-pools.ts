/** From pools of nodes to the nodes, each with its name, its zone and what it has. */
import type { Dialect } from "../../wire/dialect.ts";
import type { NodePool } from "../../scenarios/node-file.ts";
import type { NodeShape } from "./node-shape.ts";

export function nodesOf(pools: readonly NodePool[], dialect: Dialect): readonly NodeShape[] {
  return pools.flatMap((pool) => Array.from({ length: pool.count }, (_, at) => nodeOf(pool, at, dialect)));
}

function nodeOf(pool: NodePool, at: number, dialect: Dialect): NodeShape {
  const { labelSuffix } = dialect;
  const name = `${pool.name}-${at}`;
  const zone = pool.zones[at % Math.max(1, pool.zones.length)];
  const places = {
    ...(pool.region === undefined ? {} : { [`topology.${labelSuffix}/region`]: pool.region }),
    ...(zone === undefined ? {} : { [`topology.${labelSuffix}/zone`]: zone }),
  };
  return {
    name,
    capacity: {
      cpu: pool.cpu,
      memory: pool.memory,
      "ephemeral-storage": pool.storage,
      pods: String(pool.pods),
      ...pool.resources,
    },
    labels: {
      [`${labelSuffix}/hostname`]: name,
      [`${labelSuffix}/os`]: "linux",
      [`${labelSuffix}/arch`]: "amd64",
      [`node.${labelSuffix}/pool`]: pool.name,
      ...places,
      ...pool.labels,
    },
    taints: pool.taints,
    usage: pool.usage,
  };
}
