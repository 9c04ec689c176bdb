/** What every controller of this folder is made of. */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ControlAnswer, ControlClient } from "../../client/control-client.ts";
import { type Outcome, WorkQueue } from "../../client/work-queue.ts";
import type { Informers } from "./informers.ts";
import { runSteps, type Steps } from "./steps.ts";
import type { Stored } from "./stored.ts";

export interface ControlParts {
  readonly client: ControlClient;
  readonly informers: Informers;
  readonly dialect: Dialect;
}

/** A queue of keys, each worked on by steps. It opens once everything that is followed has been listed. */
export function queueOf(
  { client, informers }: ControlParts,
  name: string,
  steps: (key: string) => Steps<Outcome>,
): WorkQueue<string> {
  const queue = new WorkQueue<string>({
    process: client.process,
    count: client.queueCounts.of(name),
    work: (key, done) => runSteps(client, steps(key), done),
  });
  informers.onceSynced(() => queue.open());
  return queue;
}

/** A kind of the API that a controller cares for. */
export interface KindRow {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the group and version: `/apis/apps/v1`. */
  readonly root: string;
  readonly resource: string;
}

export const kindRow = (apiVersion: string, kind: string, resource: string): KindRow => ({
  apiVersion,
  kind,
  resource,
  root: `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`,
});

export const podRow = kindRow("v1", "Pod", "pods");
export const nodeRow = kindRow("v1", "Node", "nodes");

export const collectionOf = ({ root, resource }: KindRow, namespace = ""): string =>
  namespace === "" ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`;

export const pathTo = (row: KindRow, { metadata: { namespace = "", name } }: Stored): string =>
  `${collectionOf(row, namespace)}/${name}`;

/** The reference by which an object says who controls it. */
export function controllerReference({ apiVersion, kind }: KindRow, { metadata: { name, uid } }: Stored): JsonObject {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** As an event names it. */
export function subjectOf({ apiVersion, kind }: KindRow, { metadata: { namespace = "", name, uid } }: Stored) {
  return { apiVersion, kind, namespace, name, uid };
}

/** What a refusal says. */
export function messageOf({ status, object }: ControlAnswer): string {
  return status === 0 ? "the connection broke" : String(object?.["message"] ?? `status ${status}`);
}

/** Nothing is made in a namespace that is being deleted, and trying again is no use. */
export function isOfTerminatingNamespace({ object }: ControlAnswer): boolean {
  const details = object?.["details"] as JsonObject | undefined;
  const causes = (details?.["causes"] ?? []) as readonly JsonObject[];
  return causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Namespace and name of a key. */
export function partsOf(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return slash < 0 ? ["", key] : [key.slice(0, slash), key.slice(slash + 1)];
}

/** A number, or a percentage of `total`. */
export function scaledValue(bound: number | string | undefined, total: number, round: "up" | "down"): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound ?? "")?.[1];
  if (percent === undefined) return 0;
  const exact = total * Number(percent);
  return round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}
