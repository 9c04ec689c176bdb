/** Requests over HTTP/2 that are cut before they have gone out. A process of their own may hang in native code. */
import { execFile } from "node:child_process";
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";

let server: Http2Server | undefined;

afterEach(() => {
  server?.close();
});

const client = (url: string): string => `
  import { urlTransport } from ${JSON.stringify(new URL("url-transport.ts", import.meta.url).href)};
  const transport = urlTransport(${JSON.stringify(url)}, { http: "2" });
  const send = (cut) => new Promise((resolve) => {
    const end = () => resolve(1);
    const cancel = transport.open({ method: "POST", path: "/", headers: {}, body: "body" }, { head() {}, chunk() {}, end, failed: end });
    if (cut) { cancel(); resolve(0); }
  });
  let answered = 0;
  for (let round = 0; round < 20; round++) {
    for (const each of await Promise.all([send(true), send(false)])) answered += each;
  }
  await transport.close();
  console.log(answered);
`;

it("cuts some of the requests of one turn, and the others are answered", async () => {
  let begun = 0;
  server = createServer((request, response) => {
    begun += 1;
    request.resume().on("end", () => response.end("answer"));
    request.on("error", () => {});
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = ["--input-type=module", "--eval", client(url)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 30_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("20\n");
  expect(begun).toBeGreaterThan(20); // what was cut had been sent
});

/** `/block` keeps the server from reading until it is told to go on: what is sent meanwhile fills the socket, and waits. */
const stoppingServer = `
  import { createServer } from "node:http2";
  import { parentPort, workerData } from "node:worker_threads";
  const server = createServer((request, response) => {
    if (request.url === "/block") {
      parentPort.postMessage("blocked");
      Atomics.wait(workerData, 0, 0);
    }
    request.resume().on("end", () => response.end()).on("error", () => {});
  });
  server.on("session", (session) => session.on("error", () => {}));
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const clientOfStopped = `
  import { setImmediate as turn } from "node:timers/promises";
  import { Worker } from "node:worker_threads";
  import { urlTransport } from ${JSON.stringify(new URL("url-transport.ts", import.meta.url).href)};
  const goOn = new Int32Array(new SharedArrayBuffer(4));
  const server = new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(stoppingServer)}`)}), { workerData: goOn });
  const said = () => new Promise((resolve) => server.once("message", resolve));
  const transport = urlTransport("http://127.0.0.1:" + (await said()), { http: "2", connectionsMax: 1 });
  const open = (path, end) => {
    const headers = { "x-long": "~".repeat(12_000) + path }; // never the same, so that it cannot be sent as an index
    return transport.open({ method: "POST", path, headers, body: "body" }, { head() {}, chunk() {}, end, failed: end });
  };
  const blocked = said();
  const answered = new Promise((end) => open("/block", end));
  await blocked;
  for (let wave = 0; wave < 20; wave++) {
    const cuts = Array.from({ length: 80 }, (_, index) => open("/" + wave + "-" + index, () => {}));
    for (let round = 0; round < 5; round++) await turn();
    for (const cut of cuts) cut();
  }
  for (let round = 0; round < 5; round++) await turn();
  Atomics.store(goOn, 0, 1);
  Atomics.notify(goOn, 0);
  await answered;
  await new Promise((end) => open("/after", end));
  await transport.close();
  await server.terminate();
  console.log("done");
`;

it("cuts what still waits for the socket, and the connection lives on", async () => {
  const words = ["--input-type=module", "--eval", clientOfStopped];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 30_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("done\n");
});

const leavingClient = (url: string): string => `
  import { setTimeout as wait } from "node:timers/promises";
  import { urlTransport } from ${JSON.stringify(new URL("url-transport.ts", import.meta.url).href)};
  for (let round = 0; round < 20; round++) {
    const transport = urlTransport(${JSON.stringify(url)}, { http: "2", connectionsMax: 4 });
    for (let index = 0; index < 40; index++) {
      const path = index % 2 === 0 ? "/watch?watch=1" : "/plain";
      transport.open({ method: "GET", path, headers: {} }, { head() {}, chunk() {}, end() {}, failed() {} });
    }
    await wait(round); // at another state of the connections each time
    await transport.close();
  }
  console.log("closed");
`;

it("closes while requests and watches are under way", async () => {
  server = createServer((request, response) => {
    if (request.url?.startsWith("/watch")) response.write("{}\n");
    else setTimeout(() => response.end("answer"), 3);
    request.on("error", () => {});
    response.on("error", () => {});
  });
  server.on("session", (session) => session.on("error", () => {}));
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = ["--input-type=module", "--eval", leavingClient(url)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 30_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("closed\n");
});
