/** Slow clients under TLS and over HTTP/2: none keeps its connection, its stream or its body for good. */
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Listening } from "./http1-server.ts";
import { selfSignedCertificate } from "./certificates/self-signed.ts";
import { startWallServer } from "./wall-server.ts";

const hour = 3_600_000;
const tls = selfSignedCertificate({
  hosts: ["127.0.0.1"],
  notBeforeMillis: Date.now() - hour,
  notAfterMillis: Date.now() + hour,
});

const configMaps = "/api/v1/namespaces/default/configmaps";
let server: Listening;

beforeEach(async () => {
  const onError = (error: unknown): never => {
    throw error;
  };
  const patience = { headMillisMax: 500, bodyMillisMax: 500, idleMillisMax: 500 };
  const address = { port: 0, bindAddress: "127.0.0.1" };
  server = await startWallServer({ seed: "slow", ...address, profile: kubernetesProfile, tls, patience, onError });
});

afterEach(() => server.close(0));

it("a connection without a handshake is ended", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve) => socket.on("close", resolve));
});

it.each([
  ["a head", "GET / HTTP/1.1\r\nHost: h\r\n", "X-A: a\r\n"],
  ["a body", `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n{`, "x"],
])("%s that never ends is answered with 408, however it drips", async (_, begin, more) => {
  const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: tls.certificate });
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
  socket.on("error", () => {});
  socket.write(begin);
  const drip = setInterval(() => socket.write(more), 50);
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(drip);
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
});

it("a stream's body that never ends is answered with 408, the stream is closed, and then the idle session", async () => {
  const session = connectHttp2(server.url, { ca: tls.certificate });
  session.on("error", () => {});
  const ended = new Promise((resolve) => session.on("close", resolve));
  const stream = session.request({ ":method": "POST", ":path": configMaps }, { endStream: false });
  const status = new Promise((resolve) => stream.on("response", (headers) => resolve(headers[":status"])));
  const closed = new Promise((resolve) => stream.on("close", resolve));
  stream.on("error", () => {});
  stream.resume();
  stream.write("{");
  expect(await status).toBe(408);
  await closed;
  await ended;
});
