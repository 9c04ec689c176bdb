/** From pods that were seen to rows of pods that are alike: of one owner, with one shape, on so many nodes. */
import { placesText, type StandingRow, type Toleration } from "../standing-rows.ts";
import type { Names } from "./names.ts";
import { type ImportedNodes, isLabel } from "./node-pools.ts";
import type { SeenPod } from "./seen-objects.ts";

export interface ImportedRow {
  readonly name: string;
  readonly namespace: string;
  readonly owner: StandingRow["owner"];
  readonly on?: Readonly<Record<string, string>>;
  readonly waiting?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers: readonly ImportedContainer[];
  readonly size?: number;
  readonly grace?: number;
  readonly priorityClass?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

interface ImportedContainer {
  readonly cpu?: string;
  readonly memory?: string;
  readonly resources?: Readonly<Record<string, string>>;
}

interface Group {
  readonly namespace: string;
  readonly owner: StandingRow["owner"];
  readonly ownerName: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly pod: SeenPod["spec"];
  readonly byNode: Map<string, number>;
  waiting: number;
  podCount: number;
  bytes: number;
}

export class PodGroups {
  /** Keys of labels that some pod chooses its node by. */
  readonly askedKeys = new Set<string>(["node.kubernetes.io/instance-type"]);
  readonly namespaces = new Set<string>();
  /** Priorities that pods name, and what they come to. */
  readonly priorities = new Map<string, number>();
  /** Pods with rules of placement that an experiment does not keep. */
  withAffinityCount = 0;
  private readonly groups = new Map<string, Group>();

  /** `bytes`: of the pod as JSON. */
  add({ metadata, spec }: SeenPod, bytes: number): void {
    const { namespace } = metadata;
    const [owner, ownerName] = ownerOf(metadata);
    const labels = Object.entries(metadata.labels ?? {}).filter(
      ([key, value]) => !ownLabels.has(key) && !key.startsWith("batch.kubernetes.io/") && isLabel(key, value),
    );
    const shape = shapeOf(spec);
    // Those that nobody makes anew are of one row when they look alike.
    const isOf = owner === "none" ? labels : ownerName;
    const key = JSON.stringify([namespace, owner, isOf, shape]);
    let group = this.groups.get(key);
    if (group === undefined) {
      const pod = shape;
      group = { namespace, owner, ownerName, labels, pod, byNode: new Map(), waiting: 0, podCount: 0, bytes: 0 };
      this.groups.set(key, group);
    }
    group.podCount++;
    group.bytes += bytes;
    const node = spec.nodeName ?? "";
    if (node === "") group.waiting++;
    else group.byNode.set(node, (group.byNode.get(node) ?? 0) + 1);
    this.namespaces.add(namespace);
    if ((spec.priorityClassName ?? "") !== "") this.priorities.set(spec.priorityClassName ?? "", spec.priority ?? 0);
    for (const label of Object.keys(spec.nodeSelector ?? {})) if (label !== hostname) this.askedKeys.add(label);
    if (spec.affinity?.["nodeAffinity"] !== undefined) this.askKeysOf(spec.affinity["nodeAffinity"]);
    const hasRules = Object.keys(spec.affinity ?? {}).length > 0 || (spec.topologySpreadConstraints ?? []).length > 0;
    if (hasRules && owner !== "DaemonSet") this.withAffinityCount++;
  }

  /** By namespace and name; and how many pods were on nodes that were not seen. */
  rows(nodes: ImportedNodes, names: Names): { readonly rows: readonly ImportedRow[]; readonly lostCount: number } {
    let lostCount = 0;
    const rows: ImportedRow[] = [];
    const sorted = [...this.groups.values()].sort(
      (one, other) => order(one.namespace, other.namespace) || order(one.ownerName, other.ownerName),
    );
    for (const group of sorted) {
      const byPool = new Map<number, [number, number][]>();
      let placed = 0;
      for (const [node, count] of group.byNode) {
        const place = nodes.places.get(node);
        if (place === undefined) {
          lostCount += count;
          continue;
        }
        placed += count;
        const pool = byPool.get(place.pool);
        if (pool === undefined) byPool.set(place.pool, [[place.index, count]]);
        else pool.push([place.index, count]);
      }
      if (placed + group.waiting > 0) rows.push(rowOf(group, byPool, nodes, names));
    }
    return { rows, lostCount };
  }

  /** Of required and preferred terms, whatever their form: it is another's, and only keys are looked for. */
  private askKeysOf(affinity: unknown): void {
    const open: unknown[] = [affinity];
    for (let looked = 0; open.length > 0 && looked < 10_000; looked++) {
      const next = open.pop();
      if (Array.isArray(next)) for (const each of next) open.push(each);
      else if (typeof next === "object" && next !== null) {
        const { key } = next as { readonly key?: unknown };
        if (typeof key === "string" && key !== hostname && key !== "metadata.name") this.askedKeys.add(key);
        for (const each of Object.values(next)) if (typeof each === "object") open.push(each);
      }
    }
  }
}

const order = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

const hostname = "kubernetes.io/hostname";

/** Set by controllers on their pods. */
const ownLabels = new Set([
  "pod-template-hash",
  "controller-revision-hash",
  "pod-template-generation",
  "statefulset.kubernetes.io/pod-name",
  "apps.kubernetes.io/pod-index",
  "controller-uid",
  "job-name",
]);

function ownerOf({ name, labels, ownerReferences }: SeenPod["metadata"]): [StandingRow["owner"], string] {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return ["none", name];
  if (owner.kind === "StatefulSet" || owner.kind === "DaemonSet") return [owner.kind, owner.name];
  if (owner.kind !== "ReplicaSet") return ["none", owner.name];
  const hash = labels?.["pod-template-hash"];
  return hash !== undefined && owner.name.endsWith(`-${hash}`)
    ? ["Deployment", owner.name.slice(0, -hash.length - 1)]
    : ["ReplicaSet", owner.name];
}

/** Only what pods that are alike have in common. */
function shapeOf({
  containers,
  initContainers,
  nodeSelector,
  tolerations,
  priorityClassName,
  terminationGracePeriodSeconds,
}: SeenPod["spec"]): SeenPod["spec"] {
  const sidecars = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return {
    containers: [...containers, ...sidecars].map(({ resources }) => ({ resources: { requests: resources?.requests } })),
    nodeSelector,
    tolerations: tolerations?.filter((each) => !isUsual(each)),
    priorityClassName,
    terminationGracePeriodSeconds,
  };
}

/** Admission adds these to whoever does not say otherwise. */
const isUsual = ({ key, operator, effect, tolerationSeconds }: SeenToleration): boolean =>
  (key === "node.kubernetes.io/not-ready" || key === "node.kubernetes.io/unreachable") &&
  operator === "Exists" &&
  effect === "NoExecute" &&
  tolerationSeconds === 300;

function rowOf(
  { namespace, owner, ownerName, labels, pod, waiting, podCount, bytes }: Group,
  byPool: ReadonlyMap<number, [number, number][]>,
  nodes: ImportedNodes,
  names: Names,
): ImportedRow {
  const on = [...byPool]
    .sort(([one], [other]) => one - other)
    .map(([pool, counts]) => {
      counts.sort(([one], [other]) => one - other);
      return [nodes.pools[pool]?.name ?? "", placesText(counts)] as const;
    });
  const selector = Object.entries(pod.nodeSelector ?? {}).flatMap(([key, value]) => {
    if (key === hostname) {
      const place = nodes.places.get(value);
      return place === undefined ? [] : [[key, `${nodes.pools[place.pool]?.name}-${place.index}`] as const];
    }
    return isLabel(key, value) ? [[names.labelKey(key), names.labelValue(key, value)] as const] : [];
  });
  const grace = pod.terminationGracePeriodSeconds ?? 30;
  const priority = pod.priorityClassName ?? "";
  const tolerations = (pod.tolerations ?? []).map((each) => tolerationOf(each, names));
  return {
    name: names.workload(namespace, ownerName),
    namespace: names.namespace(namespace),
    owner,
    ...(on.length === 0 ? {} : { on: Object.fromEntries(on) }),
    ...(waiting === 0 ? {} : { waiting }),
    ...(labels.length === 0
      ? {}
      : {
          labels: Object.fromEntries(labels.map(([key, value]) => [names.labelKey(key), names.labelValue(key, value)])),
        }),
    containers: pod.containers.slice(0, 50).map(({ resources }) => containerOf(resources?.requests ?? {}, names)),
    size: Math.min(200_000, Math.round(bytes / podCount / 100) * 100),
    ...(grace === 30 ? {} : { grace: Math.min(grace, 1_000_000) }),
    ...(priority === "" ? {} : { priorityClass: names.priority(priority) }),
    ...(selector.length === 0 ? {} : { nodeSelector: Object.fromEntries(selector) }),
    ...(tolerations.length === 0 ? {} : { tolerations: tolerations.slice(0, 100) }),
  };
}

function containerOf(requests: Readonly<Record<string, string>>, names: Names): ImportedContainer {
  const { cpu, memory } = requests;
  const others = Object.entries(requests).filter(([name]) => name.includes("/"));
  return {
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
    ...(others.length === 0
      ? {}
      : { resources: Object.fromEntries(others.map(([name, size]) => [names.resource(name), size])) }),
  };
}

type SeenToleration = NonNullable<SeenPod["spec"]["tolerations"]>[number];

function tolerationOf({ key, operator, value, effect, tolerationSeconds }: SeenToleration, names: Names): Toleration {
  return {
    ...(key === undefined || key === null ? {} : { key: names.labelKey(key) }),
    ...(operator === undefined || operator === null ? {} : { operator }),
    ...(value === undefined || value === null || value === "" ? {} : { value: names.labelValue(key ?? "", value) }),
    ...(effect === undefined || effect === null ? {} : { effect }),
    ...(tolerationSeconds === undefined || tolerationSeconds === null ? {} : { tolerationSeconds }),
  };
}
