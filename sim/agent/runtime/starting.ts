/** Makes a pod's sandbox and starts its containers, in the recorded order of calls. Source: the facts, Starting. */
import type { PodSandboxConfig } from "../../../wire/cri-messages.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { AgentEvents, QosClass } from "../ports.ts";
import { type Container, type Pod, podOf, podWords } from "../pods/pod-types.ts";
import type { StartReason } from "../pods/container-statuses.ts";
import { ask } from "../client/api-task.ts";
import type { Task } from "../task.ts";
import type { BackOffs } from "./back-off.ts";
import { containerConfig, type ContainerPlaces, type NodeFacts, sandboxConfig } from "./container-config.ts";
import { containerHash } from "./container-hash.ts";
import { failureWords } from "./cri-caller.ts";
import { environment } from "./environment.ts";
import { runHook } from "./handlers.ts";
import type { ImagePulls } from "./image-pulls.ts";
import type { PullSecrets } from "./pull-secrets.ts";
import { containerNamed, type RuntimeContainer, type RuntimePod } from "./runtime-pod.ts";
import { killContainer } from "./stopping.ts";
import { ProcessWords, tooLong } from "./process-words.ts";
import { mountsOf, subPathsTaken, type VolumeContext } from "./volumes.ts";
import { allNamed, named } from "./named.ts";

export interface Starting {
  readonly volumes: VolumeContext;
  readonly node: NodeFacts;
  readonly images: ImagePulls;
  readonly pullSecrets: PullSecrets;
  readonly backOffs: BackOffs;
  readonly events: AgentEvents;
  /** As the source has it. */
  readonly object: JsonObject;
  readonly qos: QosClass;
  /** Where the pod comes from and since when, as annotations. */
  readonly seen: Readonly<Record<string, string>>;
  /** Of the API's groups: `k8s.io`. */
  readonly groupSuffix: string;
  /** Which processors and memory a container may use. */
  readonly places: (uid: string, container: string) => ContainerPlaces | undefined;
}

export interface Sandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly ips: readonly string[];
}

export function* createSandbox(starting: Starting, attempt: number): Task<Sandbox | { readonly error: string }> {
  const { object, node, qos, seen, events, volumes } = starting;
  const config = sandboxConfig(node, podOf(object), qos, attempt, seen);
  const { cri } = volumes;
  const failed = (error: string): { readonly error: string } => {
    events.pod(object, "Warning", "FailedCreatePodSandBox", `Failed to create pod sandbox: ${error}`);
    return { error };
  };
  const handler = yield* runtimeHandler(starting);
  if (typeof handler !== "string") return failed(handler.error);
  const asked = handler === "" ? { config } : { config, runtimeHandler: handler };
  const made = yield* cri.ask("RunPodSandbox", asked, 2 * cri.timeoutMicros);
  if (!made.ok) return failed(failureWords(made));
  const { podSandboxId } = made.message;
  const status = yield* cri.ask("PodSandboxStatus", { podSandboxId });
  if (!status.ok) {
    const error = `unable to get pod sandbox status: ${failureWords(status)}`;
    events.pod(object, "Warning", "FailedStatusPodSandBox", error);
    return { error };
  }
  const network = status.message.status?.network;
  const ips =
    network === undefined || network.ip === "" ? [] : [network.ip, ...network.additionalIps.map(({ ip }) => ip)];
  return { id: podSandboxId, config, ips };
}

/** What runs the pod, as its class has it; empty: what runs all others. Without a server nobody knows of classes. */
function* runtimeHandler({ object, volumes, groupSuffix }: Starting): Task<string | { readonly error: string }> {
  const { runtimeClassName: name = "" } = podOf(object).spec;
  const { api } = volumes;
  if (name === "" || api === undefined) return "";
  const group = `node.${groupSuffix}`;
  const { status, object: found } = yield* ask(api, {
    method: "GET",
    path: `/apis/${group}/v1/runtimeclasses/${encodeURIComponent(name)}`,
  });
  if (status === 200) return typeof found?.["handler"] === "string" ? found["handler"] : "";
  if (status === 404) return { error: `runtimeclass.${group} ${JSON.stringify(name)} not found` };
  return { error: `failed to lookup RuntimeClass ${name}: ${String(found?.["message"] ?? "no answer")}` };
}

/** Why it was not started, or undefined. */
export function* startContainer(
  starting: Starting,
  sandbox: Sandbox,
  container: Container,
  runtimePod: RuntimePod,
  kind: "initContainers" | "containers" | "ephemeralContainers",
): Task<StartReason | undefined> {
  const { object, node, images, events, volumes, qos, seen } = starting;
  const pod = podOf(object);
  const fieldPath = `spec.${kind}{${container.name}}`;
  const tell = (type: "Normal" | "Warning", reason: string, message: string): void =>
    events.pod(object, type, reason, message, { fieldPath });
  const failed = (reason: string, message: string): StartReason => {
    tell("Warning", "Failed", `Error: ${message}`);
    return { reason, message };
  };

  const waiting = kind === "ephemeralContainers" ? undefined : backOff(starting, pod, container, runtimePod, tell);
  if (waiting !== undefined) return waiting;

  const ensured = yield* images.ensure(pod.metadata.uid, container, seen, sandbox.config, tell, starting.pullSecrets);
  if (!("imageRef" in ensured)) {
    tell("Warning", "Failed", `Error: ${ensured.reason}`);
    return ensured;
  }
  const restartCount = yield* restartCountOf(starting, sandbox, container, containerNamed(runtimePod, container.name));
  const context = sandbox.ips.length > 0 ? { ...volumes, podIps: sandbox.ips } : volumes;
  const words = new ProcessWords();
  const variables = yield* environment(context, pod, container, words);
  if ("error" in variables)
    return failed(words.isTooLong ? "CreateContainerError" : "CreateContainerConfigError", variables.error);
  const asRoot = yield* runsAsRoot(volumes.cri, pod, container, ensured.imageRef);
  if (asRoot !== undefined) return failed("CreateContainerConfigError", asRoot);
  const hash = containerHash(container);
  const instance = (Math.imul(restartCount + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  const { envs, values } = variables;
  const mounts = mountsOf(node, pod, container, instance, values, words);
  if (typeof mounts === "string") return failed("CreateContainerConfigError", mounts);
  if (words.isTooLong) return failed("CreateContainerError", tooLong(container.name));
  const notTaken = yield* subPathsTaken(volumes, pod, container, values, words);
  if (notTaken !== undefined) return failed("CreateContainerConfigError", notTaken);
  const places = starting.places(pod.metadata.uid, container.name);
  const told = places === undefined ? {} : { places };
  const parts = { restartCount, imageRef: ensured.imageRef, hash, envs, values, mounts, words, ...told };
  const config = containerConfig(node, pod, container, qos, parts);
  if (words.isTooLong) return failed("CreateContainerError", tooLong(container.name));
  const { cri } = volumes;
  const created = yield* cri.ask("CreateContainer", {
    podSandboxId: sandbox.id,
    config,
    sandboxConfig: sandbox.config,
  });
  if (!created.ok) return failed("CreateContainerError", created.text);
  tell("Normal", "Created", `Created container: ${container.name}`);
  const { containerId } = created.message;
  const started = yield* cri.ask("StartContainer", { containerId });
  if (!started.ok) return failed("RunContainerError", started.text);
  tell("Normal", "Started", `Started container ${container.name}`);
  return yield* postStart(starting, pod, container, containerId, sandbox.ips[0] ?? "", tell);
}

/** Why a container that may not run as root would; undefined: it would not, or may. Source: the published agent's texts. */
function* runsAsRoot(
  cri: VolumeContext["cri"],
  pod: Pod,
  container: Container,
  imageRef: string,
): Task<string | undefined> {
  const wanted = (field: string) => container.securityContext?.[field] ?? pod.spec.securityContext?.[field];
  if (wanted("runAsNonRoot") !== true) return undefined;
  const where = `(pod: ${JSON.stringify(podWords(pod))}, container: ${container.name})`;
  const own = wanted("runAsUser");
  if (own !== undefined) return own === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  const answer = yield* cri.ask("ImageStatus", { image: { image: imageRef } });
  if (!answer.ok) return failureWords(answer);
  const { uid, username = "" } = answer.message.image ?? {};
  if (uid !== undefined && uid.value !== 0) return undefined;
  if (uid === undefined && username !== "")
    return `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${where}`;
  return `container has runAsNonRoot and image will run as root ${where}`;
}

export function backOffKey({ metadata: { name, namespace, uid } }: Pod, container: Container): string {
  return `${name}_${namespace}_${uid}_${container.name}_${containerHash(container)}`;
}

/** What has failed of late waits, longer each time; the first restart does not. */
function backOff(
  { backOffs, volumes }: Starting,
  pod: Pod,
  container: Container,
  runtimePod: RuntimePod,
  tell: (type: "Normal" | "Warning", reason: string, message: string) => void,
): StartReason | undefined {
  const exited = allNamed(runtimePod.containers, container.name).find(({ state }) => state === "CONTAINER_EXITED");
  if (exited === undefined) return undefined;
  const key = backOffKey(pod, container);
  const { clock } = volumes.cri.process;
  const nowMicros = clock.nowMicros();
  const finishedMicros = Math.floor(exited.finishedAt / 1000) - clock.epochUnixMillis * 1000;
  if (!backOffs.isWaiting(key, finishedMicros, nowMicros)) {
    backOffs.next(key, finishedMicros, nowMicros);
    return undefined;
  }
  tell("Warning", "BackOff", `Back-off restarting failed container ${container.name} in pod ${podWords(pod)}`);
  const seconds = Math.floor(backOffs.waitMicros(key) / 1_000_000);
  const wait = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return {
    reason: "CrashLoopBackOff",
    message: `back-off ${wait} restarting failed container=${container.name} pod=${podWords(pod)}`,
  };
}

/** One more than of the one before. Where the runtime has lost that, its logs tell how often there was one. */
function* restartCountOf(
  { volumes, object }: Starting,
  sandbox: Sandbox,
  { name }: Container,
  newest: RuntimeContainer | undefined,
): Task<number> {
  if (newest !== undefined) return newest.restartCount + 1;
  const { containerStatuses, initContainerStatuses } = podOf(object).status ?? {};
  const hasRun = [named(containerStatuses, name), named(initContainerStatuses, name)].some(
    (status) => status !== undefined && (status.containerID !== undefined || status.restartCount > 0),
  );
  // A static pod has no status that would outlive its agent.
  if (!hasRun && !volumes.isStatic) return 0;
  const listed = yield* volumes.cri.ask("ListPath", { path: `${sandbox.config.logDirectory ?? ""}/${name}` });
  let count = 0;
  for (const { name: file, directory } of listed.ok ? listed.message.entries : []) {
    const number = directory ? undefined : /^(\d{1,9})\.log/.exec(file)?.[1];
    if (number !== undefined) count = Math.max(count, Number(number) + 1);
  }
  return count;
}

function* postStart(
  starting: Starting,
  pod: Pod,
  container: Container,
  containerId: string,
  podIp: string,
  tell: (type: "Normal" | "Warning", reason: string, message: string) => void,
): Task<StartReason | undefined> {
  const hook = container.lifecycle?.postStart;
  if (hook === undefined) return undefined;
  const { cri } = starting.volumes;
  const handled = yield* runHook({ cri, container, containerId, podIp }, hook, podWords(pod));
  if (!("output" in handled)) return undefined;
  tell("Warning", "FailedPostStartHook", "PostStartHook failed");
  const target = { id: containerId, name: container.name } as RuntimeContainer;
  const options = { reason: "postStart", message: "FailedPostStartHook" } as const;
  yield* killContainer({ cri, pod, podIp, tell: (_name, ...told) => tell(...told) }, target, options);
  return { reason: "PostStartHookError", message: handled.output };
}
