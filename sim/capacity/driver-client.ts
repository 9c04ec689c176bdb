/** A client of an experiment: what sets it up, and what works on it. */
import { ApiClient, type ClientAnswer, type ClientRequest } from "../client/api-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { groupInDialect } from "../../wire/dialect.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";

export interface DriverContext {
  readonly process: Process;
  readonly client: ApiClient;
  readonly dialect: Dialect;
}

/** Administrators are let in before all others, as a cluster's own components are. */
export function driverContext(
  cluster: Cluster,
  process: Process,
  who: string,
  dialect: Dialect,
  isAdmin: boolean,
): DriverContext {
  const identity = { commonName: who, organizations: [isAdmin ? "system:masters" : "system:authenticated"] };
  return { process, dialect, client: new ApiClient(process, cluster.api(process), identity, who) };
}

const deadlineMicros: Micros = 60_000_000;
export const strategic = "application/strategic-merge-patch+json";
export const mergePatch = "application/merge-patch+json";

export function ask(
  { client }: DriverContext,
  request: ClientRequest,
  done: (answer: ClientAnswer) => void = () => {},
): Cancel {
  return client.call(request, deadlineMicros, done);
}

/** Asks again until it is done: what is put off, and what broke on the way. 409 for what is there already is done, too. */
export function insist(
  context: DriverContext,
  request: ClientRequest,
  done: (answer: ClientAnswer) => void = () => {},
): void {
  ask(context, request, (answer) => {
    const isOpen =
      !answer.ok ||
      answer.status === 429 ||
      answer.status >= 500 ||
      (answer.status === 404 && request.method === "POST");
    if (isOpen) context.process.clock.after(1_000_000, () => insist(context, request, done));
    else done(answer);
  });
}

export const statusOf = (answer: ClientAnswer): number => (answer.ok ? answer.status : 0);

/** `/api/v1/namespaces/x/pods` and its kin, by the plural. */
export function collectionOf(dialect: Dialect, resource: string, namespace: string): string {
  const group = groups[resource] ?? "";
  const base = group === "" ? "/api/v1" : `/apis/${group.includes(".") ? groupInDialect(dialect, group) : group}/v1`;
  return namespace === "" ? `${base}/${resource}` : `${base}/namespaces/${namespace}/${resource}`;
}

const groups: Readonly<Record<string, string>> = {
  deployments: "apps",
  daemonsets: "apps",
  replicasets: "apps",
  statefulsets: "apps",
  poddisruptionbudgets: "policy",
  leases: "coordination.svc.io",
};

export const bodyOf = (object: object): JsonObject => object as JsonObject;
