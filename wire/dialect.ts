/**
 * A dialect is naming alone: the same service under a neutral brand (`svc`) or as Kubernetes spells it.
 * Tables and code speak `svc`; names are translated where they meet the wire.
 * Source: document 1, naming rule; the facts' brand mapping.
 */
export interface Dialect {
  readonly name: "svc" | "kubernetes";
  /** Suffix of branded API groups: `svc.io` or `k8s.io`. */
  readonly groupSuffix: string;
  /** Suffix of branded labels, annotations and finalizers: `svc.io` or `kubernetes.io`. */
  readonly labelSuffix: string;
  readonly protobufMediaType: string;
  /** Prefix of schema extensions: `x-svc-` or `x-kubernetes-`. */
  readonly extensionPrefix: string;
  /** Header prefix: `X-Svc-` or `X-Kubernetes-`, lower case. */
  readonly headerPrefix: string;
  readonly systemNamespaces: { readonly system: string; readonly nodeLease: string; readonly public: string };
  /** Annotation on the bookmark that ends the initial events of a streaming list. */
  readonly initialEventsEnd: string;
  readonly initialEventsBlueprint: string;
  /** Label that a namespace carries with its own name. */
  readonly namespaceNameLabel: string;
  /** The finalizer in a namespace's spec. */
  readonly namespaceFinalizer: string;
}

export const svcDialect: Dialect = {
  name: "svc",
  groupSuffix: "svc.io",
  labelSuffix: "svc.io",
  protobufMediaType: "application/vnd.svc.protobuf",
  extensionPrefix: "x-svc-",
  headerPrefix: "x-svc-",
  systemNamespaces: { system: "svc-system", nodeLease: "svc-node-lease", public: "svc-public" },
  initialEventsEnd: "svc.io/initial-events-end",
  initialEventsBlueprint: "svc.io/initial-events-list-blueprint",
  namespaceNameLabel: "svc.io/metadata.name",
  namespaceFinalizer: "svc",
};

export const kubernetesDialect: Dialect = {
  name: "kubernetes",
  groupSuffix: "k8s.io",
  labelSuffix: "kubernetes.io",
  protobufMediaType: "application/vnd.kubernetes.protobuf",
  extensionPrefix: "x-kubernetes-",
  headerPrefix: "x-kubernetes-",
  systemNamespaces: { system: "kube-system", nodeLease: "kube-node-lease", public: "kube-public" },
  initialEventsEnd: "k8s.io/initial-events-end",
  initialEventsBlueprint: "kubernetes.io/initial-events-list-blueprint",
  namespaceNameLabel: "kubernetes.io/metadata.name",
  namespaceFinalizer: "kubernetes",
};

export const dialects: Readonly<Record<Dialect["name"], Dialect>> = { svc: svcDialect, kubernetes: kubernetesDialect };

/** `events.svc.io` as this dialect spells it. Groups without the brand (`apps`, `policy`, the core group) stay. */
export function groupInDialect(dialect: Dialect, group: string): string {
  return group.endsWith(".svc.io") || group === "svc.io" ? group.slice(0, -6) + dialect.groupSuffix : group;
}

/** The inverse of `groupInDialect`. */
export function groupFromDialect(dialect: Dialect, group: string): string {
  const { groupSuffix } = dialect;
  return group.endsWith(`.${groupSuffix}`) ? `${group.slice(0, -groupSuffix.length)}svc.io` : group;
}

/** `events.svc.io/v1` → the dialect's spelling; `v1` and unbranded groups stay. */
export function apiVersionInDialect(dialect: Dialect, apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? apiVersion : groupInDialect(dialect, apiVersion.slice(0, slash)) + apiVersion.slice(slash);
}

export function apiVersionFromDialect(dialect: Dialect, apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? apiVersion : groupFromDialect(dialect, apiVersion.slice(0, slash)) + apiVersion.slice(slash);
}
