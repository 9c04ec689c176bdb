import { describe, expect, it } from "vitest";
import type { ContainerEventResponse } from "../../wire/cri-messages.ts";
import { RuntimeBench } from "./runtime.fixture.ts";

const sh = (script: string): string[] => ["sh", "-c", script];

describe("a simulated container", () => {
  it("runs its script on virtual time and ends with its status", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), sh("echo begun; sleep 3; exit 3"));
    expect(bench.status(id)).toMatchObject({ state: "CONTAINER_RUNNING", exitCode: 0, finishedAt: 0 });
    bench.pass(3);
    const status = bench.status(id);
    expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 3, reason: "Error" });
    expect(Math.round((status.finishedAt - status.startedAt) / 1e9)).toBe(3);
    const log = bench.ask("ReadPath", { path: "/var/log/pods/default_a_uid-a/c/0.log" });
    expect(new TextDecoder().decode(log.content)).toMatch(/^2030-01-01T00:00:0\d\.\d{9}Z stdout F begun\n$/);
  });

  it("stops on TERM where its script says so, and is killed after the grace where it does not", () => {
    const bench = new RuntimeBench();
    const sandbox = bench.sandbox("a");
    const polite = bench.run(sandbox, sh('trap "exit 0" TERM; while true; do sleep 1; done'));
    const deaf = bench.run(bench.sandbox("b"), ["sleep", "1000"]);
    bench.pass(5);
    let from = bench.seconds();
    bench.ask("StopContainer", { containerId: polite, timeout: 5 });
    expect(bench.seconds() - from).toBeLessThanOrEqual(1);
    expect(bench.status(polite)).toMatchObject({ exitCode: 0, reason: "Completed" });
    from = bench.seconds();
    bench.ask("StopContainer", { containerId: deaf, timeout: 2 });
    expect(bench.seconds() - from).toBeCloseTo(2);
    expect(bench.status(deaf)).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  it("is not started when its caller dies in the meantime, and the next one may start it", () => {
    const bench = new RuntimeBench({ times: { StartContainer: 200_000 } });
    const id = bench.create(bench.sandbox("a"), ["sleep", "1000"]);
    bench.begin("StartContainer", { containerId: id });
    bench.pass(0);
    bench.replaceAgent();
    bench.pass(5);
    expect(bench.status(id).state).toBe("CONTAINER_CREATED");
    bench.ask("StartContainer", { containerId: id });
    expect(bench.status(id).state).toBe("CONTAINER_RUNNING");
  });

  it("fails to start a command that its image lacks, and says which", () => {
    const bench = new RuntimeBench();
    const id = bench.create(bench.sandbox("a"), ["/no/such"]);
    expect(bench.call("StartContainer", { containerId: id })).toMatchObject({
      ok: false,
      code: 2,
      text: expect.stringContaining('exec: "/no/such": stat /no/such: no such file or directory'),
    });
    expect(bench.status(id)).toMatchObject({
      state: "CONTAINER_EXITED",
      exitCode: 128,
      reason: "StartError",
      startedAt: 0,
    });
  });

  it("is killed when its memory goes over the limit: by what its shell holds, or by a model", () => {
    const bench = new RuntimeBench();
    const limits = { linux: { resources: { memoryLimitInBytes: 24 << 20 } } };
    const script = bench.run(bench.sandbox("a"), sh("sleep 1; x=a; while true; do x=$x$x; done"), limits);
    bench.pass(2);
    expect(bench.status(script)).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 137, reason: "OOMKilled" });

    const model = bench.run(bench.sandbox("b"), ["sleep", "infinity"], limits);
    const from = bench.seconds();
    bench.runtime.use("default/b/c", { memory: { is: "leak", from: 0, perSecond: 1 << 20 } });
    bench.pass(20);
    expect(bench.status(model).state).toBe("CONTAINER_RUNNING");
    bench.pass(10);
    const status = bench.status(model);
    expect(status).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
    expect(status.finishedAt / 1e9 - 1_893_456_000 - from).toBeCloseTo(23.6, 0);
  });

  it("answers execs: with a status, with output, and with an error when they take too long or cannot begin", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), sh("sleep 4; touch /tmp/up; sleep 1000"));
    const probe = { containerId: id, cmd: sh("test -f /tmp/up"), timeout: 1 };
    expect(bench.ask("ExecSync", probe).exitCode).toBe(1);
    bench.pass(4);
    expect(bench.ask("ExecSync", probe).exitCode).toBe(0);
    expect(
      new TextDecoder().decode(bench.ask("ExecSync", { containerId: id, cmd: sh("echo out; echo err >&2") }).stdout),
    ).toBe("out\n");
    expect(bench.call("ExecSync", { containerId: id, cmd: ["sleep", "10"], timeout: 1 })).toMatchObject({
      ok: false,
      code: 4,
    });
    expect(bench.call("ExecSync", { containerId: id, cmd: ["nothing"] })).toMatchObject({
      ok: false,
      text: expect.stringContaining('exec: "nothing": executable file not found in $PATH'),
    });
    expect(bench.call("ExecSync", { containerId: id, cmd: sh(`: ${"a".repeat(131_068)}`) }).ok).toBe(true);
    expect(bench.call("ExecSync", { containerId: id, cmd: sh(`: ${"a".repeat(131_070)}`) })).toMatchObject({
      ok: false,
      text: expect.stringContaining("unable to start container process: exec /bin/sh: argument list too long: unknown"),
    });
    bench.pass(20);
    expect(new TextDecoder().decode(bench.ask("ExecSync", { containerId: id, cmd: ["ps"] }).stdout)).not.toContain(
      "sleep 10",
    );
  });

  it("ends its execs with itself", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), sh('trap "exit 0" TERM; while true; do sleep 1; done'));
    const hook = bench.begin("ExecSync", { containerId: id, cmd: ["sleep", "30"] });
    bench.pass(4);
    bench.ask("StopContainer", { containerId: id, timeout: 2 });
    bench.pass(1);
    expect(hook.answer).toMatchObject({ ok: true, message: { exitCode: 137 } });
  });

  it("does not hold the loop when it computes for ever", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), sh("while true; do :; done"));
    bench.pass(60);
    expect(bench.status(id).state).toBe("CONTAINER_RUNNING");
    const { stats } = bench.ask("ContainerStats", { containerId: id });
    expect(stats?.cpu?.usageCoreNanoSeconds?.value).toBeGreaterThan(40e9);
  });

  it("writes to its layer and to volumes, whose use is counted in blocks, and finds a full disk full", () => {
    const bench = new RuntimeBench({ machine: { rootDisk: { bytes: 3 * 1024 ** 3, inodes: 100_000 } } });
    bench.ask("MakePath", { path: "/var/lib/agent/volumes/v" });
    const mounts = [{ containerPath: "/v", hostPath: "/var/lib/agent/volumes/v" }];
    const id = bench.run(
      bench.sandbox("a"),
      sh(
        "dd if=/dev/zero of=/v/x bs=1M count=8; dd if=/dev/zero of=/tmp/y bs=1M count=4; sleep 10; dd if=/dev/zero of=/v/z bs=1M count=4000 || exit 9",
      ),
      { mounts },
    );
    bench.pass(2);
    expect(bench.ask("PathUsage", { paths: ["/var/lib/agent/volumes/v"] }).usages[0]).toMatchObject({
      usedBytes: (8 << 20) + 4096,
      inodesUsed: 2,
    });
    expect(bench.ask("ContainerStats", { containerId: id }).stats?.writableLayer?.usedBytes?.value).toBe(
      (4 << 20) + 4096 * 2,
    );
    const before = bench.ask("MachineReading", {}).rootFilesystem?.availableBytes ?? 0;
    bench.pass(60);
    expect(bench.status(id).exitCode).toBe(9);
    expect(bench.ask("MachineReading", {}).rootFilesystem?.availableBytes).toBeLessThan(before);
    bench.ask("RemovePath", { path: "/var/lib/agent/volumes/v" });
    bench.ask("RemoveContainer", { containerId: id });
    expect(bench.ask("MachineReading", {}).rootFilesystem?.availableBytes).toBeGreaterThan(before);
  });
});

describe("a simulated runtime", () => {
  it("answers lists with the same items while nothing has changed, and a generation that says so", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), ["sleep", "5"]);
    const first = bench.call("ListContainers", {});
    const again = bench.call("ListContainers", {});
    expect(
      first.ok &&
        again.ok &&
        first.generation === again.generation &&
        first.message.containers === again.message.containers,
    ).toBe(true);
    bench.pass(5);
    const later = bench.call("ListContainers", {});
    expect(later.ok && first.ok && (later.generation ?? 0) > (first.generation ?? 0)).toBe(true);
    expect(later).toMatchObject({ message: { containers: [{ id, state: "CONTAINER_EXITED" }] } });
  });

  it("fails, delays and hangs calls that it is told to", () => {
    const bench = new RuntimeBench();
    bench.runtime.fail({ method: "RunPodSandbox", about: "default/a", times: 1, error: { text: "no luck" } });
    expect(() => bench.sandbox("a")).toThrow("no luck");
    const sandbox = bench.sandbox("a");
    const undo = bench.runtime.fail({ method: "PodSandboxStatus", hangs: true });
    const hung = bench.begin("PodSandboxStatus", { podSandboxId: sandbox });
    bench.pass(100);
    expect(hung.answer).toBeUndefined();
    undo();
    expect(bench.call("PodSandboxStatus", { podSandboxId: sandbox }).ok).toBe(true);
    bench.runtime.fail({ method: "Version", delayMicros: 5_000_000, times: 1 });
    const from = bench.seconds();
    bench.ask("Version", {});
    expect(bench.seconds() - from).toBeCloseTo(5);
  });

  it("pulls what it may, in a time, and tells what it cannot find", () => {
    const bench = new RuntimeBench({
      openRegistry: false,
      images: [{ name: "registry.example/app:*" }, { name: "big", sizeBytes: 500_000_000 }],
    });
    expect(bench.call("PullImage", { image: { image: "127.0.0.1:1/none:1" } })).toMatchObject({
      ok: false,
      text: expect.stringContaining("dial tcp 127.0.0.1:1: connect: connection refused"),
    });
    expect(bench.call("PullImage", { image: { image: "unknown" } })).toMatchObject({
      ok: false,
      text: expect.stringContaining("docker.io/library/unknown:latest: not found"),
    });
    expect(bench.call("PullImage", { image: { image: "UPPER/Case:1" } })).toMatchObject({
      ok: false,
      text: expect.stringContaining("invalid reference format"),
    });
    const from = bench.seconds();
    const { imageRef } = bench.ask("PullImage", { image: { image: "big" } });
    expect(bench.seconds() - from).toBeCloseTo(10.2);
    expect(bench.ask("ImageStatus", { image: { image: imageRef } }).image?.repoTags).toEqual([
      "docker.io/library/big:latest",
    ]);
    expect(bench.ask("ImageStatus", { image: { image: "none" } }).image).toBeUndefined();
    bench.ask("RemoveImage", { image: { image: "big" } });
    expect(bench.ask("ListImages", {}).images).toEqual([]);
  });

  it("tells the events of containers to whoever follows them", () => {
    const bench = new RuntimeBench();
    const seen: ContainerEventResponse[] = [];
    const reader = bench.kernel.process("reader");
    bench.runtime.events(reader, { event: (message) => seen.push(message), ended: () => {} });
    const sandbox = bench.sandbox("a");
    bench.run(sandbox, ["true"]);
    bench.ask("RemovePodSandbox", { podSandboxId: sandbox });
    bench.pass(1);
    expect(seen.map(({ containerEventType }) => containerEventType.replace(/CONTAINER_|_EVENT/g, ""))).toEqual([
      "CREATED",
      "STARTED",
      "CREATED",
      "STARTED",
      "STOPPED",
      "STOPPED",
      "DELETED",
      "DELETED",
    ]);
  });

  it("serves what an image is said to run, at its ports, until it is told to stop", () => {
    const web = {
      name: "web",
      present: true,
      shell: false,
      runs: { ports: [{ port: 80, body: "hello" }], memory: { is: "constant" as const, amount: 30_000_000 } },
    };
    const bench = new RuntimeBench({ images: [web] });
    const sandbox = bench.sandbox("a");
    const id = bench.run(sandbox, [], { image: { image: "web" } });
    const ip = bench.ask("PodSandboxStatus", { podSandboxId: sandbox }).status?.network?.ip ?? "";
    expect(bench.ask("Connect", { ip, port: 80, http: { path: "/" } })).toMatchObject({ outcome: "OPEN", status: 200 });
    expect(bench.ask("Connect", { ip, port: 81 }).outcome).toBe("REFUSED");
    expect(bench.ask("ContainerStats", { containerId: id }).stats?.memory?.workingSetBytes?.value).toBeGreaterThan(
      30_000_000,
    );
    bench.ask("StopContainer", { containerId: id, timeout: 30 });
    expect(bench.status(id)).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(bench.ask("Connect", { ip, port: 80 }).outcome).toBe("REFUSED");
  });
});
