/**
 * What a 1.33 agent asks of its runtime, one request of each kind as recorded, and the fields of containerd's answers that it
 * reads: the runtime has to give each of them. The cluster's own addresses and identifiers are made short.
 */
import { describe, expect, it } from "vitest";
import type { CriMethod, CriRequestOf } from "../../wire/cri.ts";
import { RuntimeBench } from "./runtime.fixture.ts";

const podLabels = {
  "io.kubernetes.pod.name": "p1",
  "io.kubernetes.pod.namespace": "default",
  "io.kubernetes.pod.uid": "uid-1",
};
const podAnnotations = {
  "kubernetes.io/config.source": "api",
  "kubernetes.io/config.seen": "2026-11-22T08:33:30.135738584Z",
};
const namespaceOptions = { pid: "CONTAINER", usernsOptions: { mode: "NODE" } } as const;
const sandboxConfig = {
  metadata: { name: "p1", uid: "uid-1", namespace: "default" },
  hostname: "p1",
  logDirectory: "/var/log/pods/default_p1_uid-1",
  dnsConfig: { servers: ["127.0.0.1"], searches: ["."] },
  labels: podLabels,
  annotations: podAnnotations,
  linux: {
    cgroupParent: "/kubepods/besteffort/poduid-1",
    securityContext: { namespaceOptions, seccomp: {} },
    overhead: {},
    resources: { cpuPeriod: 100_000, cpuShares: 2 },
  },
} as const;
const labels = { ...podLabels, "io.kubernetes.container.name": "c" };
const annotations = {
  "io.kubernetes.container.hash": "f66a561f",
  "io.kubernetes.container.restartCount": "0",
  "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
  "io.kubernetes.container.terminationMessagePolicy": "File",
  "io.kubernetes.pod.terminationGracePeriod": "3",
};
const mounts = [
  { containerPath: "/etc/hosts", hostPath: "/var/lib/nodeagent/pods/uid-1/etc-hosts" },
  { containerPath: "/dev/termination-log", hostPath: "/var/lib/nodeagent/pods/uid-1/containers/c/f7cad989" },
];
const resources = { cpuPeriod: 100_000, cpuShares: 2, oomScoreAdj: 1000 };
const time = expect.any(Number);
const some = { value: expect.any(Number) };

/** An agent that has a pod with one container, whose image it knows by the runtime's identifier. */
class Agent extends RuntimeBench {
  readonly imageId = this.ask("ListImages", {}).images[0]?.id ?? "";
  readonly podSandboxId = this.ask("RunPodSandbox", { config: sandboxConfig }).podSandboxId;

  containerOf(command: readonly string[]): string {
    const config = {
      metadata: { name: "c" },
      image: { image: this.imageId, userSpecifiedImage: "local/box:1" },
      command,
      envs: [{ key: "KUBERNETES_SERVICE_HOST", value: "10.0.0.1" }],
      mounts,
      labels,
      annotations,
      logPath: "c/0.log",
      linux: {
        resources: { ...resources, hugepageLimits: [{ pageSize: "2MB" }, { pageSize: "1GB" }] },
        securityContext: {
          namespaceOptions,
          runAsUser: {},
          maskedPaths: ["/proc/asound", "/proc/acpi", "/proc/kcore"],
          readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq"],
          seccomp: { profileType: "Unconfined" },
        },
      },
    } as const;
    return this.ask("CreateContainer", { podSandboxId: this.podSandboxId, config, sandboxConfig }).containerId;
  }

  running(command: readonly string[] = ["sleep", "1000"]): string {
    const containerId = this.containerOf(command);
    this.ask("StartContainer", { containerId });
    return containerId;
  }

  refusal<M extends CriMethod>(method: M, message: CriRequestOf<M>) {
    const answer = this.call(method, message);
    return answer.ok ? undefined : { code: answer.code, text: answer.text };
  }
}

describe("each request of a recorded agent is answered with the fields that it read", () => {
  it("at its start: version, conditions, file systems, and a call that an older runtime does not know", () => {
    const agent = new Agent();
    const version = agent.ask("Version", {});
    for (const field of ["version", "runtimeName", "runtimeVersion", "runtimeApiVersion"] as const)
      expect(version[field]).not.toBe("");
    expect(agent.ask("Status", {}).status?.conditions).toMatchObject([
      { type: "RuntimeReady", status: true },
      { type: "NetworkReady", status: true },
    ]);
    expect(agent.refusal("RuntimeConfig", {})).toEqual({
      code: 12,
      text: "unknown method RuntimeConfig for service runtime.v1.RuntimeService",
    });
    const [filesystem] = agent.ask("ImageFsInfo", {}).imageFilesystems;
    expect(filesystem).toMatchObject({ timestamp: time, usedBytes: some, inodesUsed: some });
    expect(filesystem?.fsId?.mountpoint).toMatch(/^\//);
  });

  it("of images: those there are, one that is not, and a pull from a registry that nobody serves", () => {
    const agent = new Agent();
    const box = { id: expect.stringMatching(/^sha256:/), repoTags: ["docker.io/local/box:1"], size: 2_000_000 };
    expect(agent.ask("ListImages", {}).images).toMatchObject([box]);
    expect(
      agent.ask("ImageStatus", { image: { image: "local/box:1", annotations: podAnnotations } }).image,
    ).toMatchObject(box);
    expect(
      agent.ask("ImageStatus", { image: { image: "local/none:1", annotations: podAnnotations } }).image,
    ).toBeUndefined();
    const pull = agent.refusal("PullImage", { image: { image: "127.0.0.1:1/none:1" }, sandboxConfig });
    expect(pull?.code).toBe(2);
    expect(pull?.text).toMatch(/^failed to pull and unpack image "127\.0\.0\.1:1\/none:1": /);
  });

  it("of a sandbox: its status with address and namespaces, and the lists it is in", () => {
    const agent = new Agent();
    const { podSandboxId } = agent;
    const told = {
      id: podSandboxId,
      createdAt: time,
      metadata: sandboxConfig.metadata,
      labels: podLabels,
      annotations: podAnnotations,
    };
    const { status } = agent.ask("PodSandboxStatus", { podSandboxId });
    expect(status).toMatchObject({
      ...told,
      state: "SANDBOX_READY",
      linux: { namespaces: { options: { pid: "CONTAINER" } } },
    });
    expect(status?.network?.ip).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(agent.ask("ListPodSandbox", { filter: {} }).items).toMatchObject([{ ...told, state: "SANDBOX_READY" }]);
    expect(agent.ask("StopPodSandbox", { podSandboxId })).toEqual({});
    expect(agent.ask("RemovePodSandbox", { podSandboxId })).toEqual({});
    expect(agent.ask("ListPodSandbox", { filter: {} }).items).toEqual([]);
  });

  it("of a container: created, running and killed, with all that the agent wrote at it", () => {
    const agent = new Agent();
    const { imageId, podSandboxId } = agent;
    expect(agent.ask("ListContainers", { filter: {} }).containers).toEqual([]);
    const containerId = agent.containerOf(["sh", "-c", "trap '' TERM; sleep 1000"]);
    // Its image by digest where it has one, by identifier where it was never in a registry, as in the recording.
    const imageRef = expect.stringMatching(/^(.+@)?sha256:[0-9a-f]{64}$/);
    const told = { id: containerId, metadata: { name: "c" }, imageRef, labels, annotations };
    const statusOf = () => agent.ask("ContainerStatus", { containerId }).status;
    const whole = {
      ...told,
      createdAt: time,
      image: { image: "docker.io/local/box:1" },
      mounts,
      logPath: "/var/log/pods/default_p1_uid-1/c/0.log",
      resources: { linux: resources },
    };
    expect(statusOf()).toMatchObject({ ...whole, state: "CONTAINER_CREATED", startedAt: 0, finishedAt: 0 });
    expect(agent.ask("StartContainer", { containerId })).toEqual({});
    expect(statusOf()).toMatchObject({ ...whole, state: "CONTAINER_RUNNING", finishedAt: 0 });
    expect(statusOf()?.startedAt).toBeGreaterThan(0);
    expect(agent.ask("ListContainers", { filter: { state: { state: "CONTAINER_RUNNING" } } }).containers).toMatchObject(
      [{ ...told, podSandboxId, image: { image: imageId }, state: "CONTAINER_RUNNING", createdAt: time }],
    );
    expect(agent.ask("StopContainer", { containerId, timeout: 2 })).toEqual({});
    expect(statusOf()).toMatchObject({ ...whole, state: "CONTAINER_EXITED", exitCode: 137, reason: "Error" });
    expect(statusOf()?.finishedAt).toBeGreaterThan(statusOf()?.startedAt ?? 0);
    expect(agent.ask("RemoveContainer", { containerId })).toEqual({});
    expect(agent.ask("RemoveContainer", { containerId })).toEqual({});
    const gone = `an error occurred when try to find container "${containerId}": not found`;
    expect(agent.refusal("ContainerStatus", { containerId })).toEqual({ code: 5, text: gone });
  });

  it("of two removals of one container at once: the second is told that it is going", () => {
    const agent = new Agent();
    const containerId = agent.containerOf(["sleep", "1000"]);
    agent.begin("RemoveContainer", { containerId });
    expect(agent.refusal("RemoveContainer", { containerId })).toEqual({
      code: 2,
      text: `failed to set removing state for container "${containerId}": container is already in removing state`,
    });
  });

  it("of a command that its image lacks: the failure of the start", () => {
    const agent = new Agent();
    const why = 'exec: "/no/such": stat /no/such: no such file or directory: unknown';
    expect(agent.refusal("StartContainer", { containerId: agent.containerOf(["/no/such"]) })).toEqual({
      code: 2,
      text: `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${why}`,
    });
  });

  it("of probes: the status of a command", () => {
    const agent = new Agent();
    const containerId = agent.running();
    const probe = () => agent.ask("ExecSync", { containerId, cmd: ["sh", "-c", "test -f /tmp/up"], timeout: 1 });
    expect(probe()).toMatchObject({ exitCode: 1 });
    agent.ask("ExecSync", { containerId, cmd: ["touch", "/tmp/up"], timeout: 1 });
    expect(probe()).toMatchObject({ exitCode: 0 });
  });

  it("of usage: processor, memory and layer of each running container", () => {
    const agent = new Agent();
    expect(agent.ask("ListContainerStats", { filter: {} }).stats).toEqual([]);
    const id = agent.running();
    agent.pass(10);
    const { stats } = agent.ask("ListContainerStats", { filter: {} });
    expect(stats).toMatchObject([
      {
        attributes: { id, metadata: { name: "c" }, labels, annotations },
        cpu: { timestamp: time, usageCoreNanoSeconds: some },
        memory: { timestamp: time, workingSetBytes: some, usageBytes: some, rssBytes: some, pageFaults: some },
        writableLayer: { usedBytes: some, inodesUsed: some },
      },
    ]);
    expect(stats[0]?.writableLayer?.fsId?.mountpoint).toMatch(/^\//);
  });
});
