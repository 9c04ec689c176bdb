import type { JoinedNode, NodeDeclaration } from "../../wire/node-host.ts";
import { LostAnswer } from "../client/client.ts";
import { Inconclusive, Unsupported } from "../client/findings.ts";
import { type ApiObject, objectsIn } from "../client/types.ts";
import type { Attempt } from "./attempt.ts";
import { runLabel } from "./sandbox.ts";

const gibibyte = 2 ** 30;

/**
 * A node of the suite with an agent behind it, under no pressure. Its taint keeps others away, but for pods that a cluster puts on
 * every node (`othersOn`). It leaves when the attempt is over. Unsupported where none can join.
 */
export async function suiteNode(
  attempt: Attempt,
  more: Partial<Pick<NodeDeclaration, "labels" | "taints" | "capacity" | "eviction">> = {},
): Promise<JoinedNode> {
  if (attempt.nodes === undefined) throw new Unsupported("nodes of the suite: none joins without --join-nodes");
  const { label } = attempt.target;
  const taint = { key: runLabel, value: label, effect: "NoSchedule" } as const;
  const joining = attempt.nodes.join({
    name: `${await attempt.target.namespace()}-node`,
    labels: { ...more.labels, [runLabel]: label },
    taints: [taint, ...(more.taints ?? [])],
    capacity: more.capacity ?? roomy,
    eviction: more.eviction ?? {},
    monitoringMillis: 10_000,
    figuresMillis: 10_000,
    usage: { memoryBytes: 0, pids: 0, nodefs: { bytes: 0, inodes: 0 }, imagefs: undefined },
  });
  const node = await joining.catch((error: unknown) => {
    throw new Inconclusive(`no node could join: ${(error as Error).message}`);
  });
  attempt.target.onCleanUp(() => node.leave());
  return node;
}

const roomy: NodeDeclaration["capacity"] = {
  milliCpu: 16_000,
  memoryBytes: 16 * gibibyte,
  pids: 32_768,
  nodefs: { bytes: 100 * gibibyte, inodes: 6_000_000 },
  imagefs: undefined,
};

/** Pods on a node of the suite that are none of the attempt's. None where they may not be seen. */
export async function othersOn(attempt: Attempt, node: string): Promise<readonly ApiObject[]> {
  const namespace = await attempt.target.namespace();
  const query = { fieldSelector: `spec.nodeName=${node}` };
  const answer = await attempt.client.attempt("GET", "/api/v1/pods", { query });
  if (answer instanceof LostAnswer || answer.status !== 200) return [];
  const pods = objectsIn(answer.json, "items") as unknown as ApiObject[];
  return pods.filter(({ metadata }) => metadata.namespace !== namespace);
}

/** Undecided, for they have their part of the node. */
export const besideOthers = (others: readonly { readonly name: string }[]): Inconclusive =>
  new Inconclusive(
    `the cluster put ${others.length} pods of its own on the suite's node, such as ${others[0]?.name ?? "none"}`,
  );
