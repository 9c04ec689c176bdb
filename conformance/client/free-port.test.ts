import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";

test("ports that are asked for at once are others, and nobody listens on them", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  expect(new Set(ports).size).toBe(50);
  expect(ports.every((port) => port >= 20_000 && port < 32_768)).toBe(true);
});

test("one that is taken is passed over", async () => {
  const next = (await freePort()) + 1;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(next, "127.0.0.1", resolve));
  expect(await freePort()).not.toBe(next);
  server.close();
});

test("what two threads of a process are told first is not the same", async () => {
  const module = JSON.stringify(new URL("free-port.ts", import.meta.url));
  const said = 'require("node:worker_threads").parentPort.postMessage(await freePort())';
  const first = async (): Promise<unknown> => {
    const worker = new Worker(`import(${module}).then(async ({ freePort }) => ${said})`, { eval: true });
    const [port] = (await once(worker, "message")) as unknown[];
    await worker.terminate();
    return port;
  };
  expect(await first()).not.toBe(await first());
});
