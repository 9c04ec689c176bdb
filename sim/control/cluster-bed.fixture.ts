/** For tests: a server with all controllers, and nodes whose agents are puppets: what is bound runs, what is to go goes. */
import { TestBed } from "../apiserver/test-bed.fixture.ts";
import { ControlClient } from "../client/control-client.ts";
import { Reflectors } from "../client/reflectors.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { formatMicroTime } from "../../wire/time.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { Kernel, type ProcessError } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { type ClusterControllersOptions, startClusterControllers } from "./cluster-controllers.ts";
import { startScheduler } from "./scheduler/start.ts";
import { Informers } from "./shared/informers.ts";
import type { Pod } from "./shared/stored.ts";

const admin = { as: "admin" };
const schedulerRate = { intervalMicros: 20_000, burst: 100 };
export const apps = "/apis/apps/v1/namespaces/default";
export const core = "/api/v1/namespaces/default";

export interface NodeShape {
  readonly labels?: object;
  readonly allocatable?: object;
  readonly taints?: readonly object[];
}

export interface ClusterBedOptions {
  readonly nodes?: number;
  readonly shapeOf?: (node: number) => NodeShape;
  /** Who binds pods: the scheduler, or puppets by turns. Default: puppets. */
  readonly binder?: "scheduler" | "puppets" | "nobody";
  readonly controllers?: Partial<ClusterControllersOptions>;
  readonly seed?: string;
  /** Hears of exceptions; without it, they fail the run. */
  readonly caught?: (failure: ProcessError) => void;
}

export class ClusterBed {
  readonly bed: TestBed;
  /** Requests of controllers and of the scheduler, by account, method and resource; watches left out. */
  readonly requests = new Map<string, number>();
  /** Nodes that are not heard of. */
  readonly silent = new Set<string>();
  /** Pods whose containers never become ready. */
  isBroken: (pod: Pod) => boolean = () => false;
  /** What becomes of the containers of a pod; undefined: they run. */
  exitOf: (pod: Pod) => number | undefined = () => undefined;
  private readonly client: ControlClient;
  private readonly controllers: Partial<ClusterControllersOptions>;
  private readonly running = new Map<string, Process>();
  private readonly binds: boolean;
  private nodeCount = 0;
  private turn = 0;
  private address = 1;

  constructor({
    nodes = 3,
    shapeOf = () => ({}),
    binder = "puppets",
    controllers = {},
    caught,
  }: ClusterBedOptions = {}) {
    const kernelOptions = { seed: "test", ...(caught === undefined ? {} : { caught }) };
    const bed = new TestBed({ profile: kubernetesProfile }, new Kernel(kernelOptions));
    this.bed = bed;
    const { server, kernel } = bed;
    const { dialect } = kubernetesProfile;
    this.binds = binder === "puppets";
    const puppets = kernel.process("puppets");
    this.client = new ControlClient({ process: puppets, server, dialect, account: "puppets" });
    bed.advance(1);
    for (let node = 0; node < nodes; node++) this.addNode(shapeOf(node));
    kernel.enter(puppets, () => this.play());
    this.controllers = controllers;
    this.start("controllers");
    if (binder === "scheduler") this.start("scheduler");
    bed.advance(1);
  }

  /** Dies and comes again, knowing nothing. */
  restart(what: "controllers" | "scheduler"): void {
    this.running.get(what)?.crash();
    this.start(what);
  }

  private start(what: "controllers" | "scheduler"): void {
    const { kernel } = this.bed;
    const server = this.counted();
    const { dialect } = kubernetesProfile;
    const process = kernel.process(what);
    this.running.set(what, process);
    kernel.enter(process, () => {
      const { rate } = this.controllers;
      if (what === "scheduler")
        startScheduler({ process, server, dialect, ...(rate === undefined ? {} : { rate: schedulerRate }) });
      else startClusterControllers({ process, server, dialect, ...this.controllers });
    });
  }

  /** The server, with an eye on who asks what. */
  private counted(): ApiHandler {
    return {
      start: (request, responder) => {
        const account = request.headers["user-agent"]?.split("/").at(-1) ?? "";
        const [, resource = "", , subresource] =
          /\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(request.path) ?? [];
        const what = subresource === undefined ? resource : `${resource}/${subresource}`;
        const key = `${account} ${request.method} ${what}`;
        if (!request.query.startsWith("watch")) this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
        return this.bed.server.start(request, responder);
      },
    };
  }

  addNode(more: NodeShape = {}): string {
    const name = `node-${this.nodeCount++}`;
    const labels = { "kubernetes.io/hostname": name, ...more.labels };
    const taints = more.taints ?? [];
    const now = "2030-01-01T00:00:00Z";
    const allocatable = { cpu: "16", memory: "64Gi", pods: "110", ...more.allocatable };
    const ready = {
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    };
    this.make("/api/v1/nodes", { metadata: { name, labels }, spec: { taints } });
    this.merge(`/api/v1/nodes/${name}/status`, { status: { allocatable, capacity: allocatable, conditions: [ready] } });
    this.make("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {
      metadata: { name, namespace: "kube-node-lease" },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: this.microTime() },
    });
    return name;
  }

  make(path: string, body: object): JsonObject {
    const made = this.bed.ask(`POST ${path}`, { ...admin, body });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    return made.body;
  }

  merge(path: string, body: object): JsonObject {
    const answer = this.bed.merge(path, body, admin);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  }

  get(path: string): JsonObject {
    return this.bed.ask(`GET ${path}`, admin).body;
  }

  remove(path: string): number {
    return this.bed.ask(`DELETE ${path}`, admin).status;
  }

  list<Kind>(path: string): readonly Kind[] {
    return this.get(path)["items"] as unknown as readonly Kind[];
  }

  pods(): readonly Pod[] {
    return this.list<Pod>("/api/v1/pods");
  }

  reasons(): readonly string[] {
    return this.list<{ reason: string }>(`/api/v1/events`).map(({ reason }) => reason);
  }

  advance(seconds: number): void {
    this.bed.advance(seconds);
  }

  private play(): void {
    const { process } = this.client;
    const reflectors = new Reflectors(this.client);
    const pods = new Informers(reflectors).of<Pod>("/api/v1/pods");
    pods.hear({
      changed: (pod) =>
        process.clock.after(100_000, () => this.attend(pods.get(`${pod.metadata.namespace}/${pod.metadata.name}`))),
      gone: () => {},
    });
    reflectors.start();
    this.renew();
  }

  private attend(pod: Pod | undefined): void {
    if (pod === undefined) return;
    const { namespace = "", name, deletionTimestamp } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const { nodeName = "" } = pod.spec;
    if (nodeName === "") {
      if (this.binds && this.nodeCount > 0 && deletionTimestamp === undefined) {
        const target = { kind: "Node", name: `node-${this.turn++ % this.nodeCount}` };
        const body = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target };
        this.client.call({ method: "POST", path: `${path}/binding`, body }, () => {});
      }
      return;
    }
    if (this.silent.has(nodeName)) return;
    if (deletionTimestamp !== undefined) {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        gracePeriodSeconds: 0,
        preconditions: { uid: pod.metadata.uid },
      };
      this.client.call({ method: "DELETE", path, body }, () => {});
      return;
    }
    const { phase } = pod.status ?? {};
    const exit = this.exitOf(pod);
    if (phase === "Succeeded" || phase === "Failed") return;
    if (phase === "Running" && exit === undefined) return;
    this.say(
      path,
      phase === "Running" ? (exit === 0 ? "Succeeded" : "Failed") : "Running",
      !this.isBroken(pod),
      exit,
      pod,
    );
  }

  private say(path: string, phase: string, ready: boolean, exitCode: number | undefined, pod: Pod): void {
    const lastTransitionTime = this.time();
    const isReady = ready && phase === "Running";
    const condition = { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime };
    const ip = pod.status?.podIP ?? `10.0.${this.address >> 8}.${this.address++ & 255}`;
    const state =
      phase === "Running"
        ? { running: { startedAt: lastTransitionTime } }
        : { terminated: { exitCode: exitCode ?? 0, finishedAt: lastTransitionTime } };
    const containerStatuses = pod.spec.containers.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: "",
      ready: isReady,
      restartCount: 0,
      state,
    }));
    const status = { phase, podIP: ip, podIPs: [{ ip }], conditions: [condition], containerStatuses };
    const body = { metadata: { uid: pod.metadata.uid }, status } as unknown as JsonObject;
    const contentType = "application/strategic-merge-patch+json";
    this.client.call({ method: "PATCH", path: `${path}/status`, contentType, body }, () => {});
  }

  private renew(): void {
    for (let at = 0; at < this.nodeCount; at++) {
      const name = `node-${at}`;
      if (this.silent.has(name)) continue;
      const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`;
      const body = { spec: { renewTime: this.microTime() } };
      this.client.call({ method: "PATCH", path, contentType: "application/merge-patch+json", body }, () => {});
    }
    this.client.process.clock.after(8_000_000, () => this.renew());
  }

  private time(): string {
    return `${this.microTime().slice(0, 19)}Z`;
  }

  private microTime(): string {
    const { clock } = this.client.process;
    const micros = clock.epochUnixMillis * 1000 + clock.nowMicros();
    return formatMicroTime({ seconds: Math.floor(micros / 1_000_000), micros: micros % 1_000_000 });
  }
}

export const deploymentOf = (name: string, replicas: number, spec: object = {}, image = "shop:1"): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: templateOf(name, image),
    ...spec,
  },
});

export const templateOf = (name: string, image = "shop:1"): object => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: "c", image, resources: { requests: { cpu: "100m", memory: "64Mi" } } }] },
});
