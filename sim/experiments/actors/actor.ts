/** What every client of a scenario is made of. */
import type { Fact } from "../../checkers/judge.ts";
import type { ApiClient } from "../../client/api-client.ts";
import type { ApiHandler, JsonObject } from "../../contract/http-message.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import { formatMicroTime } from "../../../wire/time.ts";
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import type { NodeHost } from "../node-host.ts";
import type { CollectionName } from "../../../scenarios/clients.ts";

export interface ActorParts {
  readonly process: Process;
  readonly api: Pick<ApiClient, "call" | "watch">;
  /** The server as `api` reaches it, for whoever calls under more names than one. */
  readonly handler: ApiHandler;
  /** A token that an issuer of the scenario makes now. */
  readonly tokenOf: (issuer: string, claims: JsonObject, lastsMicros: Micros) => string;
  /** Of a node: the machine that it runs on. */
  readonly host?: NodeHost | undefined;
  readonly dialect: Dialect;
  readonly agentBugs: readonly string[];
  /** What it says of itself, to whoever judges the run. */
  readonly tell: (fact: Fact) => void;
}

export interface Actor {
  start(): void;
  /** What it still waits for, in a few words; undefined when it is where it wants to be. */
  pending(): string | undefined;
  /** What it did, counted, and what it has. */
  counts(): Counts;
}

export type Counts = Readonly<Record<string, number>>;

/** What a client has, and not what it did. */
const amounts: ReadonlySet<string> = new Set(["objects", "leads", "leases", "parents", "running", "pods"]);

/** Of one that has died and started again: what it did in all its lives, and what it has in this one. */
export function countsOverLives(before: Counts, last: Counts): Counts {
  const names = new Set(Object.keys(before).concat(Object.keys(last)));
  const didBefore = (name: string): number => (amounts.has(name) ? 0 : (before[name] ?? 0));
  return Object.fromEntries([...names].map((name) => [name, didBefore(name) + (last[name] ?? 0)]));
}

/** Where a collection is, in the dialect; nodes are in no namespace. */
export function collectionPath(dialect: Dialect, resource: CollectionName, namespace: string): string {
  if (resource === "nodes") return "/api/v1/nodes";
  const group = resource === "leases" ? `/apis/${groupInDialect(dialect, "coordination.svc.io")}/v1` : "/api/v1";
  return namespace === "" ? `${group}/${resource}` : `${group}/namespaces/${namespace}/${resource}`;
}

export const leaseVersion = (dialect: Dialect): string => `${groupInDialect(dialect, "coordination.svc.io")}/v1`;

/** A time of the wall clock as leases carry it, to the microsecond. */
export function microTime(process: Process): string {
  const { epochUnixMillis, nowMicros } = process.clock;
  const micros = nowMicros();
  const millis = epochUnixMillis + Math.floor(micros / 1000);
  return formatMicroTime({ seconds: Math.floor(millis / 1000), micros: (millis % 1000) * 1000 + (micros % 1000) });
}

/** An object as a client works with it. */
export const textAt = (object: JsonObject | undefined, ...path: readonly string[]): string => {
  let value: unknown = object;
  for (const key of path) value = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  return typeof value === "string" ? value : "";
};
