/** An agent's node half over a simulated server, with a runtime and a machine that answer what they are told. */
import type { StartGuards } from "./start-guards.ts";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import type { CriAnswer, CriRequest } from "../../../wire/cri.ts";
import type { Image, MachineReadingResponse, PodSandboxStats } from "../../../wire/cri-messages.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import { noControllers } from "../../control/controllers.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile, type Profile } from "../../contract/profile.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import { type AgentBugName, agentBugsOn } from "../../planted/agent-bugs.ts";
import type { ActivePod, AgentContext, AgentOptions, ApiCaller, NodeOptions } from "../ports.ts";
import { AgentNode } from "./node-side.ts";

export const mebibyte = 2 ** 20;
const second = 1_000_000;

export interface NodeWorldOptions {
  readonly node?: Partial<NodeOptions>;
  readonly agent?: Partial<AgentOptions>;
  readonly bugs?: readonly AgentBugName[];
  readonly profile?: Profile;
  readonly images?: readonly Image[];
  readonly pods?: readonly ActivePod[];
  readonly stats?: readonly PodSandboxStats[];
  readonly swapBytes?: number;
  readonly cgroupVersion?: number;
  readonly tunables?: Readonly<Record<string, string>>;
  readonly start?: Partial<StartGuards>;
  /** Seconds until the runtime is there. */
  readonly runtimeSeconds?: number;
}

const nodeOptions: NodeOptions = {
  register: true,
  registerSchedulable: true,
  labels: {},
  taints: [],
  nodeIps: ["10.0.0.7"],
  providerId: "",
  cloudProvider: "",
  statusUpdateMicros: 10 * second,
  statusReportMicros: 300 * second,
  leaseDurationSeconds: 40,
  statusImagesMax: 50,
  podsMax: 110,
  podsPerCore: 0,
  systemReserved: {},
  serviceReserved: {},
  enforceNodeAllocatable: ["pods"],
  allocatableIgnoresEviction: false,
  servingPort: 10_250,
  controllerAttachDetach: true,
};

export function nodeWorld(options: NodeWorldOptions = {}) {
  const profile = options.profile ?? kubernetesProfile;
  const bed = new TestBed({ profile, controllers: noControllers });
  const { dialect } = profile;
  bed.ask("POST /api/v1/namespaces", { as: "admin", body: { metadata: { name: dialect.systemNamespaces.nodeLease } } });
  const requests: { readonly atMicros: number; readonly line: string }[] = [];
  const events: string[] = [];
  const failures: string[] = [];
  let cut = false;
  let reading: MachineReadingResponse = machineReading({ memoryUsed: 1024 * mebibyte });
  let listeners: (() => void)[] = [];

  function start(incarnation = "agent") {
    const process = bed.kernel.process(incarnation);
    const startedMicros = bed.kernel.nowMicros();
    const isUp = (): boolean => bed.kernel.nowMicros() - startedMicros >= (options.runtimeSeconds ?? 0) * second;
    const api = callerOver(bed, process, requests, () => cut);
    const answer = ({ method }: CriRequest): CriAnswer => {
      switch (method) {
        case "MachineInfo":
          return {
            ok: true,
            message: {
              ...machineInfo,
              swapBytes: options.swapBytes ?? 0,
              cgroupVersion: options.cgroupVersion ?? 2,
              tunables: options.tunables ?? {},
            },
          };
        case "MachineReading":
          return { ok: true, message: { ...reading, timestamp: bed.kernel.nowMicros() * 1000 } };
        case "Status":
          return { ok: true, message: runtimeStatus };
        case "ImageFsInfo":
          return {
            ok: true,
            message: {
              imageFilesystems: [{ timestamp: 1, fsId: { mountpoint: "/images" } }],
              containerFilesystems: [],
            },
          };
        case "ListImages":
          return { ok: true, message: { images: options.images ?? [] } };
        case "ListPodSandboxStats":
          return { ok: true, message: { stats: options.stats ?? [] } };
        case "PathUsage":
          return { ok: true, message: { usages: [] } };
        default:
          throw new Error(method);
      }
    };
    const runtime: CriRuntime = {
      start(request, done) {
        done(answer(request));
        return () => {};
      },
      events: () => () => {},
    };
    const agentOptions = agentOptionsOf(options);
    const rules = parseEvictionSettings(agentOptions.eviction);
    if ("error" in rules) throw new Error(rules.error);
    const context: AgentContext = {
      process,
      dialect,
      options: agentOptions,
      api,
      heartbeat: api,
      events: {
        node: (type, reason, message) => events.push(`${type} ${reason} ${message}`),
        pod: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`),
      },
      pods: {
        active: () => options.pods ?? [],
        has: () => false,
        kill: (_uid, _end, done) => void process.clock.after(0, () => done("stopped")),
        isCleanedUp: () => true,
      },
      garbage: { deleteUnused: (done) => void process.clock.after(0, done), imagesInUse: () => new Set() },
      runtime: {
        errors: () => (isUp() ? [] : ["container runtime status check may not have completed yet"]),
        networkError: () => undefined,
        version: () => (isUp() ? { name: "fake", version: "1.0" } : undefined),
        onChange: (listener) => void listeners.push(listener),
      },
    };
    const agent = new AgentNode({
      context,
      runtime,
      rules,
      bugs: agentBugsOn(options.bugs),
      agentVersion: "v1.33.3",
      negativeGraceIsPods: true,
      start: { failSwapOn: true, failCgroupV1: true, protectKernelDefaults: false, ...options.start },
      fail: (why) => failures.push(why),
    });
    bed.kernel.enter(process, () => agent.start());
    process.clock.after((options.runtimeSeconds ?? 0) * second, () => {
      for (const listener of listeners) listener();
    });
    return { process, agent };
  }

  return {
    bed,
    start,
    requests,
    events,
    failures,
    read(next: MachineReadingResponse): void {
      reading = next;
    },
    /** Between the agent and the server. */
    cut(is: boolean): void {
      cut = is;
    },
    crash(process: Process): void {
      listeners = [];
      process.crash();
    },
    run: (untilSeconds: number) => bed.kernel.run(untilSeconds * second),
    node: (): JsonObject => bed.ask("GET /api/v1/nodes/n1", { as: "admin" }).body,
    lease(): JsonObject | undefined {
      const group = `coordination.${dialect.groupSuffix}`;
      const path = `/apis/${group}/v1/namespaces/${dialect.systemNamespaces.nodeLease}/leases/n1`;
      const answer = bed.ask(`GET ${path}`, { as: "admin" });
      return answer.status === 200 ? answer.body : undefined;
    },
    /** Requests of one method to paths that end so, as times in seconds. */
    timesOf: (method: string, end: string): number[] =>
      requests
        .filter(({ line }) => line.startsWith(`${method} `) && (line.split(" ")[1] as string).endsWith(end))
        .map(({ atMicros }) => atMicros / second),
  };
}

function agentOptionsOf({ node, agent }: NodeWorldOptions): AgentOptions {
  return {
    nodeName: "n1",
    hostname: "n1.example",
    node: { ...nodeOptions, ...node },
    pods: { runtimeRequestTimeoutMicros: 120 * second, rootDir: "/pods", logsDir: "/logs" } as AgentOptions["pods"],
    sources: {} as AgentOptions["sources"],
    client: {} as AgentOptions["client"],
    eviction: { evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%" } },
    evictionMonitoringMicros: 10 * second,
    localStorageCapacityIsolation: true,
    images: {
      highThresholdPercent: 85,
      lowThresholdPercent: 80,
      ageMicrosMin: 120 * second,
      ageMicrosMax: 0,
      podInfraImage: "",
    },
    ...agent,
  };
}

function callerOver(
  bed: TestBed,
  process: Process,
  requests: { readonly atMicros: number; readonly line: string }[],
  isCut: () => boolean,
): ApiCaller {
  return {
    call({ method, path, query = "", body, contentType = "application/json" }, done) {
      requests.push({ atMicros: bed.kernel.nowMicros(), line: `${method} ${path} ${query}` });
      const headers = { accept: "application/json", authorization: "Bearer admin", "content-type": contentType };
      const finish = (status: number, object: JsonObject | undefined): void => {
        process.clock.after(1000, () => done({ status, object }));
      };
      if (isCut()) {
        finish(0, undefined);
        return;
      }
      bed.server.start(
        { method, path, query, headers, body },
        {
          respond: (status, _headers, { object }) => finish(status, object),
          open: () => {},
          frame: () => 0,
          close: () => {},
        },
      );
    },
  };
}

const machineInfo = {
  machineId: "machine",
  systemUuid: "system",
  bootId: "boot",
  kernelVersion: "6.1",
  osImage: "Linux",
  operatingSystem: "linux",
  architecture: "amd64",
  milliCpu: 4000,
  memoryBytes: 8192 * mebibyte,
  swapBytes: 0,
  pids: 1000,
  cgroupVersion: 2,
  tunables: {},
  numaNodes: 1,
  threadsPerCore: 1,
  sockets: 0,
};

const runtimeStatus = {
  status: { conditions: [] },
  info: {},
  runtimeHandlers: [{ name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
  features: { supplementalGroupsPolicy: true },
};

/** Of 8 GiB of memory, and 100 GiB of disk. */
export function machineReading({ memoryUsed = 0, diskUsed = 0 }): MachineReadingResponse {
  const capacityBytes = 102_400 * mebibyte;
  return {
    timestamp: 0,
    memory: {
      usageBytes: memoryUsed,
      workingSetBytes: memoryUsed,
      rssBytes: memoryUsed,
      availableBytes: 8192 * mebibyte - memoryUsed,
      pageFaults: 0,
      majorPageFaults: 0,
    },
    rootFilesystem: {
      mountpoint: "/",
      capacityBytes,
      availableBytes: capacityBytes - diskUsed,
      usedBytes: diskUsed,
      inodes: 1000,
      inodesFree: 900,
      inodesUsed: 100,
    },
    pids: { max: 1000, running: 100 },
  };
}
