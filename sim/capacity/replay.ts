/** Requests of a recorded audit log, asked again at their times by one client. */
import type { RowOf } from "../../scenarios/capacity/workload-rows.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { ask, type DriverContext } from "./driver-client.ts";
import { ExperimentError } from "./fleet.ts";
import type { ReplayedRequest, Stage } from "./stage.ts";

/** Whose requests an experiment's own cluster makes. */
const ownUsers = ["system:node:*", "system:serviceaccount:kube-system:*", "system:kube-*", "system:apiserver"];

export function replay({ logs }: Stage, row: RowOf<"replay">, context: DriverContext): void {
  const log = logs.get(row.log);
  if (log === undefined) throw new ExperimentError("workload", `the log ${row.log} was not read`);
  const requests = log.filter(({ user }) =>
    row.users.length === 0 ? !isOneOf(user, ownUsers) : isOneOf(user, row.users),
  );
  const { clock } = context.process;
  const began = clock.nowMicros();
  const versions = new Map<string, string>();
  const next = (index: number): void => {
    const request = requests[index];
    if (request === undefined) return;
    const due = began + Math.floor(request.atMicros / row.speed);
    clock.after(Math.max(0, due - clock.nowMicros()), () => {
      if (request.watchMicros === undefined) again(context, request, versions);
      else watchAgain(context, request, Math.floor(request.watchMicros / row.speed));
      next(index + 1);
    });
  };
  next(0);
}

const isOneOf = (user: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith("*") ? user.startsWith(pattern.slice(0, -1)) : user === pattern));

/** Versions and identities of the recorded cluster mean nothing here: those of this one are put in their place. */
function again(context: DriverContext, request: ReplayedRequest, versions: Map<string, string>): void {
  const { method, path, query, body, contentType } = request;
  const sent = body === undefined || Array.isArray(body) ? body : translated(body, method, versions.get(path));
  ask(
    context,
    { method, path, query: withoutVersion(query), contentType, ...(sent === undefined ? {} : { body: sent }) },
    (answer) => {
      if (!answer.ok || answer.status >= 300) return;
      const { name, resourceVersion } = metadataOf(answer.object);
      if (name === undefined || resourceVersion === undefined) return;
      versions.set(method === "POST" ? `${path}/${name}` : path.replace(/\/status$/, ""), resourceVersion);
      if (!path.endsWith("/status"))
        versions.set(`${method === "POST" ? `${path}/${name}` : path}/status`, resourceVersion);
    },
  );
}

function translated(body: JsonObject, method: string, version: string | undefined): JsonObject {
  if (method === "DELETE") {
    const { preconditions: _, ...rest } = body;
    return rest;
  }
  const { metadata } = body;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return body;
  const { uid: _uid, resourceVersion, ...rest } = metadata as { readonly [field: string]: never };
  const isConditional = resourceVersion !== undefined && version !== undefined && method === "PUT";
  return { ...body, metadata: { ...rest, ...(isConditional ? { resourceVersion: version } : {}) } };
}

/**
 * A version of the recorded cluster, but for 0, which every cluster has; and where its lists went on. How a version is to be
 * matched goes with it, but for a list that is streamed, which must say so in any case.
 */
export function withoutVersion(query: string): string {
  const parts = query.split("&").filter((part) => !/^(resourceVersion=(?!0$)|continue=)/.test(part));
  const isMatched = parts.some((part) => part === "resourceVersion=0" || /^sendInitialEvents=(true|1)$/.test(part));
  return parts
    .filter((part) => !part.startsWith("resourceVersionMatch=") || (isMatched && !part.endsWith("=Exact")))
    .join("&");
}

/** Ends when it did. */
function watchAgain({ client, process }: DriverContext, { path, query }: ReplayedRequest, micros: number): void {
  const stop = client.watch(
    { method: "GET", path, query: withoutVersion(query) },
    { opened: () => {}, event: () => {}, refused: () => {}, ended: () => {} },
  );
  process.clock.after(micros, stop);
}
