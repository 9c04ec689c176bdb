/** From nodes that were seen to pools of nodes that are alike in all that matters here: size, place, taints, and labels that pods ask for. */
import { parseQuantity, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import { type Names, regionKeys, zoneKeys } from "./names.ts";
import type { SeenNode } from "./seen-objects.ts";

export interface ImportedPool {
  readonly name: string;
  readonly count: number;
  readonly cpu: string;
  readonly memory: string;
  readonly storage: string;
  readonly pods: number;
  readonly resources?: Readonly<Record<string, string>>;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export interface ImportedNodes {
  readonly pools: readonly ImportedPool[];
  /** By the name that the node had. */
  readonly places: ReadonlyMap<string, { readonly pool: number; readonly index: number }>;
}

/** Most that an experiment's file takes. */
export const poolsMax = 5_000;
const poolNodesMax = 32_000;

type Shape = Omit<ImportedPool, "name" | "count">;

/** `asked`: keys of labels that pods choose nodes by. */
export function poolsOf(nodes: readonly SeenNode[], asked: ReadonlySet<string>, names: Names): ImportedNodes {
  const pools: { readonly shape: Shape; count: number }[] = [];
  const open = new Map<string, number>();
  const places = new Map<string, { readonly pool: number; readonly index: number }>();
  for (const node of nodes) {
    const shape = shapeOf(node, asked, names);
    const key = JSON.stringify(shape);
    let pool = open.get(key);
    if (pool === undefined || (pools[pool]?.count ?? 0) >= poolNodesMax) {
      pool = pools.length;
      pools.push({ shape, count: 0 });
      open.set(key, pool);
    }
    const held = pools[pool] as { count: number };
    places.set(node.metadata.name, { pool, index: held.count++ });
  }
  return {
    pools: pools.map(({ shape, count }, at) => ({ name: `pool-${at + 1}`, count, ...shape })),
    places,
  };
}

const usual = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);
/** What an agent keeps of these by its usual thresholds comes on top of what pods may have. */
const keptMemoryBytes = 100 * 1024 ** 2;
const keptStorageParts = 10n;
const mebi = 1024 ** 2;
const gibi = 1024 ** 3;
/** Machines of one kind differ by some pages: they are alike here. */
const memoryStepBytes = 64 * mebi;

function shapeOf({ metadata, spec, status }: SeenNode, asked: ReadonlySet<string>, names: Names): Shape {
  const labels = new Map(Object.entries(metadata.labels ?? {}));
  const sizes = new Map(Object.entries({ ...status?.capacity, ...status?.allocatable }));
  const zone = first(labels, zoneKeys);
  const region = first(labels, regionKeys);
  const kept = [...labels]
    .filter(([key, value]) => asked.has(key) && isLabel(key, value) && !zoneKeys.has(key) && !regionKeys.has(key))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [names.labelKey(key), names.labelValue(key, value)] as const);
  const resources = [...sizes]
    .filter(([name, size]) => !usual.has(name) && name.includes("/") && !name.startsWith("attachable-") && size !== "0")
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, size]) => [names.resource(name), size] as const);
  const taints = (spec?.taints ?? [])
    .filter(({ key }) => !key.startsWith("node.kubernetes.io/"))
    .map(({ key, value, effect }) => ({
      key: names.labelKey(key),
      ...((value ?? "") === "" ? {} : { value: names.labelValue(key, value ?? "") }),
      effect,
    }));
  return {
    cpu: `${Math.max(1, amount(sizes.get("cpu") ?? "4", -3))}m`,
    memory: `${Math.max(1, Math.ceil((amount(sizes.get("memory") ?? "16Gi", 0) + keptMemoryBytes) / memoryStepBytes)) * (memoryStepBytes / mebi)}Mi`,
    storage: storageOf(sizes.get("ephemeral-storage")),
    pods: Math.min(1000, Math.max(1, amount(sizes.get("pods") ?? "110", 0))),
    ...(resources.length === 0 ? {} : { resources: Object.fromEntries(resources) }),
    ...(region === undefined ? {} : { region: names.labelValue("topology.kubernetes.io/region", region) }),
    ...(zone === undefined ? {} : { zones: [names.zone(zone)] }),
    ...(kept.length === 0 ? {} : { labels: Object.fromEntries(kept) }),
    ...(taints.length === 0 ? {} : { taints }),
  };
}

const first = (labels: ReadonlyMap<string, string>, keys: ReadonlySet<string>): string | undefined =>
  [...keys].map((key) => labels.get(key)).find((value) => value !== undefined && value !== "");

function storageOf(text: string | undefined): string {
  if (text === undefined) return "100Gi";
  const quantity = parseQuantity(text);
  if ("error" in quantity) return "100Gi";
  const whole = (quantityAt(quantity, 0) * keptStorageParts) / (keptStorageParts - 1n);
  return `${Math.max(1, Math.ceil(Number(whole) / gibi))}Gi`;
}

/** Checked before; whatever no machine has is as much as any has. */
function amount(text: string, scale: number): number {
  const quantity = parseQuantity(text);
  return "error" in quantity
    ? 0
    : Math.min(Number.MAX_SAFE_INTEGER / 2, Math.max(0, Number(quantityAt(quantity as Quantity, scale))));
}

const keyPattern = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const valuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** What a server takes as a label. */
export const isLabel = (key: string, value: string): boolean => keyPattern.test(key) && valuePattern.test(value);
