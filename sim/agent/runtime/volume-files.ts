/**
 * What is in the volumes of a pod that are made of objects: config maps, secrets, the pod itself and tokens.
 * Source: the published agent's rules and texts.
 */
import { parseTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Micros } from "../../kernel/types.ts";
import { ask, getObject } from "../client/api-task.ts";
import type { ObjectReference } from "../client/object-watches.ts";
import type { Pod } from "../pods/pod-types.ts";
import type { Task } from "../task.ts";
import { bytesOf, type EnvironmentContext, fieldOf, type ResourceField, resourceOf } from "./environment.ts";

const encoder = new TextEncoder();

/** A day: older tokens are asked for anew, however long they are valid. */
const tokenMicrosMax: Micros = 86_400_000_000;

/** What it was made of: versions of objects, empty for what is not there; and until when it is good. */
export interface Origin {
  readonly seen: Map<ObjectReference, string>;
  dueMicros: Micros;
}

export const newOrigin = (): Origin => ({ seen: new Map(), dueMicros: Infinity });

export type Files = { readonly files: ReadonlyMap<string, Uint8Array> } | { readonly error: string };

interface Item {
  readonly key: string;
  readonly path: string;
}

export function* filesOf(context: EnvironmentContext, pod: Pod, volume: JsonObject, origin: Origin): Task<Files> {
  const projected = volume["projected"] as { readonly sources?: readonly JsonObject[] } | undefined;
  const files = new Map<string, Uint8Array>();
  for (const source of projected === undefined ? [volume] : (projected.sources ?? [])) {
    const read = yield* sourceFiles(context, pod, source, origin);
    if ("error" in read) return read;
    for (const [path, content] of read.files) files.set(path, content);
  }
  return { files };
}

function* sourceFiles(context: EnvironmentContext, pod: Pod, source: JsonObject, origin: Origin): Task<Files> {
  for (const kind of ["configmap", "secret"] as const) {
    const wanted = source[kind === "configmap" ? "configMap" : "secret"] as JsonObject | undefined;
    if (wanted === undefined) continue;
    const name = String(wanted["name"] ?? wanted["secretName"] ?? "");
    const { namespace } = pod.metadata;
    const found = yield* getObject(context.api, kind, namespace, name);
    const isOptional = wanted["optional"] === true;
    if ("object" in found ? found.object["immutable"] !== true : found.isMissing) {
      const version = "object" in found ? (metadataOf(found.object).resourceVersion ?? "") : "";
      origin.seen.set({ kind, namespace, name }, version);
    }
    if ("error" in found) return isOptional && found.isMissing ? { files: new Map() } : { error: found.error };
    return chosen(bytesOf(kind, found.object), wanted["items"] as readonly Item[] | undefined, isOptional, name);
  }
  const downward = source["downwardAPI"] as { readonly items?: readonly JsonObject[] } | undefined;
  if (downward !== undefined) return downwardFiles(context, pod, downward.items ?? []);
  const token = source["serviceAccountToken"] as JsonObject | undefined;
  if (token !== undefined) return yield* tokenFile(context, pod, token, origin);
  return { error: "a projected source is of no kind that this agent knows" };
}

function chosen(
  data: ReadonlyMap<string, Uint8Array>,
  items: readonly Item[] | undefined,
  isOptional: boolean,
  name: string,
): Files {
  if (items === undefined) return { files: data };
  const files = new Map<string, Uint8Array>();
  for (const { key, path } of items) {
    const content = data.get(key);
    if (content !== undefined) files.set(path, content);
    else if (!isOptional) return { error: `references non-existent config key: ${key} (of ${name})` };
  }
  return { files };
}

function downwardFiles(context: EnvironmentContext, pod: Pod, items: readonly JsonObject[]): Files {
  const files = new Map<string, Uint8Array>();
  for (const item of items) {
    const field = item["fieldRef"] as { readonly fieldPath: string } | undefined;
    const resource = item["resourceFieldRef"] as ResourceField | undefined;
    const read =
      field !== undefined
        ? fieldOf(context, pod, field.fieldPath)
        : resource !== undefined
          ? resourceOf(context, pod, undefined, resource)
          : { value: "" };
    if ("error" in read) return read;
    files.set(String(item["path"]), encoder.encode(read.value ?? ""));
  }
  return { files };
}

function* tokenFile(context: EnvironmentContext, pod: Pod, token: JsonObject, origin: Origin): Task<Files> {
  if (context.api === undefined) return { error: "a token cannot be had without an API server" };
  const { name, namespace, uid } = pod.metadata;
  const account = pod.spec.serviceAccountName ?? "default";
  const audience = token["audience"];
  const spec: Record<string, Json> = {
    expirationSeconds: token["expirationSeconds"] ?? 3600,
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    audiences: typeof audience === "string" ? [audience] : [],
  };
  const { status, object } = yield* ask(context.api, {
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { spec },
  });
  const { token: issued, expirationTimestamp } = (object?.["status"] ?? {}) as JsonObject;
  if (status >= 300 || typeof issued !== "string")
    return { error: `failed to fetch token: ${String(object?.["message"] ?? "no answer")}` };
  const { clock } = context;
  const lifeMicros = Math.max(0, endMicros(expirationTimestamp, clock.epochUnixMillis) - clock.nowMicros());
  const goodMicros = Math.min(Math.floor(lifeMicros * 0.8), tokenMicrosMax);
  origin.dueMicros = Math.min(origin.dueMicros, clock.nowMicros() + goodMicros);
  return { files: new Map([[String(token["path"]), encoder.encode(issued)]]) };
}

/** As the run counts time; Infinity where no end is said. */
function endMicros(timestamp: Json | undefined, epochUnixMillis: number): Micros {
  const end = parseTime(String(timestamp ?? ""));
  return "error" in end ? Infinity : end.seconds * 1_000_000 - epochUnixMillis * 1000;
}
