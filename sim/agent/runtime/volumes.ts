/**
 * A pod's volumes on the machine: directories and files made before its containers start, taken away when it is gone. Those that
 * are made of objects follow them: all files of a volume change at once. What fails is tried again after half a second, then after
 * twice as long each time, two minutes and two seconds at most.
 * Source: the facts' recordings (FailedMount and its times) and the published layout of a pod's directory.
 *
 * Simplification: claims of persistent storage are not mounted; such a pod says so and waits. A plugin of others has to be in
 * its folder on the machine, and is not run: its volume is an empty directory. Files lie in a volume's directory itself, which
 * is exchanged as a whole; the published agent leaves it and exchanges a link in it.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Mount } from "../../../wire/cri-messages.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Clock } from "../../kernel/types.ts";
import { type Container, type Pod, podOf, type VolumeMount } from "../pods/pod-types.ts";
import { sleep, type Task } from "../task.ts";
import { amount, type NodeFacts, podDirectory } from "./container-config.ts";
import type { ProcessWords, Values } from "./process-words.ts";
import type { CriCaller } from "./cri-caller.ts";
import type { EnvironmentContext } from "./environment.ts";
import { bytesPerTurn, fileCost, filesBytesMax, filesOf, newOrigin, type Origin } from "./volume-files.ts";
import { type Named, named } from "./named.ts";

const encoder = new TextEncoder();

const retryMicrosMin = 500_000;
const retryMicrosMax = 122_000_000;

export interface VolumeContext extends EnvironmentContext {
  readonly cri: CriCaller;
  readonly node: NodeFacts;
}

/** A volume that is made of objects, as it lies on the machine. */
export interface MadeVolume extends Origin {
  /** Of its files' names and content. */
  readonly digest: string;
}

/** By the volume's name. */
export type MadeVolumes = Map<string, MadeVolume>;

/** Until every volume is there. `failed` hears each attempt that did not work out; `made` gets those that follow objects. */
export function* mountVolumes(
  context: VolumeContext,
  object: JsonObject,
  made: MadeVolumes,
  failed: (message: string) => void,
): Task<void> {
  const pod = podOf(object);
  for (const volume of pod.spec.volumes ?? []) yield* mounted(context, pod, volume, made, failed);
}

/** Makes anew what follows objects. What cannot be made stays as it was, and is tried again. */
export function* remakeVolumes(
  context: VolumeContext,
  object: JsonObject,
  made: MadeVolumes,
  failed: (message: string) => void,
): Task<void> {
  const pod = podOf(object);
  for (const volume of pod.spec.volumes ?? []) {
    if (followsObjects(volume)) yield* mounted(context, pod, volume, made, failed);
  }
}

function* mounted(
  context: VolumeContext,
  pod: Pod,
  volume: JsonObject,
  made: MadeVolumes,
  failed: (message: string) => void,
): Task<void> {
  let retryMicros = retryMicrosMin;
  for (;;) {
    const error = yield* mountVolume(context, pod, volume, made);
    if (error === undefined) return;
    failed(`MountVolume.SetUp failed for volume ${JSON.stringify(volume["name"])} : ${error}`);
    yield* sleep(context.cri.process.clock, retryMicros);
    retryMicros = Math.min(2 * retryMicros, retryMicrosMax);
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
  return [podDirectory(node, uid), "volumes", `kubernetes.io~${plugins[kind]}`, volume["name"]].join("/");
}

/** `vendor/driver`, as folders are called. */
const escapedDriver = (driver: string): string => driver.replaceAll("/", "~");

/** Where the program of a driver has to be. */
function driverPath({ volumePluginDir }: NodeFacts, driver: string): string {
  return `${volumePluginDir.replace(/\/+$/, "")}/${escapedDriver(driver)}/${driver.split("/").at(-1) ?? ""}`;
}

function* mountVolume(
  context: VolumeContext,
  pod: Pod,
  volume: JsonObject,
  made: MadeVolumes,
): Task<string | undefined> {
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
    return yield* directoryMade(context.cri, path);
  }
  const emptyDir = volume["emptyDir"] as { readonly medium?: string; readonly sizeLimit?: string } | undefined;
  if (emptyDir === undefined) return yield* followingMade(context, pod, volume, path, made);
  const limitBytes = amount(emptyDir.sizeLimit, 0);
  const inMemory = emptyDir.medium === "Memory";
  return yield* directoryMade(context.cri, path, {
    ...(inMemory ? { inMemory } : {}),
    ...(inMemory && limitBytes !== undefined ? { limitBytes } : {}),
  });
}

function* directoryMade(cri: CriCaller, path: string, more: object = {}): Task<string | undefined> {
  const made = yield* cri.ask("MakePath", { path, ...more });
  return made.ok ? undefined : made.text;
}

/** Its files are written beside it, and take its place together: whoever reads sees the old ones or the new ones. */
function* followingMade(
  context: VolumeContext,
  pod: Pod,
  volume: JsonObject,
  path: string,
  made: MadeVolumes,
): Task<string | undefined> {
  const { cri } = context;
  const origin = newOrigin();
  const name = String(volume["name"]);
  let left = filesBytesMax;
  for (const [other, { bytes }] of made) if (other !== name) left -= bytes;
  const read = yield* filesOf(context, pod, volume, origin, left);
  if ("error" in read) return read.error;
  const digest = yield* digestOf(context.clock, read.files);
  if (made.get(name)?.digest !== digest) {
    const cut = path.lastIndexOf("/") + 1;
    const beside = `${path.slice(0, cut)}..${path.slice(cut)}`;
    const inMemory = volume["secret"] !== undefined;
    yield* cri.ask("RemovePath", { path: beside });
    const failure =
      (yield* directoryMade(cri, beside, inMemory ? { inMemory } : {})) ?? (yield* written(cri, beside, read.files));
    if (failure !== undefined) return failure;
    const exchanged = yield* cri.ask("RenamePath", { from: beside, to: path, exchange: true });
    if (!exchanged.ok) return exchanged.text;
    yield* cri.ask("RemovePath", { path: beside });
  }
  made.set(name, { ...origin, digest });
  return undefined;
}

function* written(cri: CriCaller, path: string, files: ReadonlyMap<string, Uint8Array>): Task<string | undefined> {
  for (const [name, content] of files) {
    const directory = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    if (directory !== "") yield* cri.ask("MakePath", { path: `${path}/${directory}` });
    const answer = yield* cri.ask("WritePath", { path: `${path}/${name}`, content });
    if (!answer.ok) return answer.text;
  }
  return undefined;
}

function* digestOf(clock: Clock, files: ReadonlyMap<string, Uint8Array>): Task<string> {
  const parts: string[] = [];
  let sinceTurn = 0;
  for (const [name, content] of files) {
    parts.push(`${name} ${content.length} ${bytesToHex(sha256(content))}`);
    sinceTurn += content.length + fileCost;
    if (sinceTurn < bytesPerTurn) continue;
    sinceTurn = 0;
    yield* sleep(clock, 0);
  }
  return bytesToHex(sha256(encoder.encode(parts.join("\n"))));
}

/** Made of objects, and made anew when they change. */
const followsObjects = (volume: JsonObject): boolean =>
  ["configMap", "secret", "downwardAPI", "projected"].some((kind) => volume[kind] !== undefined);

/**
 * What a container mounts of a volume by `subPath` stays as it is when the volume changes: it is taken as it is now. `undefined`:
 * it is there; a string: why it is not.
 */
export function* subPathsTaken(
  { cri, node }: VolumeContext,
  pod: Pod,
  container: Container,
  values: Values,
  words: ProcessWords,
): Task<string | undefined> {
  for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumeNamed(pod, mount.name);
    const inside = subPathOf(mount, values, words);
    if (inside === "" || volume === undefined || !followsObjects(volume)) continue;
    const path = volumePath(node, pod.metadata.uid, volume) ?? "";
    const to = takenPath(node, pod, container, mount, at);
    yield* cri.ask("RemovePath", { path: to });
    const failure = yield* copied(cri, `${path}/${inside}`, to, copyDepthMax);
    if (failure !== undefined)
      return `failed to prepare subPath for volumeMount ${JSON.stringify(mount.name)} of container ${JSON.stringify(container.name)}: ${failure}`;
  }
  return undefined;
}

const copyDepthMax = 32;

/** A directory or a file; what is not there is an empty directory. */
function* copied(cri: CriCaller, from: string, to: string, depth: number): Task<string | undefined> {
  const file = yield* cri.ask("ReadPath", { path: from });
  if (file.ok) {
    yield* cri.ask("MakePath", { path: to.slice(0, to.lastIndexOf("/")) });
    const answer = yield* cri.ask("WritePath", { path: to, content: file.message.content });
    return answer.ok ? undefined : answer.text;
  }
  const failure = yield* directoryMade(cri, to);
  const listed = yield* cri.ask("ListPath", { path: from });
  if (failure !== undefined || !listed.ok || depth === 0) return failure;
  for (const { name } of listed.message.entries) {
    const inner = yield* copied(cri, `${from}/${name}`, `${to}/${name}`, depth - 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

const takenPath = (node: NodeFacts, pod: Pod, container: Container, { name }: VolumeMount, at: number): string =>
  `${podDirectory(node, pod.metadata.uid)}/volume-subpaths/${name}/${container.name}/${at}`;

/** Variables may be in it; empty: the whole volume. */
const subPathOf = ({ subPath = "", subPathExpr = "" }: VolumeMount, values: Values, words: ProcessWords): string =>
  subPathExpr === "" ? subPath : words.expand(subPathExpr, values);

/** What a container mounts: its volumes, its hosts file and where it leaves its last words. A string: why it cannot. */
export function mountsOf(
  node: NodeFacts,
  pod: Pod,
  container: Container,
  instance: string,
  values: Values,
  words: ProcessWords,
): readonly Mount[] | string {
  const directory = podDirectory(node, pod.metadata.uid);
  const mounts: Mount[] = [];
  for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
    const { name, mountPath, readOnly } = mount;
    const volume = volumeNamed(pod, name);
    const path = volume === undefined ? undefined : volumePath(node, pod.metadata.uid, volume);
    if (volume === undefined || path === undefined)
      return `cannot find volume ${JSON.stringify(name)} to mount into container ${JSON.stringify(container.name)}`;
    const inside = subPathOf(mount, values, words);
    if (inside.split("/").includes("..") || inside.startsWith("/"))
      return `subPath ${JSON.stringify(inside)} must be a relative path without "..": it names what is in the volume`;
    const follows = followsObjects(volume);
    const hostPath = inside === "" ? path : follows ? takenPath(node, pod, container, mount, at) : `${path}/${inside}`;
    // Nobody but the agent writes what follows objects.
    mounts.push({ containerPath: mountPath, hostPath, ...(readOnly === true || follows ? { readonly: true } : {}) });
  }
  if (pod.spec.hostNetwork !== true)
    mounts.push({ containerPath: "/etc/hosts", hostPath: [directory, "etc-hosts"].join("/") });
  mounts.push({
    containerPath: container.terminationMessagePath ?? "/dev/termination-log",
    hostPath: [directory, "containers", container.name, instance].join("/"),
  });
  return mounts;
}

const volumeNamed = ({ spec: { volumes } }: Pod, name: string): JsonObject | undefined =>
  named(volumes as readonly (JsonObject & Named)[] | undefined, name);
