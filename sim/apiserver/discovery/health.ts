/**
 * `/healthz`, `/livez` and `/readyz`, with `?verbose`, `?exclude=name` and a path a check.
 * Source: the facts, section 5; recorded: the paths under `/`, where a ready check has no `etcd`; the published order.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { type Family, labelText } from "../metrics/exposition.ts";
import type { Query } from "../requests/url.ts";

/**
 * The steps of a start, in order. All are over before the server answers anything; those that it has no counterpart
 * for have nothing to wait for.
 */
const startSteps = [
  "start-apiserver-admission-initializer",
  "generic-apiserver-start-informers",
  "priority-and-fairness-config-consumer",
  "priority-and-fairness-filter",
  "storage-object-count-tracker-hook",
  "start-apiextensions-informers",
  "start-apiextensions-controllers",
  "crd-informer-synced",
  "start-system-namespaces-controller",
  "start-cluster-authentication-info-controller",
  "start-BRAND-apiserver-identity-lease-controller",
  "start-BRAND-apiserver-identity-lease-garbage-collector",
  "start-legacy-token-tracking-controller",
  "start-service-ip-repair-controllers",
  "rbac/bootstrap-roles",
  "scheduling/bootstrap-system-priority-classes",
  "priority-and-fairness-config-producer",
  "bootstrap-controller",
  "start-kubernetes-service-cidr-controller",
  "start-kube-aggregator-informers",
  "apiservice-status-local-available-controller",
  "apiservice-status-remote-available-controller",
  "apiservice-registration-controller",
  "apiservice-wait-for-first-sync",
  "apiservice-discovery-controller",
  "BRAND-apiserver-autoregistration",
  "autoregister-completion",
  "apiservice-openapi-controller",
  "apiservice-openapiv3-controller",
] as const;

/** Before and after the steps of the start. */
const endpoints: Readonly<Record<string, readonly [before: readonly string[], after: readonly string[]]>> = {
  healthz: [["ping", "log", "etcd"], []],
  livez: [["ping", "log", "etcd"], []],
  readyz: [["ping", "log", "informer-sync"], ["shutdown"]],
};

export class Health {
  /** By endpoint, in order. Each holds as long as it answers at all: what it stands on lives in the same process. */
  private readonly checks: ReadonlyMap<string, readonly string[]>;
  /** How often each endpoint was asked for each of its checks. */
  private readonly asked = new Map<string, Map<string, number>>();
  private readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    const brand = dialect.name === "kubernetes" ? "kube" : "svc";
    const steps = startSteps.map((step) =>
      step === "autoregister-completion" ? step : `poststarthook/${step.replace("BRAND", brand)}`,
    );
    this.dialect = dialect;
    this.checks = new Map(
      Object.entries(endpoints).map(([endpoint, [before, after]]) => [endpoint, [...before, ...steps, ...after]]),
    );
  }

  /** Paths under `/` that these checks answer. */
  get paths(): readonly string[] {
    return [...this.checks].flatMap(([endpoint, names]) => [
      `/${endpoint}`,
      ...names.map((name) => `/${endpoint}/${name}`),
    ]);
  }

  /** The text of a 200, or undefined when the path names no check. */
  text(segments: readonly string[], query: Query): string | undefined {
    const [endpoint = "", ...rest] = segments;
    const names = this.checks.get(endpoint);
    if (names === undefined) return undefined;
    const check = rest.join("/");
    if (check !== "" && !names.includes(check)) return undefined;
    const excluded = check === "" && query.has("exclude") ? new Set(query.all("exclude")) : new Set<string>();
    this.count(endpoint, check === "" ? names.filter((name) => !excluded.has(name)) : [check]);
    if (check !== "" || !query.has("verbose")) return "ok";
    const lines = names.map((name) => (excluded.has(name) ? `[+]${name} excluded: ok` : `[+]${name} ok`));
    const unknown = [...excluded].filter((name) => !names.includes(name)).sort(compareBytes);
    if (unknown.length > 0) {
      const list = unknown.map((name) => JSON.stringify(name)).join(",");
      lines.push(`warn: some health checks cannot be excluded: no matches for ${list}`);
    }
    return `${lines.join("\n")}\n${endpoint} check passed\n`;
  }

  /** What `/metrics/slis` tells: of every check that somebody has asked for. */
  families(): readonly Family[] {
    const asked = [...this.asked].flatMap(([type, counts]) =>
      [...counts].map(([name, count]) => ({ type, name, count })),
    );
    return [
      {
        name: `${this.dialect.name}_healthcheck`,
        type: "gauge",
        stability: "STABLE",
        help: "How a check went when it was last made: 1 for well.",
        samples: asked.map(({ type, name }) => [labelText({ type, name }), 1]),
      },
      {
        name: `${this.dialect.name}_healthchecks_total`,
        type: "counter",
        stability: "STABLE",
        help: "How often a check was made, by how it went.",
        samples: asked.map(({ type, name, count }) => [labelText({ type, name, status: "success" }), count]),
      },
    ];
  }

  private count(endpoint: string, names: readonly string[]): void {
    const counts = this.asked.get(endpoint) ?? new Map<string, number>();
    this.asked.set(endpoint, counts);
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}
