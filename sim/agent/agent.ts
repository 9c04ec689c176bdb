/**
 * The node agent: pods from their sources to the runtime, and what came of them to the API server. One class for a
 * simulated node and for the real process; all that differs is what it is bound to.
 * Source: document 3; the facts on the 1.33 agent where it is silent.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { formatMicroTime } from "../../wire/time.ts";
import type { ApiHandler, ApiRequest, JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { AgentApi } from "./client/agent-api.ts";
import { EventRecorder } from "./client/event-recorder.ts";
import { ObjectWatches } from "./client/object-watches.ts";
import { ServiceCache } from "./client/service-cache.ts";
import { TokenBucket } from "./client/token-bucket.ts";
import type { AgentView } from "./listener/agent-view.ts";
import { admissionLawWith } from "./planted/admission-bugs.ts";
import { backOffTimesWith } from "./planted/back-off-bugs.ts";
import { mirrorsWith } from "./planted/mirror-bugs.ts";
import { planLawWith } from "./planted/plan-bugs.ts";
import { preemptionWith } from "./planted/preemption-bugs.ts";
import { runtimeWith } from "./planted/restart-bugs.ts";
import { hearerWith, staticPodLawWith } from "./planted/source-bugs.ts";
import { statusLawWith } from "./planted/status-bugs.ts";
import { podVolumesWith, volumePartsWith } from "./planted/volume-bugs.ts";
import type { AdmissionLaw } from "./pods/admission.ts";
import { forbiddenSysctl } from "./pods/sysctls.ts";
import type { HeldPod, PodSource } from "./pods/held-pod.ts";
import { isSameWish, PodManager, type SourceHearer } from "./pods/pod-manager.ts";
import { AllocationStore } from "./pods/allocation-store.ts";
import { allocatableOf, infeasibility } from "./pods/pod-resize.ts";
import { PodSync } from "./pods/pod-sync.ts";
import { PodVolumes } from "./pods/pod-volumes.ts";
import { Probes } from "./pods/probes.ts";
import { StatusManager } from "./pods/status-manager.ts";
import { Workers } from "./pods/workers.ts";
import type { ActivePod, AgentContext, AgentOptions, NodeSide } from "./ports.ts";
import { type AgentBugs, agentBugsOn } from "../planted/agent-bugs.ts";
import { BackOffs, usualBackOff } from "./runtime/back-off.ts";
import { ControlGroups } from "./resources/control-groups.ts";
import { writeFile } from "./resources/machine-files.ts";
import { ResourceManagers } from "./resources/resource-managers.ts";
import { amount, type ContainerPlaces, type NodeFacts } from "./runtime/container-config.ts";
import { CriCaller } from "./runtime/cri-caller.ts";
import { Garbage } from "./runtime/garbage.ts";
import { Health } from "./runtime/health.ts";
import { type CredentialsReader, ImagePulls } from "./runtime/image-pulls.ts";
import { LogRotation } from "./runtime/log-rotation.ts";
import type { HostDns } from "./runtime/pod-dns.ts";
import { Relist } from "./runtime/relist.ts";
import type { VolumeContext } from "./runtime/volumes.ts";
import { startApiSource } from "./sources/api-source.ts";
import { type FilesReader, type PathWatcher, startFileSource } from "./sources/file-source.ts";
import { MirrorPods } from "./sources/mirror-pods.ts";
import type { StaticPodLaw } from "./sources/static-pod.ts";
import { startUrlSource, type UrlFetcher } from "./sources/url-source.ts";
import { groupFolder } from "./stats/system-groups.ts";
import { inPieces, later, piece, turns } from "./piece.ts";
import { run, type Task } from "./task.ts";

export interface AgentPorts {
  readonly process: Process;
  readonly dialect: Dialect;
  /** The API server as this process reaches it; undefined in standalone mode. */
  readonly server: ApiHandler | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** In process: whom the agent's certificate names. */
  readonly identity?: NonNullable<ApiRequest["clientCertificate"]>;
  readonly runtime: CriRuntime;
  /** Makes the half that answers for the node. */
  readonly nodeSide: (context: AgentContext) => NodeSide;
  /** How manifests are read; needed where there is a path or a URL. */
  readonly readFiles?: FilesReader;
  /** Tells of changes of manifests. Default: they are found at the next look. */
  readonly watchFiles?: PathWatcher | undefined;
  readonly fetchUrl?: UrlFetcher;
  /** Of registries. Default: none are known. */
  readonly credentials?: CredentialsReader;
  /** The machine's own resolver, as it is when a pod begins. Default: none is known. */
  readonly hostDns?: () => HostDns | undefined;
  /** A line for the log. Default: nobody reads it. */
  readonly warn?: (line: string) => void;
  /** The agent cannot go on as it is configured: a line that says why. Default: it throws. */
  readonly fail?: (why: string) => void;
  /** Bugs that it is told to have. Default: none. */
  readonly bugs?: AgentBugs;
  /** Between the start and the first list of the runtime. Default: drawn from a second. */
  readonly firstRelistMicros?: Micros;
}

const tickMicros: Micros = 1_000_000;
const nodePollMicros: Micros = 100_000;
const removalMicros: Micros = 10_000_000;
const removalsMax = 5;

export class Agent {
  readonly pods: PodManager;
  private readonly ports: AgentPorts;
  private readonly options: AgentOptions;
  private readonly bugs: AgentBugs;
  private readonly preempt: ReturnType<typeof preemptionWith>;
  private readonly admission: () => AdmissionLaw;
  private readonly staticPods: () => StaticPodLaw;
  /** Whom sources tell of their pods. */
  private readonly hearer: SourceHearer;
  private readonly cri: CriCaller;
  private readonly events: EventRecorder;
  private readonly api: AgentApi | undefined;
  private readonly services: ServiceCache | undefined;
  private readonly relist: Relist;
  private readonly health: Health;
  private readonly statuses: StatusManager;
  private readonly workers: Workers;
  private readonly garbage: Garbage;
  private readonly node: NodeSide;
  private readonly mirrors: MirrorPods | undefined;
  private readonly managers: ResourceManagers | undefined;
  private readonly allocations: AllocationStore | undefined;

  constructor(ports: AgentPorts, options: AgentOptions) {
    const process = inPieces(ports.process);
    this.ports = { ...ports, process };
    this.options = options;
    const { dialect } = ports;
    const { clock, prng } = process;
    const nowMicros = clock.nowMicros();
    const bugs = ports.bugs ?? agentBugsOn();
    this.bugs = bugs;
    this.preempt = preemptionWith(bugs);
    this.admission = admissionLawWith(bugs);
    this.staticPods = staticPodLawWith(bugs);
    const { apiQps, apiBurst, eventQps, eventBurst } = options.client;
    this.api = this.caller(new TokenBucket(apiQps, apiBurst, nowMicros));
    this.services = this.api === undefined ? undefined : new ServiceCache(this.api);
    const runtime = runtimeWith(bugs, { runtime: ports.runtime, process });
    this.cri = new CriCaller(process, runtime, options.pods.runtimeRequestTimeoutMicros);
    const eventApi = this.caller(new TokenBucket(eventQps, eventBurst, nowMicros));
    this.events = new EventRecorder({ process, api: eventApi, dialect, nodeName: options.nodeName });

    const delays = prng.stream("delays");
    this.relist = new Relist({
      cri: this.cri,
      delayMicros: ports.firstRelistMicros ?? delays.intInclusive(0, tickMicros - 1),
      relisted: (changes) => this.pods.relisted(changes),
      isAwaited: () => this.workers.isWaiting,
    });
    const { managers } = options;
    this.managers =
      managers === undefined
        ? undefined
        : new ResourceManagers({
            cri: this.cri,
            options,
            managers,
            held: () => (this.pods.isWhole ? this.pods.held.values() : undefined),
          });
    this.allocations = options.pods.resizes
      ? new AllocationStore(this.cri, `${options.pods.rootDir}/allocated_pods_state`, () => this.pods.held.values())
      : undefined;
    this.health = new Health(this.cri, () => this.relist.lastMicros);
    this.pods = new PodManager({
      process,
      cri: this.cri,
      events: this.events,
      sources: this.sources(),
      admit: (pod, others) =>
        this.node.admit(pod) ??
        forbiddenSysctl(pod, options.pods.allowedUnsafeSysctls) ??
        this.managers?.admit(pod) ??
        this.predicates(pod as HeldPod, others),
      changed: () => {
        if (this.pods.held.size > 0) this.services?.begin();
        this.node.podsChanged?.();
      },
      staticPods: this.staticPods,
      resize: (pod, others) => this.roomFor(pod, others),
      allocations: this.allocations,
      mirrors: () => this.mirrors,
      directoryUnused: (uid) => this.removeDirectory(uid),
    });
    this.hearer = hearerWith(bugs, this.pods);
    this.statuses = new StatusManager({
      process,
      api: this.api,
      law: statusLawWith(bugs),
      all: () => this.pods.held.values(),
    });
    this.garbage = new Garbage({
      cri: this.cri,
      limits: options.pods,
      delayMicros: delays.intInclusive(0, 60 * tickMicros),
      pods: () => this.pods.pods(),
      isDeleted: (uid) => this.pods.isRemovable(uid),
      hasEnded: (uid) => this.pods.hasEnded(uid),
      isSure: () => this.pods.isSure,
    });
    const context: AgentContext = {
      process,
      dialect,
      options,
      api: this.api,
      heartbeat: this.caller(undefined),
      events: this.events,
      pods: this.pods,
      garbage: this.pods,
      runtime: this.health,
    };
    this.node = ports.nodeSide(context);
    this.mirrors =
      this.api === undefined
        ? undefined
        : new MirrorPods({
            api: this.api,
            dialect,
            node: () => this.node.node(),
            lookAgain: () => this.pods.lookAfterMirrors(),
            mirrored: (held) => this.statuses.mirrored(held),
          });
    this.workers = this.makeWorkers();
    this.pods.workers = this.workers;
    this.pods.statuses = this.statuses;
    this.pods.garbage = this.garbage;
  }

  /** For its listeners. */
  get view(): AgentView {
    const { process, dialect } = this.ports;
    return {
      process,
      dialect,
      nodeName: this.options.nodeName,
      cri: this.cri,
      api: this.api,
      pods: () => this.pods.held.values(),
      lastLookMicros: () => this.relist.lastMicros,
    };
  }

  /** Begins; nothing is awaited. */
  start(): void {
    const { process } = this.ports;
    // One that throws is begun again, and none that has begun.
    const waiting = [
      () => this.health.start(),
      () => this.relist.start(),
      () => this.garbage.start(),
      () => this.startLogRotation(),
      () => this.node.start(),
    ];
    turns(process, "start", "the first word with the runtime", tickMicros, () =>
      run(this.greeted(), () => {
        for (; waiting[0] !== undefined; waiting.shift()) waiting[0]();
      }),
    );
    if (this.api !== undefined) this.allocations?.begin();
    this.pods.start();
    this.statuses.start();
    this.workers.start();
    const { controlGroups: groups, ownGroup } = this.options;
    if (ownGroup !== undefined)
      turns(process, "control-groups", "the agent's own group", tickMicros, () => run(this.joined(ownGroup), () => {}));
    if (groups !== undefined) {
      new ControlGroups({
        cri: this.cri,
        options: this.options,
        groups,
        allocatable: () => (this.node.node() === undefined ? undefined : this.allocatable()),
        held: () => this.pods.held.values(),
      }).start();
    }
    const { managers } = this;
    if (managers?.mustWait !== true) this.startSources();
    if (managers === undefined) return;
    let hasBegun = false;
    turns(process, "resource-managers", "the first look at the machine", tickMicros, () =>
      run(managers.begin(), (problem) => {
        if (problem !== undefined) this.fail(problem);
        else if (managers.mustWait && !hasBegun) {
          hasBegun = true;
          this.startSources();
        }
      }),
    );
  }

  /** Puts the agent itself where a flag wants it. */
  private *joined({ path, processId }: NonNullable<AgentOptions["ownGroup"]>): Task<void> {
    const isThere = yield* writeFile(this.cri, `${groupFolder(path)}/cgroup.procs`, String(processId));
    if (!isThere) this.ports.warn?.(`--nodeagent-cgroups ${path}: this machine does not take the agent into it.`);
  }

  private removeDirectory(uid: string, tries = 1): void {
    const { process } = this.ports;
    const again = (): void => {
      if (tries < removalsMax) later(process, removalMicros, () => this.removeDirectory(uid, tries + 1));
    };
    const begin = (): void => void run(this.directoryRemoved(uid), () => {});
    piece(process, "housekeeping", () => `directory of pod ${uid}`, begin, again);
  }

  /** With the last words of its containers. */
  private *directoryRemoved(uid: string): Task<void> {
    yield* this.cri.ask("RemovePath", { path: `${this.options.pods.rootDir}/pods/${uid}` });
  }

  private startLogRotation(): void {
    const { warn } = this.ports;
    new LogRotation({
      cri: this.cri,
      limits: this.options.pods,
      pods: () => this.pods.pods(),
      podsVersion: () => this.pods.podsVersion,
      ...(warn === undefined ? {} : { warn }),
    }).start();
  }

  private fail(why: string): void {
    const { fail } = this.ports;
    if (fail === undefined) throw new Error(`node ${this.options.nodeName}: ${why}`);
    fail(why);
  }

  private startSources(): void {
    this.startManifests();
    if (this.api === undefined || this.mirrors === undefined) return;
    if (this.sources().length > 1) this.awaitNode();
    startApiSource({
      api: this.api,
      nodeName: this.options.nodeName,
      mirrors: this.mirrors,
      isNodeKnown: () => this.node.node() !== undefined && this.allocations?.isRead !== false,
      replace: (objects) => this.hearer.replace("api", objects),
      changed: (object) => this.hearer.changed("api", object),
      gone: (uid) => this.hearer.gone(uid),
      mirrorChanged: (mirror, before) => this.mirrorChanged(mirror, before),
    });
  }

  /** Where no server says which addresses pods have, the flag does. */
  private *greeted(): Task<void> {
    yield* this.health.greet();
    const { podCidr } = this.options.pods;
    if (this.api === undefined && podCidr !== "")
      yield* this.cri.ask("UpdateRuntimeConfig", { runtimeConfig: { networkConfig: { podCidr } } });
  }

  private startManifests(): void {
    const { process, dialect, readFiles, watchFiles, fetchUrl, warn = () => {} } = this.ports;
    const { manifestPath, fileCheckMicros, manifestUrl, manifestUrlHeaders, httpCheckMicros } = this.options.sources;
    const { nodeName } = this.options;
    const common = (source: "file" | "http") => ({
      process,
      dialect,
      nodeName,
      law: this.staticPods,
      warn,
      replace: (pods: readonly JsonObject[]) => this.hearer.replace(source, pods),
      dropped: (pod: JsonObject) =>
        this.events.pod(
          pod,
          "Warning",
          "FailedValidation",
          `Error validating pod ${metadataOf(pod).name}: duplicate name`,
        ),
    });
    if (manifestPath !== undefined) {
      if (readFiles === undefined) throw new Error("a manifest path needs somebody who reads files");
      startFileSource({
        ...common("file"),
        path: manifestPath,
        everyMicros: fileCheckMicros,
        read: readFiles,
        watch: watchFiles,
      });
    }
    if (manifestUrl !== undefined) {
      if (fetchUrl === undefined) throw new Error("a manifest URL needs somebody who fetches it");
      const headers = manifestUrlHeaders;
      startUrlSource({ ...common("http"), url: manifestUrl, headers, everyMicros: httpCheckMicros, fetch: fetchUrl });
    }
  }

  /** Static pods begin before their node is known; as soon as it is, they get their mirrors. */
  private awaitNode(): void {
    turns(this.ports.process, "start", "wait for the node", nodePollMicros, (next) => {
      if (this.node.node() === undefined) {
        next(nodePollMicros);
        return;
      }
      for (const held of this.pods.held.values()) {
        if (!held.isStatic) continue;
        held.steady = undefined;
        this.workers.update(held);
      }
    });
  }

  private sources(): readonly PodSource[] {
    const { manifestPath, manifestUrl } = this.options.sources;
    return [
      ...(this.ports.server === undefined ? [] : ["api" as const]),
      ...(manifestPath === undefined ? [] : ["file" as const]),
      ...(manifestUrl === undefined ? [] : ["http" as const]),
    ];
  }

  private caller(bucket: TokenBucket | undefined): AgentApi | undefined {
    const { process, server, headers, identity } = this.ports;
    if (server === undefined) return undefined;
    return new AgentApi({
      process,
      server,
      headers,
      ...(identity === undefined ? {} : { identity }),
      ...(bucket === undefined ? {} : { bucket }),
    });
  }

  private makeWorkers(): Workers {
    const { process } = this.ports;
    const images = new ImagePulls(this.cri, this.options.pods, this.ports.credentials);
    const probes = new Probes({
      process,
      cri: this.cri,
      events: this.events,
      changed: (held, finding) => {
        held.probeVersion++;
        sync.probed(held, finding);
        if (held.state === "syncing") this.workers.update(held);
      },
    });
    const parts = volumePartsWith(this.bugs, { api: this.api, cri: this.cri, services: this.services });
    const volumes = (held: HeldPod): VolumeContext => ({
      ...parts,
      clock: process.clock,
      node: this.nodeFacts(),
      nodeName: this.options.nodeName,
      hostIps: this.hostIps(),
      podIps: held.status?.podIPs?.map(({ ip }) => ip) ?? [],
      allocatable: this.allocatable(),
      isStatic: held.isStatic,
    });
    const mirrors = this.mirrors === undefined ? undefined : mirrorsWith(this.bugs, this.mirrors);
    const podVolumes = new PodVolumes({
      process,
      events: this.events,
      syncFrequencyMicros: this.options.pods.syncFrequencyMicros,
      context: volumes,
      watches: this.api === undefined ? undefined : new ObjectWatches(this.api),
      lookBy: (held, micros) => this.workers.lookBy(held, micros),
    });
    const sync = new PodSync({
      process,
      cri: this.cri,
      events: this.events,
      law: planLawWith(this.bugs),
      statuses: this.statuses,
      probes,
      images,
      backOffs: new BackOffs(backOffTimesWith(this.bugs, this.options.pods.restarts ?? usualBackOff)),
      health: this.health,
      node: () => this.nodeFacts(),
      agentName: this.ports.dialect.name === "kubernetes" ? "kubelet" : "nodeagent",
      hostIps: () => this.hostIps(),
      volumes,
      podVolumes: podVolumesWith(this.bugs, podVolumes),
      seenAnnotations: (held) => this.seenAnnotations(held),
      groupSuffix: this.ports.dialect.groupSuffix,
      places: (uid, container) => this.placesOf(uid, container),
      shows: { resources: this.options.pods.resizes, allocated: this.options.pods.showsAllocated },
      resize: (held) => this.pods.resize(held),
      resized: () => this.allocations?.changed(),
      again: (held) => this.workers.update(held),
      mirror: (held) => mirrors?.ensure(held) ?? nothing(),
      isMirrored: (held) => mirrors?.isRight(held) ?? true,
    });
    return new Workers({
      process,
      sync,
      syncFrequencyMicros: this.options.pods.syncFrequencyMicros,
      lookMicros: () => this.relist.lastMicros,
      wantLook: () => this.relist.wake(),
      all: () => this.pods.held.values(),
      moved: () => this.pods.moved(),
      mustWait: (held) => held.awaitsRoom || (held.isStatic && this.pods.hasPredecessor(held)),
      isHeldUp: () => this.health.errors().length > 0,
    });
  }

  private predicates(pod: HeldPod, others: Parameters<AdmissionLaw["admissionOf"]>[2]) {
    const object = this.node.node();
    if (object === undefined) return undefined;
    const admission = this.admission().admissionOf({ object, name: this.options.nodeName }, pod, others, this.preempt);
    if (admission !== undefined && "reason" in admission) this.managers?.forget(pod.uid);
    return admission;
  }

  /** Whether a running pod may have other resources. */
  private roomFor(pod: ActivePod, others: readonly ActivePod[]) {
    const object = this.node.node();
    if (object === undefined) return undefined;
    const infeasible = infeasibility(allocatableOf(object), pod, this.options.managers);
    if (infeasible !== undefined) return infeasible;
    const name = this.options.nodeName;
    const refused = this.node.admit(pod) ?? this.admission().admissionOf({ object, name }, pod, others, this.preempt);
    if (refused === undefined || "victims" in refused) return refused;
    return { reason: "Deferred", message: refused.message } as const;
  }

  private placesOf(uid: string, container: string): ContainerPlaces | undefined {
    const { managers } = this;
    if (managers === undefined) return undefined;
    return { ...managers.resourcesOf(uid, container), isFreeOfQuota: managers.isFreeOfQuota(uid, container) };
  }

  /** A mirror came, changed or went: its pod is looked at, or the mirror goes as well. Its status alone is what was told. */
  private mirrorChanged(mirror: JsonObject, before?: JsonObject): void {
    const { name, namespace, uid, resourceVersion } = metadataOf(mirror);
    const known = before === undefined ? undefined : metadataOf(before);
    const isLater = known?.uid === uid && known?.resourceVersion !== resourceVersion;
    if (before !== undefined && isLater && isSameWish(before, mirror)) return;
    const held = this.pods.staticNamed(`${name}_${namespace}`);
    if (held !== undefined) {
      if (this.mirrors?.isRight(held) !== true) held.steady = undefined;
      this.workers.update(held);
    } else this.pods.lookAfterMirrors();
  }

  private nodeFacts(): NodeFacts {
    const { rootDir, logsDir, clusterDns, clusterDomain, kernel, volumePluginDir } = this.options.pods;
    const capacity = (this.nodeStatus()["capacity"] ?? {}) as Readonly<Record<string, string>>;
    const memoryCapacityBytes = amount(capacity["memory"], 0) ?? 0;
    const hostDns = this.ports.hostDns?.();
    return { rootDir, logsDir, volumePluginDir, clusterDns, clusterDomain, memoryCapacityBytes, kernel, hostDns };
  }

  private nodeStatus(): JsonObject {
    return (this.node.node()?.["status"] ?? {}) as JsonObject;
  }

  private allocatable(): Readonly<Record<string, string>> {
    return (this.nodeStatus()["allocatable"] ?? {}) as Readonly<Record<string, string>>;
  }

  private hostIps(): readonly string[] {
    const addresses = (this.nodeStatus()["addresses"] ?? []) as readonly { type: string; address: string }[];
    return addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  }

  private seenAnnotations(held: HeldPod): Readonly<Record<string, string>> {
    const { labelSuffix } = this.ports.dialect;
    const { epochUnixMillis } = this.ports.process.clock;
    const unixMicros = epochUnixMillis * 1000 + held.seenMicros;
    const seconds = Math.floor(unixMicros / 1_000_000);
    const seen = formatMicroTime({ seconds, micros: unixMicros - seconds * 1_000_000 });
    return { [`${labelSuffix}/config.seen`]: seen, [`${labelSuffix}/config.source`]: held.source };
  }
}

function* nothing(): Task<void> {}
