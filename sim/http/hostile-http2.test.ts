/** Floods of HTTP/2 frames: the connection that sends them ends or waits, and others are served. */
import { connect } from "node:http2";
import { afterEach, beforeEach, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Listening } from "./http1-server.ts";
import {
  endOfHeaders,
  endOfStream,
  frame,
  frameTypes as types,
  head,
  header,
  prefaceWith,
} from "./http2-frames.fixture.ts";
import { RawSocket } from "./raw-socket.fixture.ts";
import { startWallServer } from "./wall-server.ts";

let server: Listening;
let socket: RawSocket | undefined;

beforeEach(async () => {
  const onError = (error: unknown): never => {
    throw error;
  };
  server = await startWallServer({
    seed: "hostile",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: kubernetesProfile,
    onError,
  });
});

afterEach(async () => {
  socket?.destroy();
  await server.close(0);
});

const configMaps = "/api/v1/namespaces/default/configmaps";
const watch = head("GET", `${configMaps}?watch=1`);
const cancelled = Buffer.from([0, 0, 0, 8]);
const preface = prefaceWith();

/** Sends frames one after another for as long as the connection takes them. How many were sent. */
async function flood(count: number, frameAt: (index: number) => Uint8Array, first?: Uint8Array): Promise<number> {
  socket = new RawSocket(server.port, first === undefined ? preface : Buffer.concat([preface, first]));
  let sent = 0;
  for (; sent < count && !socket.socket.destroyed && !socket.socket.readableEnded; sent++) {
    socket.send(frameAt(sent));
    // The server may say that it has had enough, and is not sent everything at once.
    if (sent % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  return sent;
}

/** Types of the frames that came, and the error codes of those that end the connection. */
function framesOf(received: string): { readonly counts: readonly number[]; readonly endings: readonly number[] } {
  const bytes = Buffer.from(received, "latin1");
  const counts = new Array<number>(10).fill(0);
  const endings: number[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const type = bytes[at + 3] as number;
    counts[type] = (counts[type] ?? 0) + 1;
    if (type === types.goAway) endings.push(bytes.readUInt32BE(at + 13));
  }
  return { counts, endings };
}

async function stillAnswers(): Promise<void> {
  const answer = await new RawSocket(server.port, "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    .ended;
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
}

const endless = 1_000_000;
const post = frame(types.headers, endOfHeaders, 1, head("POST", configMaps));

it.each<[string, (index: number) => Uint8Array, Uint8Array?]>([
  [
    "streams that are reset as soon as they are opened",
    (index) =>
      Buffer.concat([
        frame(types.headers, endOfStream | endOfHeaders, 1 + 2 * index, watch),
        frame(types.reset, 0, 1 + 2 * index, cancelled),
      ]),
  ],
  ["more streams than are allowed", (index) => frame(types.headers, endOfStream | endOfHeaders, 1 + 2 * index, watch)],
  [
    "a head that goes on and on",
    () => frame(types.continuation, 0, 1, header("x-a", "a".repeat(100))),
    frame(types.headers, 0, 1, watch),
  ],
  ["a head that goes on with nothing", () => frame(types.continuation, 0, 1), frame(types.headers, 0, 1, watch)],
  ["empty pieces of a body", () => frame(types.data, 0, 1), post],
  ["priorities", () => frame(types.priority, 0, 1, Buffer.from([0, 0, 0, 3, 1]))],
])("a flood of %s ends the connection", async (_, frameAt, first) => {
  expect(await flood(endless, frameAt, first)).toBeLessThan(endless);
  await stillAnswers();
});

it.each<[string, number, (index: number) => Uint8Array]>([
  ["settings", types.settings, () => frame(types.settings, 0, 0)],
  ["pings", types.ping, () => frame(types.ping, 0, 0, Buffer.alloc(8))],
])("a flood of %s is acknowledged, or ends the connection when nobody reads that", async (_, type, frameAt) => {
  const count = 20_000;
  await flood(count, frameAt);
  await stillAnswers();
  while (framesOf(socket?.received ?? "").counts[type] !== count + (type === types.settings ? 2 : 0)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket?.destroy();
  socket = new RawSocket(server.port, preface);
  socket.socket.pause();
  const unread = socket;
  let sent = 0;
  for (; sent < endless && !unread.socket.destroyed; sent += 1_000) {
    unread.send(Buffer.concat(Array.from({ length: 1_000 }, frameAt)));
    await new Promise((resolve) => setImmediate(resolve));
    if (unread.socket.writableLength > 1 << 20) break; // the server has stopped to read
  }
  expect(sent).toBeLessThan(endless);
  await stillAnswers();
});

it.each([
  ["a stream of the wrong side", frame(types.headers, endOfStream | endOfHeaders, 2, watch), 1],
  ["headers that cannot be decoded", frame(types.headers, endOfStream | endOfHeaders, 1, Buffer.alloc(7, 0xff)), 9],
  ["a frame longer than allowed", frame(types.headers, endOfStream | endOfHeaders, 1, Buffer.alloc(1 << 20)), 6],
  ["a head before the one before it is over", Buffer.concat([frame(1, 0, 1, watch), frame(1, 5, 3, watch)]), 1],
])("%s ends the connection with its reason", async (_, bytes, code) => {
  socket = new RawSocket(server.port, Buffer.concat([preface, bytes]));
  expect(framesOf(await socket.ended).endings).toEqual([code]);
  await stillAnswers();
});

it("a client that allows no answer to be sent holds what it asked for, and nobody up", async () => {
  const noWindow = frame(types.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
  const asked = head("GET", "/openapi/v2");
  const streams = Array.from({ length: 200 }, (_, index) => frame(types.headers, 5, 1 + 2 * index, asked));
  socket = new RawSocket(server.port, Buffer.concat([preface, noWindow, ...streams]));
  while (framesOf(socket.received).counts[types.headers] !== 200) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(framesOf(socket.received).counts[types.data]).toBe(0);
  await stillAnswers();
});

it("answers that no stream lets out are kept up to a bound of all clients: the oldest are cut", {
  timeout: 60_000,
}, async () => {
  const headers = { "content-type": "application/json" };
  for (let at = 0; at < 4; at++) {
    const body = JSON.stringify({ metadata: { name: `s-${at}` }, data: { k: "v".repeat(700_000) } });
    expect((await fetch(server.url + configMaps, { method: "POST", headers, body })).status).toBe(201);
  }
  let cut = 0;
  const sessions = Array.from({ length: 4 }, () => connect(server.url, { settings: { initialWindowSize: 0 } }));
  for (const session of sessions) {
    session.on("error", () => {});
    for (let at = 0; at < 100; at++) {
      const stream = session.request({ ":path": configMaps }).on("error", () => {});
      stream.on("close", () => cut++).pause();
    }
  }
  // Each holds a megabyte at least, and 256 MiB are for all.
  await expect.poll(() => cut).toBeGreaterThanOrEqual(120);
  await stillAnswers();
  for (const session of sessions) session.destroy();
});

it("ten thousand watches are open at once, and all of them are told", { timeout: 120_000 }, async () => {
  const sessions = Array.from({ length: 40 }, () => connect(server.url));
  const watches = sessions.flatMap((session) =>
    Array.from({ length: 250 }, () => session.request({ ":path": `${configMaps}?watch=1&resourceVersion=0` })),
  );
  await Promise.all(watches.map((stream) => new Promise((resolve) => stream.on("response", resolve))));
  const heard = watches.map(
    (stream) => new Promise<string>((resolve) => stream.on("data", (bytes) => resolve(`${bytes}`))),
  );
  const body = JSON.stringify({ kind: "ConfigMap", metadata: { name: "a" } });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(server.url + configMaps, { method: "POST", headers, body });
  expect(answer.status).toBe(201);
  const told = new Set(await Promise.all(heard));
  expect([...told]).toEqual([expect.stringMatching(/^\{"type":"ADDED",.*"name":"a"/)]);
  for (const session of sessions) session.destroy();
});
