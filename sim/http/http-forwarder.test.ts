import { createServer as createPlain, type RequestListener, type Server } from "node:http";
import { createServer as createTls } from "node:https";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import type { Forward, ForwardedAnswer, ForwardedRequest } from "../apiserver/proxy/forward.ts";
import { selfSignedCertificate } from "./certificates/self-signed.ts";
import { httpForwarder } from "./http-forwarder.ts";
import { startWallServer } from "./wall-server.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  return String((server.address() as AddressInfo).port);
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    response.writeHead(418, { "x-host": request.headers.host ?? "", "content-type": "text/x" });
    response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
  });
};

const base = { scheme: "http", host: "127.0.0.1", method: "POST", target: "/a?b", headers: { host: "h" } } as const;
const ask = (forward: Forward, request: ForwardedRequest): Promise<ForwardedAnswer> =>
  new Promise((resolve) => void forward(request, resolve));
const plain = httpForwarder((work) => work());
const body = Buffer.from("body");

it("carries a request there and its answer back, whoever's certificate it is", async () => {
  const { certificate, privateKey } = selfSignedCertificate({
    hosts: ["elsewhere.example"],
    notBeforeMillis: Date.UTC(2020, 0, 1),
    notAfterMillis: Date.UTC(2055, 0, 1),
  });
  const servers = { http: createPlain(echo), https: createTls({ cert: certificate, key: privateKey }, echo) };
  for (const scheme of ["http", "https"] as const) {
    const answer = await ask(plain, { ...base, scheme, port: await listening(servers[scheme]), body });
    if ("error" in answer) throw new Error(answer.error);
    expect([answer.status, answer.headers["x-host"]]).toEqual([418, "h"]);
    expect(Buffer.from(answer.body).toString()).toBe("POST /a?b body");
  }
});

it("says why there is no answer", async () => {
  const silent = await listening(createPlain(() => {}));
  const port = await listening(createPlain(echo));
  const closed = createPlain();
  const closedPort = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  const short = httpForwarder((work) => work(), undefined, { answerBytesMax: 3, answerMillisMax: 60_000 });
  const hasty = httpForwarder((work) => work(), undefined, { answerBytesMax: 3, answerMillisMax: 1 });
  expect(await ask(plain, { ...base, port: closedPort, body })).toEqual({
    error: `dial tcp 127.0.0.1:${closedPort}: connect: connection refused`,
  });
  expect(await ask(short, { ...base, port, body })).toEqual({ error: "the answer is longer than 3 bytes" });
  expect(await ask(hasty, { ...base, port: silent, body })).toEqual({ error: "no answer within 0.001 s" });
  expect(await ask(plain, { ...base, port: "http", body })).toEqual({
    error: "dial tcp: lookup tcp/http: unknown port",
  });
});

it.each(["localhost", "127.1", "2130706433", "0x7f.1", "017700000001"])(
  "does not go to this machine by the name %s",
  async (host) => {
    let asked = 0;
    const port = await listening(createPlain(() => asked++));
    const answer = await ask(plain, { ...base, host, port, body, isGlobalOnly: true });
    expect([answer, asked]).toEqual([{ error: "address not allowed" }, 0]);
  },
);

it.each([
  ["no status at all", "099 Odd", "the answer has the status 99, which no client would understand"],
  ["one beyond all classes", "999 Odd", "the answer has the status 999, which no client would understand"],
  [
    "another protocol",
    "101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x",
    "the answer is another protocol",
  ],
])("takes no answer with %s", async (_, head, error) => {
  const server = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 2\r\n\r\nhi`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  const { port } = server.address() as AddressInfo;
  const answer = await ask(plain, { ...base, port: String(port), body });
  expect(answer).toEqual({ error: expect.stringContaining(error) });
});

/** Answers every connection with so many chunks of one byte. */
async function chunking(count: number): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.on("error", () => {});
    const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    socket.once("data", () => socket.end(`${head}${"1\r\nv\r\n".repeat(count)}0\r\n\r\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  return String((server.address() as AddressInfo).port);
}

it("keeps an answer in few pieces, however it comes", async () => {
  const answer = await ask(plain, { ...base, port: await chunking(100_000), body });
  if ("error" in answer) throw new Error(answer.error);
  expect(Buffer.from(answer.body).equals(Buffer.alloc(100_000, "v"))).toBe(true);
  expect(answer.pieces?.length).toBeLessThan(20);
});

it("hands on what flows in pieces that came together", async () => {
  const pieces: Uint8Array[] = [];
  const port = await chunking(100_000);
  await new Promise<void>((end) => {
    const flow = { open: () => {}, chunk: (bytes: Uint8Array) => pieces.push(bytes) > 0, end };
    plain({ ...base, port, body }, () => {}, flow);
  });
  expect(Buffer.concat(pieces).equals(Buffer.alloc(100_000, "v"))).toBe(true);
  expect(pieces.length).toBeLessThan(1_000);
});

it("waits with what flows for whoever takes it", async () => {
  const port = await chunking(100_000);
  let taken = 0;
  let isResting = false;
  await new Promise<void>((end) => {
    const chunk = (bytes: Uint8Array, resume: () => void): boolean => {
      expect(isResting).toBe(false);
      isResting = true;
      taken += bytes.length;
      setImmediate(() => {
        isResting = false;
        resume();
      });
      return false;
    };
    plain({ ...base, port, body }, () => {}, { open: () => {}, chunk, end });
  });
  expect(taken).toBe(100_000);
});

it("serves what a node's agent says, byte for byte", async () => {
  const longAgo = "Sun, 06 Nov 1994 08:49:37 GMT";
  const packed = gzipSync(Buffer.alloc(1024 * 1024, "text "));
  const { certificate, privateKey } = selfSignedCertificate({
    hosts: ["127.0.0.1"],
    notBeforeMillis: Date.UTC(2020, 0, 1),
    notAfterMillis: Date.UTC(2055, 0, 1),
  });
  const agent = createTls({ cert: certificate, key: privateKey }, (request, response) => {
    const isHead = request.method === "HEAD";
    response.writeHead(200, {
      "content-encoding": "gzip",
      "content-length": packed.length,
      "x-url": request.url ?? "",
      date: longAgo,
    });
    response.end(isHead ? undefined : packed);
  });
  const agentPort = Number(await listening(agent));
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const server = await startWallServer({ seed: "s", port: 0, bindAddress: "127.0.0.1", anonymousAuth: true, onError });
  open.push({ close: () => server.close(0) });
  const nodes = `http://127.0.0.1:${server.port}/api/v1/nodes`;
  const send = (method: string, path: string, document: object): Promise<Response> => {
    const headers = { "content-type": method === "POST" ? "application/json" : "application/merge-patch+json" };
    return fetch(`${nodes}${path}`, { method, headers, body: JSON.stringify(document) });
  };
  expect((await send("POST", "", { metadata: { name: "n" } })).status).toBe(201);
  const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: agentPort } } };
  expect((await send("PATCH", "/n/status", { status })).status).toBe(200);

  const answer = await fetch(`${nodes}/n/proxy/logs/?a=b`);
  const { headers } = answer;
  expect([answer.status, headers.get("x-url"), headers.get("date")]).toEqual([200, "/logs/?a=b", longAgo]);
  expect((await answer.arrayBuffer()).byteLength).toBe(1024 * 1024); // unpacked once
  const head = await fetch(`${nodes}/n/proxy/logs/`, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe(String(packed.length));
  expect(errors).toEqual([]);
});
