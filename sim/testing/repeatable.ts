import { firstDivergence, formatDivergence } from "../kernel/determinism.ts";
import type { Cluster, ClusterOptions } from "./cluster.ts";
import { createTestCluster } from "./test-cluster.ts";

/**
 * Plays `body` on `runs` fresh clusters (default 2) with the same options, and throws when one run is not the same as
 * the first, showing the first record at which they part. Returns the hash of the trace.
 */
export async function assertRepeatable(
  body: (cluster: Cluster) => Promise<unknown>,
  options: ClusterOptions & { readonly runs?: number } = {},
): Promise<string> {
  const { runs = 2, ...clusterOptions } = options;
  const play = async () => {
    await using cluster = await createTestCluster({ traceRecordsMax: "all", ...clusterOptions });
    await body(cluster);
    return cluster.kernelTrace;
  };
  const first = await play();
  for (let run = 2; run <= runs; run++) {
    const divergence = firstDivergence(first, await play());
    if (divergence !== undefined) throw new Error(`run ${run} is not run 1 again: ${formatDivergence(divergence)}`);
  }
  return first.hash();
}
