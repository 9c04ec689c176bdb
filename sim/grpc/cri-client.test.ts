import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Http2Session } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { wallPorts } from "../http/wall.ts";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver } from "../kernel/wall-driver.ts";
import { GrpcRuntime } from "./cri-client.ts";

const home = mkdtempSync(join(tmpdir(), "touchstone-cri-client-"));
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
  rmSync(home, { recursive: true, force: true });
});

it("waits for no answer once it is closed", async () => {
  const path = join(home, "silent.sock");
  const { promise: asked, resolve } = Promise.withResolvers<Http2Session>();
  const server = createServer();
  let streams = 0;
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    if (++streams === 2 && stream.session !== undefined) resolve(stream.session);
  });
  await new Promise<void>((listens) => server.listen(path, listens));
  const kernel = new Kernel({ seed: "client", epochUnixMillis: Date.now() });
  const agent = kernel.process("agent");
  const driver = new WallDriver(kernel, wallPorts, { onError: (error) => expect(error).toBeUndefined() });
  cleanups.push(
    () => driver.stop(),
    () => server.close(),
  );
  const runtime = new GrpcRuntime(`unix://${path}`, driver, agent);
  const told: unknown[] = [];
  const tell = (what: unknown): void => void told.push(what);
  runtime.start({ method: "Version", message: {} }, tell, tell);
  runtime.events(agent, { event: tell, ended: tell });
  const session = await asked;
  const ended = new Promise<void>((closes) => void session.on("close", () => closes()));
  runtime.close();
  await ended;
  expect(told).toEqual([]);
});
