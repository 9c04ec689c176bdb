/**
 * A pod's volumes on the machine: directories and files made before its containers start, taken away when it is gone.
 * What fails is tried again after half a second, then after twice as long each time, two minutes and two seconds at most.
 * Source: the facts' recordings (FailedMount and its times) and the published layout of a pod's directory.
 *
 * Simplification: claims of persistent storage are not mounted; such a pod says so and waits. A plugin of others has to be in
 * its folder on the machine, and is not run: its volume is an empty directory.
 */
import type { Mount } from "../../../wire/cri-messages.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { ask } from "../client/api-task.ts";
import { type Container, type Pod, podOf } from "../pods/pod-types.ts";
import { sleep, type Task } from "../task.ts";
import { amount, type NodeFacts, podDirectory } from "./container-config.ts";
import type { CriCaller } from "./cri-caller.ts";
import { bytesOf, configOf, type EnvironmentContext, fieldOf, type ResourceField, resourceOf } from "./environment.ts";

const encoder = new TextEncoder();

const retryMicrosMin = 500_000;
const retryMicrosMax = 122_000_000;

export interface VolumeContext extends EnvironmentContext {
  readonly cri: CriCaller;
  readonly node: NodeFacts;
}

/** Until every volume is there. `failed` hears each attempt that did not work out. */
export function* mountVolumes(
  context: VolumeContext,
  object: JsonObject,
  failed: (message: string) => void,
): Task<void> {
  const pod = podOf(object);
  for (const volume of pod.spec.volumes ?? []) {
    let retryMicros = retryMicrosMin;
    for (;;) {
      const error = yield* mountVolume(context, pod, volume);
      if (error === undefined) break;
      failed(`MountVolume.SetUp failed for volume ${JSON.stringify(volume["name"])} : ${error}`);
      yield* sleep(context.cri.process.clock, retryMicros);
      retryMicros = Math.min(2 * retryMicros, retryMicrosMax);
    }
  }
}

/** Folder names by the volume's kind. */
const plugins: Readonly<Record<string, string>> = {
  emptyDir: "empty-dir",
  configMap: "configmap",
  secret: "secret",
  downwardAPI: "downward-api",
  projected: "projected",
};

function volumePath(node: NodeFacts, uid: string, volume: JsonObject): string | undefined {
  const hostPath = volume["hostPath"] as { readonly path: string } | undefined;
  if (hostPath !== undefined) return hostPath.path;
  const { driver } = (volume["flexVolume"] ?? {}) as { readonly driver?: string };
  if (driver !== undefined)
    return `${podDirectory(node, uid)}/volumes/${escapedDriver(driver)}/${String(volume["name"])}`;
  const kind = Object.keys(plugins).find((name) => volume[name] !== undefined);
  if (kind === undefined) return undefined;
  return `${podDirectory(node, uid)}/volumes/kubernetes.io~${plugins[kind]}/${String(volume["name"])}`;
}

/** `vendor/driver`, as folders are called. */
const escapedDriver = (driver: string): string => driver.replaceAll("/", "~");

/** Where the program of a driver has to be. */
function driverPath({ volumePluginDir }: NodeFacts, driver: string): string {
  return `${volumePluginDir.replace(/\/+$/, "")}/${escapedDriver(driver)}/${driver.split("/").at(-1) ?? ""}`;
}

function* mountVolume(context: VolumeContext, pod: Pod, volume: JsonObject): Task<string | undefined> {
  const path = volumePath(context.node, pod.metadata.uid, volume);
  if (path === undefined) {
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "nothing";
    return `this agent has no volumes of kind ${kind}`;
  }
  if (volume["hostPath"] !== undefined) return undefined;
  const { driver } = (volume["flexVolume"] ?? {}) as { readonly driver?: string };
  if (driver !== undefined) {
    const program = yield* context.cri.ask("ReadPath", { path: driverPath(context.node, driver) });
    if (!program.ok)
      return `failed to get Plugin from volumeSpec for volume ${JSON.stringify(volume["name"])} err=no volume plugin matched`;
    const made = yield* context.cri.ask("MakePath", { path });
    return made.ok ? undefined : made.text;
  }
  const emptyDir = volume["emptyDir"] as { readonly medium?: string; readonly sizeLimit?: string } | undefined;
  const read = emptyDir === undefined ? yield* filesOf(context, pod, volume) : { files: new Map<string, Uint8Array>() };
  if ("error" in read) return read.error;
  const limitBytes = amount(emptyDir?.sizeLimit, 0);
  const inMemory = emptyDir === undefined ? volume["secret"] !== undefined : emptyDir.medium === "Memory";
  const made = yield* context.cri.ask("MakePath", {
    path,
    ...(inMemory ? { inMemory } : {}),
    ...(inMemory && limitBytes !== undefined ? { limitBytes } : {}),
  });
  if (!made.ok) return made.text;
  for (const [name, content] of read.files) {
    const directory = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    if (directory !== "") yield* context.cri.ask("MakePath", { path: `${path}/${directory}` });
    const written = yield* context.cri.ask("WritePath", { path: `${path}/${name}`, content });
    if (!written.ok) return written.text;
  }
  return undefined;
}

type Files = { readonly files: ReadonlyMap<string, Uint8Array> } | { readonly error: string };

interface Item {
  readonly key: string;
  readonly path: string;
}

function* filesOf(context: VolumeContext, pod: Pod, volume: JsonObject): Task<Files> {
  const projected = volume["projected"] as { readonly sources?: readonly JsonObject[] } | undefined;
  const files = new Map<string, Uint8Array>();
  for (const source of projected === undefined ? [volume] : (projected.sources ?? [])) {
    const read = yield* sourceFiles(context, pod, source);
    if ("error" in read) return read;
    for (const [path, content] of read.files) files.set(path, content);
  }
  return { files };
}

function* sourceFiles(context: VolumeContext, pod: Pod, source: JsonObject): Task<Files> {
  for (const kind of ["configmap", "secret"] as const) {
    const wanted = source[kind === "configmap" ? "configMap" : "secret"] as JsonObject | undefined;
    if (wanted === undefined) continue;
    const name = String(wanted["name"] ?? wanted["secretName"] ?? "");
    const found = yield* configOf(context, kind, pod.metadata.namespace, name);
    const isOptional = wanted["optional"] === true;
    if ("error" in found) return isOptional && found.isMissing ? { files: new Map() } : { error: found.error };
    return chosen(bytesOf(kind, found.object), wanted["items"] as readonly Item[] | undefined, isOptional, name);
  }
  const downward = source["downwardAPI"] as { readonly items?: readonly JsonObject[] } | undefined;
  if (downward !== undefined) return downwardFiles(context, pod, downward.items ?? []);
  const token = source["serviceAccountToken"] as JsonObject | undefined;
  if (token !== undefined) return yield* tokenFile(context, pod, token);
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

function downwardFiles(context: VolumeContext, pod: Pod, items: readonly JsonObject[]): Files {
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

function* tokenFile(context: VolumeContext, pod: Pod, token: JsonObject): Task<Files> {
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
  const issued = (object?.["status"] as JsonObject | undefined)?.["token"];
  if (status >= 300 || typeof issued !== "string")
    return { error: `failed to fetch token: ${String(object?.["message"] ?? "no answer")}` };
  return { files: new Map([[String(token["path"]), encoder.encode(issued)]]) };
}

/** What a container mounts: its volumes, its hosts file and where it leaves its last words. */
export function mountsOf(node: NodeFacts, pod: Pod, container: Container, instance: string): readonly Mount[] | string {
  const directory = podDirectory(node, pod.metadata.uid);
  const mounts: Mount[] = [];
  for (const { name, mountPath, subPath, readOnly } of container.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((each) => each["name"] === name);
    const path = volume === undefined ? undefined : volumePath(node, pod.metadata.uid, volume);
    if (path === undefined)
      return `cannot find volume ${JSON.stringify(name)} to mount into container ${JSON.stringify(container.name)}`;
    const hostPath = subPath === undefined || subPath === "" ? path : `${path}/${subPath}`;
    mounts.push({ containerPath: mountPath, hostPath, ...(readOnly === true ? { readonly: true } : {}) });
  }
  if (pod.spec.hostNetwork !== true) mounts.push({ containerPath: "/etc/hosts", hostPath: `${directory}/etc-hosts` });
  mounts.push({
    containerPath: container.terminationMessagePath ?? "/dev/termination-log",
    hostPath: `${directory}/containers/${container.name}/${instance}`,
  });
  return mounts;
}
