/** For tests: a runtime whose containers do what a table says, and which remembers every call. */
import { type CriAnswer, type CriRequest, grpcCode } from "../../wire/cri.ts";
import type { ContainerConfig, PodSandboxConfig } from "../../wire/cri-messages.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";

interface Sandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly createdAt: number;
  isReady: boolean;
}

interface Container {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly createdAt: number;
  state: "CONTAINER_CREATED" | "CONTAINER_RUNNING" | "CONTAINER_EXITED";
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  cancel: Cancel;
}

/** What the container of an image does: ends after a while with a code, or runs until it is stopped. */
export interface Behaviour {
  readonly endsAfterMicros?: Micros;
  readonly exitCode?: number;
  /** How long it takes to end when it is asked to; Infinity: it does not listen. */
  readonly stopsAfterMicros?: Micros;
}

export interface Call {
  readonly atMicros: Micros;
  readonly method: string;
  readonly message: object;
}

const times: Readonly<Record<string, Micros>> = {
  RunPodSandbox: 300_000,
  CreateContainer: 50_000,
  StartContainer: 100_000,
  StopPodSandbox: 200_000,
};

export class ScriptedRuntime implements CriRuntime {
  readonly calls: Call[] = [];
  readonly images = new Map<string, Behaviour>();
  readonly containers = new Map<string, Container>();
  readonly sandboxes = new Map<string, Sandbox>();
  /** Calls that fail, until taken out. */
  readonly failing = new Map<string, string>();
  private readonly process: Process;
  private made = 0;
  private generation = 0;

  constructor(process: Process) {
    this.process = process;
  }

  events(): Cancel {
    return () => {};
  }

  start(request: CriRequest, done: (answer: CriAnswer) => void): Cancel {
    const { clock } = this.process;
    this.calls.push({ atMicros: clock.nowMicros(), method: request.method, message: request.message });
    const failure = this.failing.get(request.method);
    if (failure !== undefined) return clock.after(0, () => done({ ok: false, code: grpcCode.unknown, text: failure }));
    const handler = this.handlers[request.method];
    if (handler === undefined)
      return clock.after(0, () => done({ ok: false, code: grpcCode.unimplemented, text: request.method }));
    return clock.after(times[request.method] ?? 0, () =>
      handler(
        request.message as never,
        (message, generation) =>
          done({ ok: true, message, ...(generation === undefined ? {} : { generation }) } as CriAnswer),
        (text, code = grpcCode.notFound) => done({ ok: false, code, text }),
      ),
    );
  }

  /** Every running container of the pod's name. */
  running(pod: string): number {
    let count = 0;
    for (const { state, sandboxId } of this.containers.values()) {
      if (state === "CONTAINER_RUNNING" && this.sandboxes.get(sandboxId)?.config.metadata?.name === pod) count++;
    }
    return count;
  }

  private nanos(): number {
    const { clock } = this.process;
    return (clock.epochUnixMillis * 1000 + clock.nowMicros()) * 1000;
  }

  private readonly handlers: Readonly<
    Record<
      string,
      (
        message: never,
        done: (message: object, generation?: number) => void,
        fail: (text: string, code?: number) => void,
      ) => void
    >
  > = {
    Version: (_message, done) =>
      done({ version: "0.1.0", runtimeName: "containerd", runtimeVersion: "1", runtimeApiVersion: "v1" }),
    Status: (_message, done) =>
      done({
        status: {
          conditions: ["RuntimeReady", "NetworkReady"].map((type) => ({ type, status: true, reason: "", message: "" })),
        },
      }),
    ListPodSandbox: ({ filter }: { filter?: { labelSelector?: Record<string, string> } }, done) =>
      done(
        {
          items: [...this.sandboxes.values()]
            .filter(({ config }) => matches(config.labels, filter?.labelSelector))
            .map((each) => this.sandboxMessage(each)),
        },
        this.generation,
      ),
    ListContainers: ({ filter }: { filter?: { labelSelector?: Record<string, string> } }, done) =>
      done(
        {
          containers: [...this.containers.values()]
            .filter(({ config }) => matches(config.labels, filter?.labelSelector))
            .map((each) => this.containerMessage(each)),
        },
        this.generation,
      ),
    PodSandboxStatus: ({ podSandboxId }: { podSandboxId: string }, done, fail) => {
      const found = this.sandboxes.get(podSandboxId);
      if (found === undefined) fail("no sandbox");
      else
        done({
          status: {
            ...this.sandboxMessage(found),
            network: { ip: found.isReady ? "10.0.0.2" : "", additionalIps: [] },
          },
        });
    },
    ContainerStatus: ({ containerId }: { containerId: string }, done, fail) => {
      const found = this.containers.get(containerId);
      if (found === undefined) fail("no container");
      else done({ status: this.containerMessage(found) });
    },
    RunPodSandbox: ({ config }: { config: PodSandboxConfig }, done) => {
      const id = `s${++this.made}`;
      this.generation++;
      this.sandboxes.set(id, { id, config, createdAt: this.nanos(), isReady: true });
      done({ podSandboxId: id });
    },
    StopPodSandbox: ({ podSandboxId }: { podSandboxId: string }, done) => {
      this.generation++;
      const found = this.sandboxes.get(podSandboxId);
      if (found !== undefined) found.isReady = false;
      done({});
    },
    RemovePodSandbox: ({ podSandboxId }: { podSandboxId: string }, done) => {
      this.generation++;
      this.sandboxes.delete(podSandboxId);
      done({});
    },
    ImageStatus: ({ image }: { image: { image: string } }, done) =>
      done(
        this.images.has(image.image)
          ? { image: { id: image.image, repoTags: [image.image], repoDigests: [], size: 1 }, info: {} }
          : { info: {} },
      ),
    PullImage: (_message, _done, fail) => fail("no such image", grpcCode.unknown),
    CreateContainer: ({ podSandboxId, config }: { podSandboxId: string; config: ContainerConfig }, done) => {
      const id = `c${++this.made}`;
      this.generation++;
      this.containers.set(id, {
        id,
        sandboxId: podSandboxId,
        config,
        createdAt: this.nanos(),
        state: "CONTAINER_CREATED",
        startedAt: 0,
        finishedAt: 0,
        exitCode: 0,
        cancel: () => {},
      });
      done({ containerId: id });
    },
    StartContainer: ({ containerId }: { containerId: string }, done) => {
      const found = this.containers.get(containerId) as Container;
      this.generation++;
      found.state = "CONTAINER_RUNNING";
      found.startedAt = this.nanos();
      const { endsAfterMicros, exitCode = 0 } = this.images.get(found.config.image?.image ?? "") ?? {};
      if (endsAfterMicros !== undefined)
        found.cancel = this.process.clock.after(endsAfterMicros, () => this.end(found, exitCode));
      done({});
    },
    StopContainer: ({ containerId, timeout }: { containerId: string; timeout: number }, done) => {
      const found = this.containers.get(containerId);
      if (found === undefined || found.state !== "CONTAINER_RUNNING") return done({});
      const { stopsAfterMicros = 0, exitCode = 0 } = this.images.get(found.config.image?.image ?? "") ?? {};
      const isKilled = stopsAfterMicros > timeout * 1_000_000;
      this.process.clock.after(Math.min(stopsAfterMicros, timeout * 1_000_000), () => {
        this.end(found, isKilled ? 137 : exitCode);
        done({});
      });
    },
    RemoveContainer: ({ containerId }: { containerId: string }, done) => {
      this.generation++;
      this.containers.delete(containerId);
      done({});
    },
  };

  private end(container: Container, exitCode: number): void {
    if (container.state === "CONTAINER_EXITED") return;
    container.cancel();
    this.generation++;
    container.state = "CONTAINER_EXITED";
    container.exitCode = exitCode;
    container.finishedAt = this.nanos();
  }

  private sandboxMessage({ id, config, createdAt, isReady }: Sandbox): object {
    const { metadata, labels = {}, annotations = {} } = config;
    return {
      id,
      metadata,
      state: isReady ? "SANDBOX_READY" : "SANDBOX_NOTREADY",
      createdAt,
      labels,
      annotations,
      runtimeHandler: "",
    };
  }

  private containerMessage({
    id,
    sandboxId,
    config,
    createdAt,
    state,
    startedAt,
    finishedAt,
    exitCode,
  }: Container): object {
    const { metadata, image, labels = {}, annotations = {}, mounts = [] } = config;
    const reason = state === "CONTAINER_EXITED" ? (exitCode === 0 ? "Completed" : "Error") : "";
    const ends = {
      startedAt,
      finishedAt,
      exitCode,
      reason,
      message: "",
      logPath: "",
      stopSignal: "SIGTERM",
      imageId: "",
    };
    return {
      id,
      podSandboxId: sandboxId,
      metadata,
      image,
      imageRef: image?.image ?? "",
      state,
      createdAt,
      labels,
      annotations,
      mounts,
      ...ends,
    };
  }
}

function matches(
  labels: Readonly<Record<string, string>> = {},
  selector: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
