/** A container's environment variables. Source: the published agent's rules; texts of failures as recorded. */
import { decodeBase64 } from "../../../wire/base64.ts";
import type { KeyValue } from "../../../wire/cri-messages.ts";
import { LayeredVariables } from "../../../wire/cri-variables.ts";
import { formatQuantity, parseQuantity } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Clock } from "../../kernel/types.ts";
import { getObject } from "../client/api-task.ts";
import type { Container, Pod } from "../pods/pod-types.ts";
import type { ApiCaller } from "../ports.ts";
import { sleep, type Task } from "../task.ts";
import { amount } from "./container-config.ts";
import { noLinks, type ServiceLinks, serviceLinks, type ServiceView } from "./service-variables.ts";
import { named } from "./named.ts";
import { entryLength, type ProcessWords, tooLong, type Values } from "./process-words.ts";

export interface EnvironmentContext {
  readonly clock: Clock;
  readonly api: ApiCaller | undefined;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly nodeName: string;
  /** What a resource without a limit is told as. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Of the cluster. Left out: there is no server that has any, or nobody is to be told of them. */
  readonly services?: (ServiceView & { listed(): Task<boolean> }) | undefined;
  /** From a file or a URL: it is started with the services that are known, be it none. */
  readonly isStatic?: boolean;
}

export interface Environment {
  readonly envs: Iterable<KeyValue>;
  readonly values: Values;
}

/** `words` counts them all; once they are too long, that is the error. */
export function* environment(
  context: EnvironmentContext,
  pod: Pod,
  container: Container,
  words: ProcessWords,
): Task<Environment | { readonly error: string }> {
  const links = yield* linksOf(context, pod);
  if (typeof links === "string") return { error: links };
  words.count(links.length, links.list.length);
  // References may name them; what the pod itself says goes first, and wins.
  const own = new Map<string, string>();
  const values = { get: (name: string) => own.get(name) ?? links.byName.get(name)?.value };
  if (container.env === undefined && container.envFrom === undefined) return { envs: links.list, values };
  let variables = 0;
  const set = (name: string, value: string): void => {
    const before = values.get(name);
    if (before !== undefined) words.count(-entryLength(name, before));
    words.count(entryLength(name, value));
    own.set(name, value);
  };
  const { namespace } = pod.metadata;
  for (const source of container.envFrom ?? []) {
    const prefix = (source["prefix"] as string | undefined) ?? "";
    for (const kind of ["configmap", "secret"] as const) {
      const reference = source[`${kind === "configmap" ? "configMap" : "secret"}Ref`] as Reference | undefined;
      if (reference === undefined) continue;
      const found = yield* getObject(context.api, kind, namespace, reference.name);
      if ("error" in found) {
        if (found.isMissing && reference.optional === true) continue;
        return { error: found.error };
      }
      for (const [key, value] of Object.entries(dataOf(kind, found.object))) {
        if (words.isTooLong) return { error: tooLong(container.name) };
        set(prefix + key, value);
        if (++variables % variablesPerTurn === 0) yield* sleep(context.clock, 0);
      }
    }
  }
  for (const { name, value = "", valueFrom } of container.env ?? []) {
    if (words.isTooLong) return { error: tooLong(container.name) };
    if (valueFrom === undefined) {
      set(name, words.expanded(value, values));
      continue;
    }
    const read = yield* valueOf(context, pod, container, valueFrom);
    if ("error" in read) return read;
    if (read.value !== undefined) set(name, read.value);
  }
  return {
    envs: new LayeredVariables(
      [...own].map(([key, value]) => ({ key, value })),
      links.list,
    ),
    values,
  };
}

/** So many are taken from config maps and secrets before others have their turn. */
const variablesPerTurn = 50_000;

/** What tells of services; or why that is not known. */
function* linksOf(
  { services, isStatic = false }: EnvironmentContext,
  { metadata, spec }: Pod,
): Task<ServiceLinks | string> {
  if (services === undefined) return noLinks;
  if (!isStatic && !(yield* services.listed()))
    return "services have not yet been read at least once, cannot construct envvars";
  return serviceLinks(services, metadata.namespace, spec.enableServiceLinks ?? true);
}

interface Reference {
  readonly name: string;
  readonly key?: string;
  readonly optional?: boolean;
}

type Read = { readonly value: string | undefined } | { readonly error: string };

function* valueOf(context: EnvironmentContext, pod: Pod, container: Container, from: JsonObject): Task<Read> {
  for (const kind of ["configmap", "secret"] as const) {
    const reference = from[kind === "configmap" ? "configMapKeyRef" : "secretKeyRef"] as Reference | undefined;
    if (reference === undefined) continue;
    const { name, key = "", optional = false } = reference;
    const found = yield* getObject(context.api, kind, pod.metadata.namespace, name);
    if ("error" in found) return optional && found.isMissing ? { value: undefined } : { error: found.error };
    const value = dataOf(kind, found.object)[key];
    if (value !== undefined || optional) return { value };
    const what = kind === "configmap" ? "ConfigMap" : "Secret";
    return { error: `couldn't find key ${key} in ${what} ${pod.metadata.namespace}/${name}` };
  }
  const field = from["fieldRef"] as { readonly fieldPath: string } | undefined;
  if (field !== undefined) return fieldOf(context, pod, field.fieldPath);
  const resource = from["resourceFieldRef"] as ResourceField | undefined;
  if (resource !== undefined) return resourceOf(context, pod, container, resource);
  return { error: "a variable takes its value from nothing that the agent knows" };
}

/** Of a config map or a secret, as text; a config map's binary data is no text. */
function dataOf(kind: "configmap" | "secret", object: JsonObject): Readonly<Record<string, string>> {
  if (kind === "configmap") return (object["data"] ?? {}) as Record<string, string>;
  const decoder = new TextDecoder();
  return Object.fromEntries([...bytesOf(kind, object)].map(([key, bytes]) => [key, decoder.decode(bytes)]));
}

/** Of a config map or a secret, byte for byte: what is wanted of it, by default all. */
export function bytesOf(
  kind: "configmap" | "secret",
  object: JsonObject,
  isWanted: (key: string) => boolean = () => true,
): ReadonlyMap<string, Uint8Array> {
  const encoder = new TextEncoder();
  const [text, binary] = kind === "configmap" ? ["data", "binaryData"] : [undefined, "data"];
  const fields = (name: string | undefined) =>
    Object.entries((name === undefined ? undefined : object[name]) ?? {}) as [string, string][];
  const bytes = new Map<string, Uint8Array>();
  for (const [key, value] of fields(text)) if (isWanted(key)) bytes.set(key, encoder.encode(value));
  for (const [key, value] of fields(binary)) {
    if (!isWanted(key)) continue;
    const decoded = decodeBase64(value);
    bytes.set(key, typeof decoded === "number" ? new Uint8Array() : decoded);
  }
  return bytes;
}

export function fieldOf(context: EnvironmentContext, pod: Pod, path: string): Read {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (subscript !== null) return { value: metadata[subscript[1] as "labels"]?.[subscript[2] as string] ?? "" };
  const fields: Readonly<Record<string, () => string>> = {
    "metadata.name": () => metadata.name,
    "metadata.namespace": () => metadata.namespace,
    "metadata.uid": () => metadata.uid,
    "metadata.labels": () => written(metadata.labels ?? {}),
    "metadata.annotations": () => written(metadata.annotations ?? {}),
    "spec.nodeName": () => context.nodeName,
    "spec.serviceAccountName": () => spec.serviceAccountName ?? "",
    "status.hostIP": () => context.hostIps[0] ?? "",
    "status.hostIPs": () => context.hostIps.join(","),
    "status.podIP": () => context.podIps[0] ?? "",
    "status.podIPs": () => context.podIps.join(","),
  };
  const read = Object.hasOwn(fields, path) ? fields[path] : undefined;
  return read === undefined ? { error: `unsupported fieldPath: ${path}` } : { value: read() };
}

function written(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join("\n");
}

export interface ResourceField {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

/** A limit that is not set is what the node can give; so is a request without limit, but that is 0. */
export function resourceOf(
  context: EnvironmentContext,
  pod: Pod,
  container: Container | undefined,
  field: ResourceField,
): Read {
  const { containerName, resource, divisor = "0" } = field;
  const owner =
    containerName === undefined
      ? container
      : (named(pod.spec.containers, containerName) ?? named(pod.spec.initContainers, containerName));
  if (owner === undefined) return { error: `container ${containerName ?? ""} not found` };
  const [kind, name] = [resource.slice(0, resource.indexOf(".")), resource.slice(resource.indexOf(".") + 1)];
  const { requests = {}, limits = {} } = owner.resources ?? {};
  const own = kind === "limits" ? limits[name] : (requests[name] ?? limits[name]);
  const text = own ?? (kind === "limits" ? context.allocatable[name] : undefined) ?? "0";
  const read = parseQuantity(text);
  if ("error" in read) return { error: `${resource}: ${read.error}` };
  const unit = amount(divisor, -3) || 1000;
  return { value: String(Math.ceil((amount(formatQuantity(read), -3) ?? 0) / unit)) };
}
