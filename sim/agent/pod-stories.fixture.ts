/**
 * Random lives of a node's pods, and what must hold of every one of them, whoever runs them: pods come from the API server
 * and from manifests, are deleted, evicted and changed; mirrors are deleted; the agent dies and comes back, now and then to
 * a server that does not answer.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { type AgentBugName } from "../planted/agent-bugs.ts";
import { amount } from "./runtime/container-config.ts";
import type { Resources } from "./pods/allocation.ts";
import { AgentWorld, pods, type WorldMore } from "./agent-world.fixture.ts";
import { defaultAgentOptions } from "./agent-options.ts";
import { ResizingMachine } from "./resizing-machine.fixture.ts";

export const images = {
  "serves:1": { stopsAfterMicros: 500_000 },
  "slow:1": { stopsAfterMicros: 8_000_000 },
  "fails:1": { endsAfterMicros: 2_000_000, exitCode: 1 },
  "done:1": { endsAfterMicros: 4_000_000 },
} as const;

export type Image = keyof typeof images;
export type Step =
  | { readonly is: "manifest"; readonly name: string; readonly image: Image; readonly never: boolean }
  | { readonly is: "no manifest" | "delete mirror" | "end mirror"; readonly name: string }
  /** It is taken away, and put back as it was when that was noticed. */
  | { readonly is: "put back"; readonly name: string; readonly image: Image }
  /** The name goes to another pod at once. */
  | { readonly is: "replace"; readonly name: string; readonly image: Image }
  | {
      readonly is: "create";
      readonly name: string;
      readonly image: Image;
      readonly never: boolean;
      readonly milliCpu: number;
    }
  | { readonly is: "delete" | "force" | "evict"; readonly name: string }
  | { readonly is: "resize"; readonly name: string; readonly milliCpu: number }
  | { readonly is: "restart"; readonly seconds: number; readonly awaySeconds: number }
  /** What is created or deleted while the agent is down. */
  | { readonly is: "down"; readonly meanwhile: readonly Step[] };

export interface PodStory {
  readonly steps: readonly { readonly step: Step; readonly waitSeconds: number }[];
}

/** Until a manifest's end is noticed, and its containers have ended. */
const goneSecondsMax = 25;

/** How long a manifest takes to be read, a pod to end and whatever was begun to settle. */
const settleSeconds = 75;

/** What is wrong with the node that lives this story; undefined when nothing is. */
export function wrongWith({ steps }: PodStory, bug?: AgentBugName): string | undefined {
  const teller = new Teller(bug);
  for (const { step: each, waitSeconds } of steps) {
    teller.take(each);
    teller.run(waitSeconds);
  }
  teller.run(settleSeconds);
  return teller.wrong ?? teller.wrongAtTheEnd();
}

class Teller {
  wrong: string | undefined;
  private readonly manifests = new Map<string, string>();
  private readonly world: AgentWorld;
  private readonly ended = new Map<string, string>();
  private readonly hasRun = new Set<string>();
  private readonly mirrorUids = new Map<string, Set<string>>();
  /** By manifest: since when it runs though it is gone, with an agent that knew it. */
  private readonly goneSeconds = new Map<string, number>();
  /** By mirror: how often there was a reason for a new one. */
  private readonly reasons = new Map<string, number>();

  constructor(bug: AgentBugName | undefined) {
    const { manifests } = this;
    const sources = { ...defaultAgentOptions("n1").sources, manifestPath: "/m", fileCheckMicros: 4_000_000 };
    const bugs = bug === undefined ? [] : [bug];
    const machine = new ResizingMachine();
    const around: WorldMore["around"] = (inner, process) => machine.around(inner, process);
    this.world = new AgentWorld({ sources }, 700_000, { manifests, bugs, around });
    for (const [name, behaviour] of Object.entries(images)) this.world.runtime.images.set(name, behaviour);
    this.world.run(3);
  }

  run(seconds: number): void {
    for (let passed = 0; passed < seconds; passed++) {
      this.world.run(1);
      this.wrong ??= this.wrongNow();
    }
  }

  take(step: Step): void {
    const { world, manifests } = this;
    switch (step.is) {
      case "manifest":
        manifests.set(`${step.name}.json`, JSON.stringify(podOf(step.name, step.image, step.never, 0)));
        this.expectMirror(step.name);
        return;
      case "no manifest":
        manifests.delete(`${step.name}.json`);
        this.expectMirror(step.name);
        return;
      case "put back": {
        const text = JSON.stringify(podOf(step.name, step.image, false, 0));
        manifests.set(`${step.name}.json`, text);
        this.run(8);
        manifests.delete(`${step.name}.json`);
        this.run(5);
        manifests.set(`${step.name}.json`, text);
        this.expectMirror(step.name);
        this.expectMirror(step.name);
        return;
      }
      case "replace":
        this.ask("POST", undefined, podOf(step.name, step.image, false, 0, "n1"));
        this.run(5);
        this.ask("DELETE", step.name, 0);
        this.ask("POST", undefined, podOf(step.name, "slow:1", false, 0, "n1"));
        return;
      case "delete mirror":
      case "end mirror":
        this.ask("DELETE", `${step.name}-n1`, step.is === "end mirror" ? 30 : 0);
        this.expectMirror(step.name);
        return;
      case "create":
        this.ask("POST", undefined, podOf(step.name, step.image, step.never, step.milliCpu, "n1"));
        return;
      case "delete":
      case "force":
        this.ask("DELETE", step.name, step.is === "force" ? 0 : 10);
        return;
      case "resize": {
        const body = { spec: { containers: [{ name: "c", resources: { requests: { cpu: `${step.milliCpu}m` } } }] } };
        const headers = { "content-type": "application/strategic-merge-patch+json" };
        world.bed.ask(`PATCH ${pods}/${step.name}/resize`, { as: "admin", body, headers });
        return;
      }
      case "evict": {
        const { uid } = metadataOf(this.world.get(step.name));
        if (uid === undefined) return;
        const end = { reason: "Evicted", message: "The node was low on resource: memory. ", graceSeconds: 1 };
        world.agent.pods.kill(uid, end, () => {});
        return;
      }
      case "restart":
        for (const name of ["a", "b"]) this.expectMirror(name);
        world.restart(step.seconds, step.awaySeconds);
        return;
      case "down":
        for (const name of ["a", "b"]) this.expectMirror(name);
        world.restart(2, 0, () => {
          for (const each of step.meanwhile) this.take(each);
        });
    }
  }

  private expectMirror(name: string): void {
    this.reasons.set(`${name}-n1`, (this.reasons.get(`${name}-n1`) ?? 0) + 1);
  }

  private ask(method: "POST" | "DELETE", name: string | undefined, body: JsonObject | number): void {
    const sent =
      typeof body === "number" ? { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: body } : body;
    this.world.bed.ask(`${method} ${pods}${name === undefined ? "" : `/${name}`}`, { as: "admin", body: sent });
  }

  private objects(): readonly JsonObject[] {
    return this.world.bed.ask(`GET ${pods}`, { as: "admin" }).object?.["items"] as readonly JsonObject[];
  }

  private running(): readonly { readonly uid: string; readonly pod: string; readonly container: string }[] {
    const { containers, sandboxes } = this.world.runtime;
    return [...containers.values()].flatMap(({ state, sandboxId, config }) => {
      const metadata = sandboxes.get(sandboxId)?.config.metadata;
      if (state !== "CONTAINER_RUNNING" || metadata === undefined) return [];
      return [{ uid: metadata.uid ?? "", pod: metadata.name ?? "", container: config.metadata?.name ?? "" }];
    });
  }

  /** What holds at every moment. */
  private wrongNow(): string | undefined {
    const running = this.running();
    const seen = new Map<string, string>();
    for (const { uid, pod, container } of running) {
      const other = seen.get(`${pod}/${container}`);
      // A pod that was deleted by force may be survived by its containers for a while.
      if (other !== undefined && (other === uid || pod.endsWith("-n1")))
        return `two instances of ${pod}/${container} run`;
      seen.set(`${pod}/${container}`, uid);
    }
    for (const name of ["a", "b"]) {
      const goesOn = !this.manifests.has(`${name}.json`) && running.some(({ pod }) => pod === `${name}-n1`);
      const seconds = goesOn && this.isKnown(name) ? (this.goneSeconds.get(name) ?? 0) + 1 : 0;
      this.goneSeconds.set(name, seconds);
      if (seconds > goneSecondsMax) return `${name} goes on for ${seconds} s without a manifest`;
    }
    for (const object of this.objects()) {
      const { uid = "", name = "" } = metadataOf(object);
      const status = (object["status"] ?? {}) as Status;
      const isMirror = name.endsWith("-n1");
      const ended = this.ended.get(uid);
      if (ended !== undefined && ended !== status.phase) return `${name} was ${ended} and is ${status.phase}`;
      const isEnd = status.phase === "Failed" || status.phase === "Succeeded";
      if (isEnd && !isMirror) {
        this.ended.set(uid, status.phase as string);
        if (running.some((each) => each.uid === uid)) return `${name} is ${status.phase}, and a container of it runs`;
      }
      if (status.phase === "Running") this.hasRun.add(uid);
      if (this.hasRun.has(uid) && status.message?.startsWith("Pod was rejected") === true) {
        return `${name} ran, and was rejected: ${status.reason}`;
      }
      if (!isMirror && this.isForeign(uid, status)) return `${name} is told the status of another pod`;
      if (isMirror) {
        const uids = this.mirrorUids.get(name) ?? new Set();
        this.mirrorUids.set(name, uids.add(uid));
        if (uids.size > 1 + (this.reasons.get(name) ?? 0)) return `${name} has had ${uids.size} mirrors`;
      }
    }
    return undefined;
  }

  /** The agent holds it: what ran before an agent began is not touched until every source has told what it has. */
  private isKnown(name: string): boolean {
    return [...this.world.agent.pods.held.values()].some((held) => held.name === `${name}-n1`);
  }

  /** Containers in the status that ran in a sandbox of another pod. */
  private isForeign(uid: string, { containerStatuses = [] }: Status): boolean {
    const { containers, sandboxes } = this.world.runtime;
    return containerStatuses.some(({ containerID = "" }) => {
      const container = containers.get(containerID.replace(/^.*:\/\//, ""));
      const owner = container === undefined ? undefined : sandboxes.get(container.sandboxId)?.config.metadata?.uid;
      return owner !== undefined && owner !== uid;
    });
  }

  /** What holds once nothing was asked for a while. */
  wrongAtTheEnd(): string | undefined {
    const objects = this.objects();
    const running = this.running();
    for (const name of ["a", "b"]) {
      const text = this.manifests.get(`${name}.json`);
      const mirror = objects.find((object) => metadataOf(object).name === `${name}-n1`);
      if (text === undefined) {
        if (running.some(({ pod }) => pod === `${name}-n1`)) return `${name} runs without a manifest`;
        if (mirror !== undefined) return `${name} has a mirror and no manifest`;
        continue;
      }
      const { spec } = JSON.parse(text) as { spec: { restartPolicy: string; containers: { image: string }[] } };
      const image = spec.containers[0]?.image as Image;
      const mayHaveEnded = spec.restartPolicy === "Never" && "endsAfterMicros" in images[image];
      if (!mayHaveEnded && mirror === undefined) return `${name} has no mirror`;
      if (!mayHaveEnded && metadataOf(mirror ?? {}).deletionTimestamp !== undefined)
        return `the mirror of ${name} is being deleted for ever`;
      if (!("endsAfterMicros" in images[image]) && !running.some(({ pod }) => pod === `${name}-n1`))
        return `${name} has a manifest and does not run`;
    }
    const wrongSize = wrongSizes(objects);
    if (wrongSize !== undefined) return wrongSize;
    for (const object of objects) {
      const { uid = "", name = "", deletionTimestamp } = metadataOf(object);
      if (name.endsWith("-n1")) continue;
      if (deletionTimestamp !== undefined) return `${name} is being deleted for ever`;
      const status = (object["status"] ?? {}) as Status;
      if (status.phase === "Pending") return `${name} waits for ever`;
      const { containers } = object["spec"] as unknown as { containers: { image: Image }[] };
      const serves = !("endsAfterMicros" in images[containers[0]?.image as Image]);
      if (status.phase === "Running" && serves && !running.some((each) => each.uid === uid))
        return `${name} is told to run, and does not`;
    }
    const uids = new Set(objects.map((object) => metadataOf(object).uid));
    const stray = running.find(({ uid, pod }) => !pod.endsWith("-n1") && !uids.has(uid));
    return stray === undefined ? undefined : `${stray.pod} runs, and was deleted`;
  }
}

/** What the node of a story has, in thousandths of a processor. */
const milliCpuMax = 2000;

/** Running containers have what they ask for, or it is said why not; and together no more than there is. */
function wrongSizes(objects: readonly JsonObject[]): string | undefined {
  let total = 0;
  for (const object of objects) {
    const { name = "" } = metadataOf(object);
    const { containerStatuses: [told] = [], conditions = [] } = (object["status"] ?? {}) as Status;
    if (told?.state?.running === undefined) continue;
    const { containers } = object["spec"] as unknown as { containers: { resources?: Resources }[] };
    const [asked, has] = [milliOf(containers[0]?.resources), milliOf(told.resources)];
    const isPending = conditions.some(({ type }) => type === "PodResizePending");
    if (conditions.some(({ type }) => type === "PodResizeInProgress")) return `${name} is resized for ever`;
    if (asked !== has && !isPending) return `${name} asks for ${asked}, has ${has}, and nothing is said of it`;
    if (asked === has && isPending) return `${name} has what it asks for, and is told to wait`;
    total += has;
  }
  return total > milliCpuMax ? `${total} are given` : undefined;
}

const milliOf = (resources: Resources | undefined): number => amount(resources?.requests?.["cpu"], -3) ?? 0;

interface Status {
  readonly conditions?: readonly { readonly type: string }[];
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly containerStatuses?: readonly {
    readonly containerID?: string;
    readonly state?: { readonly running?: object };
    readonly resources?: Resources;
  }[];
}

function podOf(name: string, image: Image, never: boolean, milliCpu: number, nodeName?: string): JsonObject {
  const resources: JsonObject = milliCpu === 0 ? {} : { requests: { cpu: `${milliCpu}m` } };
  const spec: Record<string, Json> = {
    restartPolicy: never ? "Never" : "Always",
    terminationGracePeriodSeconds: 10,
    containers: [{ name: "c", image, imagePullPolicy: "IfNotPresent", resources }],
  };
  if (nodeName !== undefined) spec["nodeName"] = nodeName;
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}
