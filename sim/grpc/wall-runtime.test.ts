import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CriAnswer, CriMethod, CriRequestOf } from "../../wire/cri.ts";
import type { ContainerEventResponse } from "../../wire/cri-messages.ts";
import { callRuntime } from "../cri/cri-port.ts";
import { wallPorts } from "../http/wall.ts";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver, type WallPorts } from "../kernel/wall-driver.ts";
import { setRuntime } from "./control-client.ts";
import { GrpcRuntime } from "./cri-client.ts";
import { OtherState } from "./kept-runtime.ts";
import { SocketTaken, startWallRuntime } from "./wall-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "cri-"));
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

let count = 0;
const newSocket = (): string => join(folder, `${++count}.sock`);

/** Time that passes when a test says so: what is asked meanwhile is asked at one instant, however long that takes. */
class HandTime {
  private now = 0;
  private readonly waiting = new Set<{ readonly at: number; readonly fire: () => void }>();
  readonly ports: WallPorts = {
    nowMicros: () => this.now,
    wake: (delayMicros, fire) => {
      if (delayMicros === 0) return wallPorts.wake(0, fire);
      const entry = { at: this.now + delayMicros, fire };
      this.waiting.add(entry);
      return () => void this.waiting.delete(entry);
    },
  };

  nowUnixMillis = (): number => 1_700_000_000_000 + this.now / 1_000;

  pass(millis: number): void {
    this.now += millis * 1_000;
    for (const entry of [...this.waiting].filter(({ at }) => at <= this.now)) {
      this.waiting.delete(entry);
      entry.fire();
    }
  }
}

const realTime = { ports: wallPorts, nowUnixMillis: Date.now };

async function start(socketPath: string, memoryBytes = 4 * 1024 ** 3, { ports, nowUnixMillis } = realTime) {
  const running = await startWallRuntime({
    socketPath,
    statePath: `${socketPath}.state`,
    seed: "1",
    name: "node-1",
    runtime: {
      images: [{ name: "local/box:1", present: true }],
      machine: { memoryBytes },
      times: {
        RunPodSandbox: 0,
        CreateContainer: 0,
        StartContainer: 0,
        ExecSync: 0,
        StopContainer: 0,
        RemoveContainer: 0,
        StopPodSandbox: 0,
        RemovePodSandbox: 0,
      },
    },
    ports,
    nowUnixMillis: nowUnixMillis(),
    onError: (error) => {
      throw error;
    },
  });
  cleanups.push(() => running.close());
  return running;
}

function client(socketPath: string) {
  const kernel = new Kernel({ seed: "client", epochUnixMillis: Date.now() });
  const agent = kernel.process("agent");
  const driver = new WallDriver(kernel, wallPorts, { onError: (error) => expect(error).toBeUndefined() });
  const runtime = new GrpcRuntime(`unix://${socketPath}`, driver, agent);
  cleanups.push(() => {
    driver.stop();
    runtime.close();
  });
  const call = <M extends CriMethod>(method: M, message: CriRequestOf<M>): Promise<CriAnswer<M>> =>
    new Promise(
      (resolve) => void driver.enter(agent, () => callRuntime(agent, runtime, method, message, 10_000_000, resolve)),
    );
  const ask = async <M extends CriMethod>(method: M, message: CriRequestOf<M>) => {
    const answer = await call(method, message);
    if (!answer.ok) throw new Error(`${method}: ${answer.code} ${answer.text}`);
    return answer.message;
  };
  const events = (seen: ContainerEventResponse[]) =>
    driver.enter(agent, () => runtime.events(agent, { event: (message) => seen.push(message), ended: () => {} }));
  return { call, ask, events };
}

async function runBox(ask: ReturnType<typeof client>["ask"], script: string): Promise<string> {
  const metadata = { name: "p", namespace: "default", uid: "u" };
  const { podSandboxId } = await ask("RunPodSandbox", { config: { metadata, logDirectory: "/var/log/pods/p" } });
  const config = {
    metadata: { name: "c" },
    image: { image: "local/box:1" },
    command: ["sh", "-c", script],
    logPath: "c/0.log",
  };
  const { containerId } = await ask("CreateContainer", { podSandboxId, config });
  await ask("StartContainer", { containerId });
  return containerId;
}

describe("a runtime on a socket", () => {
  it("serves calls, errors and the stream of events", async () => {
    const socket = newSocket();
    await start(socket);
    const { ask, call, events } = client(socket);
    const seen: ContainerEventResponse[] = [];
    events(seen);
    await ask("Version", {});
    const containerId = await runBox(ask, "echo hello; while ! test -f /told; do sleep 0.1; done; exit 3");
    const { stdout } = await ask("ExecSync", { containerId, cmd: ["sh", "-c", "echo $HOSTNAME; touch /told"] });
    expect(Buffer.from(stdout).toString()).toBe("p\n");
    await expect
      .poll(async () => (await ask("ContainerStatus", { containerId })).status?.state)
      .toBe("CONTAINER_EXITED");
    expect((await ask("ContainerStatus", { containerId })).status).toMatchObject({ exitCode: 3, reason: "Error" });
    expect(await call("ContainerStatus", { containerId: "none" })).toMatchObject({ ok: false, code: 5 });
    expect(await call("RuntimeConfig", {})).toMatchObject({ ok: false, code: 12 });
    const told = () => seen.map(({ containerEventType }) => containerEventType);
    await expect.poll(told).toContain("CONTAINER_STOPPED_EVENT");
  });

  it("is as it was after its process was killed: containers go on, with their identifiers, times and files", async () => {
    const socket = newSocket();
    const time = new HandTime();
    const first = await start(socket, undefined, time);
    const before = client(socket);
    const containerId = await runBox(before.ask, "echo begun > /tmp/f; sleep 1; exit 7");
    const was = (await before.ask("ContainerStatus", { containerId })).status;
    expect(was?.state).toBe("CONTAINER_RUNNING");
    first.close();
    // Written by half when it was killed.
    appendFileSync(`${socket}.state`, '{"atMicros":1,"call":{"met');
    time.pass(500);
    const second = await start(socket, undefined, time);
    expect(second.restored).toBe(3);
    const after = client(socket);
    expect((await after.ask("ContainerStatus", { containerId })).status).toEqual(was);
    const read = await after.ask("ExecSync", { containerId, cmd: ["cat", "/tmp/f"] });
    expect(Buffer.from(read.stdout).toString()).toBe("begun\n");
    time.pass(500);
    const status = (await after.ask("ContainerStatus", { containerId })).status;
    expect(status).toMatchObject({ state: "CONTAINER_EXITED", exitCode: 7 });
    expect(Math.round(((status?.finishedAt ?? 0) - (status?.startedAt ?? 0)) / 1e8)).toBe(10);
  });

  it("changes while it runs, and keeps the change", async () => {
    const socket = newSocket();
    const first = await start(socket);
    const before = client(socket);
    const containerId = await runBox(before.ask, "sleep 1000");
    expect(
      await setRuntime(
        `unix://${socket}`,
        JSON.stringify({
          pods: { "default/p": { memory: "200Mi" } },
          machine: { rootBytes: "50Gi" },
          calls: ["PullImage fails no route"],
        }),
      ),
    ).toBeUndefined();
    const usage = async ({ ask }: ReturnType<typeof client>) =>
      (await ask("ContainerStats", { containerId })).stats?.memory?.workingSetBytes?.value;
    expect(await usage(before)).toBeGreaterThan(200 << 20);
    expect(await setRuntime(`unix://${socket}`, JSON.stringify({ machine: { memory: "plenty" } }))).toMatchObject({
      unreachable: false,
      text: expect.stringContaining('"plenty"'),
    });
    expect(await setRuntime(`unix://${socket}.none`, "{}")).toMatchObject({ unreachable: true });
    first.close();
    await start(socket);
    const after = client(socket);
    expect(await usage(after)).toBeGreaterThan(200 << 20);
    expect((await after.ask("MachineReading", {})).rootFilesystem?.usedBytes).toBeGreaterThan(50 * 1024 ** 3);
    const pull = () => after.call("PullImage", { image: { image: "local/other:1" } });
    expect(await pull()).toMatchObject({ ok: false, text: "no route" });
    expect(await setRuntime(`unix://${socket}`, JSON.stringify({ calls: null }))).toBeUndefined();
    expect(await pull()).not.toMatchObject({ text: "no route" });
  });

  it("refuses what is too large to be meant, and says why in few words", async () => {
    const socket = newSocket();
    await start(socket);
    const { call, ask } = client(socket);
    const metadata = { name: "p", namespace: "default", uid: "u" };
    const labels = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, ""]));
    expect(await call("RunPodSandbox", { config: { metadata, labels } })).toMatchObject({
      code: 8,
      text: expect.stringContaining("more than 100000 values"),
    });
    expect(await call("RunPodSandbox", { config: { metadata, hostname: "h".repeat(4 << 20) } })).toMatchObject({
      code: 8,
    });
    const missing = await call("ContainerStatus", { containerId: "\u{1f600}".repeat(500_000) });
    expect(missing).toMatchObject({ ok: false, code: 5 });
    expect((missing as { readonly text: string }).text.length).toBeLessThan(5_000);
    expect(await ask("ListPodSandbox", {})).toEqual({ items: [] });
  });

  it("leaves a file and a folder where a socket was to be", async () => {
    const path = newSocket();
    writeFileSync(path, "precious");
    await expect(start(path)).rejects.toThrow(`${path} is there, and is no socket`);
    expect(readFileSync(path, "utf8")).toBe("precious");
    rmSync(path);
    mkdirSync(path);
    await expect(start(path)).rejects.toThrow(SocketTaken);
    expect(existsSync(`${path}.state`)).toBe(false);
    rmSync(path, { recursive: true });
  });

  it("takes neither a socket where somebody listens nor the state of another machine", async () => {
    const socket = newSocket();
    const running = await start(socket);
    await expect(start(socket)).rejects.toThrow(SocketTaken);
    running.close();
    await expect(start(socket, 8 * 1024 ** 3)).rejects.toThrow(OtherState);
    expect(readFileSync(`${socket}.state`, "utf8").split("\n").length).toBe(2);
    rmSync(folder, { recursive: true });
  });
});
