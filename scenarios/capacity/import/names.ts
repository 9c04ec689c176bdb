/** The names of an imported cluster: as they are, made to fit, or others in their place, the same one for the same name everywhere. */

export interface Names {
  readonly namespace: (name: string) => string;
  /** Of an owner of pods or a budget: a label of at most 52 characters, its own within the namespace. */
  readonly workload: (namespace: string, name: string) => string;
  readonly priority: (name: string) => string;
  readonly labelKey: (key: string) => string;
  readonly labelValue: (key: string, value: string) => string;
  readonly resource: (name: string) => string;
  readonly zone: (name: string) => string;
}

/** These every cluster has. */
const everywhere = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

export function ownNames(): Names {
  const workloads = new Uniques();
  const same = (name: string): string => name;
  return {
    namespace: same,
    workload: (namespace, name) => workloads.of(namespace, fitting(name)),
    priority: same,
    labelKey: same,
    labelValue: (_, value) => value,
    resource: same,
    zone: same,
  };
}

/** Numbers in the order of appearance. What every cluster has keeps its name. */
export function anonymousNames(): Names {
  const numbered = (prefix: string, kept: (name: string) => boolean = () => false): ((name: string) => string) => {
    const known = new Map<string, string>();
    return (name) => {
      if (kept(name)) return name;
      let alias = known.get(name);
      if (alias === undefined) known.set(name, (alias = `${prefix}${known.size + 1}`));
      return alias;
    };
  };
  let workloads = 0;
  const value = numbered("value-", (text) => text === "");
  const zone = numbered("zone-");
  const region = numbered("region-");
  return {
    namespace: numbered("namespace-", (name) => everywhere.has(name)),
    workload: () => `workload-${++workloads}`,
    priority: numbered("priority-", (name) => name.startsWith("system-")),
    labelKey: numbered("key-", (key) => commonKeys.has(key)),
    labelValue(key, text) {
      if (fixedKeys.has(key)) return text;
      return zoneKeys.has(key) ? zone(text) : regionKeys.has(key) ? region(text) : value(text);
    },
    resource: numbered("example.com/resource-"),
    zone,
  };
}

export const zoneKeys: ReadonlySet<string> = new Set([
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/zone",
]);
export const regionKeys: ReadonlySet<string> = new Set([
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/region",
]);
/** Values of these say nothing of whose cluster it is. */
const fixedKeys = new Set(["kubernetes.io/os", "kubernetes.io/arch"]);
/** Keys that say nothing of it either. */
const commonKeys = new Set([
  ...zoneKeys,
  ...regionKeys,
  ...fixedKeys,
  "kubernetes.io/hostname",
  "node.kubernetes.io/instance-type",
  "node-role.kubernetes.io/control-plane",
  "node-role.kubernetes.io/master",
  "app.kubernetes.io/name",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/component",
  "app.kubernetes.io/part-of",
  "app.kubernetes.io/version",
  "app.kubernetes.io/managed-by",
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/network-unavailable",
  "",
]);

/** A DNS label with room for what is put behind it. */
const fitting = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .slice(0, 44)
    .replace(/^-+/, "")
    .replace(/-+$/, "") || "unnamed";

/** Numbers behind names that are taken. */
class Uniques {
  private readonly taken = new Map<string, number>();

  of(scope: string, name: string): string {
    const key = `${scope}/${name}`;
    const count = (this.taken.get(key) ?? 0) + 1;
    this.taken.set(key, count);
    if (count === 1) return name;
    return this.of(scope, `${name}-${count}`);
  }
}
