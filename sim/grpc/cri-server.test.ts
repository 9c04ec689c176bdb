import { mkdtempSync, rmSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { CriEventSink } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import { wallPorts } from "../http/wall.ts";
import { Kernel } from "../kernel/kernel.ts";
import { LoopShare } from "../kernel/loop-share.ts";
import { PacedSessions } from "../kernel/paced-sessions.ts";
import { WallDriver } from "../kernel/wall-driver.ts";
import { encodeMessage } from "./cri-codec.ts";
import { serveCri } from "./cri-server.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0).reverse()) clean();
});

async function serve(made: ReadonlySet<object> = new Set()) {
  const home = mkdtempSync(join(tmpdir(), "touchstone-cri-"));
  cleanups.push(() => rmSync(home, { recursive: true, force: true }));
  const kernel = new Kernel({ seed: "cri" });
  const onError = (error: unknown): never => {
    throw error;
  };
  const driver = new WallDriver(kernel, wallPorts, { onError });
  const process = kernel.process("machine");
  const sinks = new Set<CriEventSink>();
  const started = { count: 0 };
  const runtime: CriRuntime = {
    start(_request, done) {
      started.count++;
      return process.clock.after(0, () => done({ ok: true, message: { podSandboxId: "s1" } }));
    },
    events(_reader, sink) {
      sinks.add(sink);
      return () => void sinks.delete(sink);
    },
  };
  const path = join(home, "r.sock");
  const share = new LoopShare(wallPorts);
  const server = await serveCri({
    address: `unix://${path}`,
    driver,
    share,
    sessions: new PacedSessions(wallPorts),
    process,
    runtime,
    configurations: { all: () => made, count: () => made.size },
    onControl: () => {},
  });
  const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
  cleanups.push(
    () => server.close(),
    () => driver.stop(),
    () => session.destroy(),
  );
  return { session, sinks, started };
}

const request = (session: ClientHttp2Session, method: string) =>
  session.request({
    ":method": "POST",
    ":path": `/runtime.v1.RuntimeService/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
  });

it("an event is written once, however many follow", async () => {
  const { session, sinks } = await serve();
  const heard: number[] = [];
  for (let count = 0; count < 5; count++) {
    const stream = request(session, "GetContainerEvents");
    stream.on("data", ({ length }: Buffer) => heard.push(length)).on("error", () => {});
    stream.end(Buffer.alloc(5));
  }
  await expect.poll(() => sinks.size).toBe(5);
  let reads = 0;
  const message = {
    get containerId() {
      reads++;
      return "c1";
    },
    containerEventType: "CONTAINER_STARTED_EVENT",
    createdAt: 1,
    containersStatuses: [],
  };
  sinks
    .values()
    .next()
    .value?.event(message as never);
  await expect.poll(() => heard.length).toBe(1);
  const once = reads;
  for (const sink of sinks) sink.event(message as never);
  await expect.poll(() => heard.length).toBe(6);
  expect(reads).toBe(once);
  expect(new Set(heard).size).toBe(1);
});

it("one connection has so many calls at one time", async () => {
  const { session } = await serve();
  await new Promise((resolve) => void session.once("remoteSettings", resolve));
  expect(session.remoteSettings.maxConcurrentStreams).toBe(1_000);
});

it("makes no more pods than there is room for what they are asked for as, until some are gone", async () => {
  const mebibyte = "a".repeat(1 << 20);
  const all = new Set<object>(Array.from({ length: 512 }, () => ({ mebibyte })));
  const { session, started } = await serve(all);
  const message = encodeMessage("RunPodSandboxRequest", {
    config: { metadata: { name: "p", namespace: "d", uid: "u" } },
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const ask = (): Promise<unknown> =>
    new Promise((resolve) => {
      const stream = request(session, "RunPodSandbox");
      let status: unknown;
      stream.on("response", (headers) => (status = headers["grpc-status"]));
      stream.on("trailers", (headers) => (status = headers["grpc-status"]));
      stream.resume().on("close", () => resolve(status));
      stream.end(Buffer.concat([head, message]));
    });
  expect([await ask(), started.count]).toEqual(["8", 0]);
  all.clear();
  expect([await ask(), started.count]).toEqual(["0", 1]);
});
