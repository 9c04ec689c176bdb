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
import { sleep, type Task } from "../task.ts";
import { bytesOf, type EnvironmentContext, fieldOf, type ResourceField, resourceOf } from "./environment.ts";

const encoder = new TextEncoder();

/** A day: older tokens are asked for anew, however long they are valid. */
const tokenMicrosMax: Micros = 86_400_000_000;

/** What the volumes of one pod that are made of objects may hold together: a few references can name the same megabyte thousands of times. */
export const filesBytesMax = 64 * 1024 * 1024;

/** What it was made of: versions of objects, empty for what is not there; and until when it is good. */
export interface Origin {
  readonly seen: Map<ObjectReference, string>;
  dueMicros: Micros;
  /** How much is in its files. */
  bytes: number;
}

export const newOrigin = (): Origin => ({ seen: new Map(), dueMicros: Infinity, bytes: 0 });

export type Files = { readonly files: ReadonlyMap<string, Uint8Array> } | { readonly error: string };

interface Item {
  readonly key: string;
  readonly path: string;
}

/** At most `bytesMax` in all. */
export function* filesOf(
  context: EnvironmentContext,
  pod: Pod,
  volume: JsonObject,
  origin: Origin,
  bytesMax: number,
): Task<Files> {
  const projected = volume["projected"] as { readonly sources?: readonly JsonObject[] } | undefined;
  const files = new Map<string, Uint8Array>();
  let sinceTurn = 0;
  for (const source of projected === undefined ? [volume] : (projected.sources ?? [])) {
    const before = origin.bytes;
    const read = yield* sourceFiles(context, pod, source, origin, bytesMax);
    if ("error" in read) return read;
    for (const [path, content] of read.files) {
      origin.bytes += content.length - (files.get(path)?.length ?? 0);
      files.set(path, content);
    }
    if (origin.bytes > bytesMax) return { error: tooLarge };
    if ((sinceTurn += origin.bytes - before + fileCost * read.files.size) < bytesPerTurn) continue;
    sinceTurn = 0;
    yield* sleep(context.clock, 0);
  }
  return { files };
}

/** So much is read or compared before others have their turn: a volume may have tens of thousands of files. */
export const bytesPerTurn = 4 * 1024 * 1024;
/** What a file costs beside its bytes, in bytes. */
export const fileCost = 2_000;

const tooLarge = `volumes of the pod that are made of objects hold more than ${filesBytesMax} bytes`;

function* sourceFiles(
  context: EnvironmentContext,
  pod: Pod,
  source: JsonObject,
  origin: Origin,
  bytesMax: number,
): Task<Files> {
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
    const items = wanted["items"] as readonly Item[] | undefined;
    const keys = items === undefined ? undefined : new Set(items.map(({ key }) => key));
    const data = bytesOf(kind, found.object, keys === undefined ? undefined : (key) => keys.has(key));
    return chosen(data, items, isOptional, name);
  }
  const downward = source["downwardAPI"] as { readonly items?: readonly JsonObject[] } | undefined;
  if (downward !== undefined) return yield* downwardFiles(context, pod, downward.items ?? [], bytesMax - origin.bytes);
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

function* downwardFiles(
  context: EnvironmentContext,
  pod: Pod,
  items: readonly JsonObject[],
  bytesMax: number,
): Task<Files> {
  const files = new Map<string, Uint8Array>();
  let left = bytesMax;
  let sinceTurn = 0;
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
    const content = encoder.encode(read.value ?? "");
    if ((left -= content.length) < 0) return { error: tooLarge };
    files.set(String(item["path"]), content);
    if ((sinceTurn += content.length) < bytesPerTurn) continue;
    sinceTurn = 0;
    yield* sleep(context.clock, 0);
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
