import { mkdtempSync, rmSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import {
  endOfHeaders,
  endOfStream,
  frame,
  frameTypes,
  head,
  header,
  prefaceWith,
} from "../http/http2-frames.fixture.ts";
import { wallPorts } from "../http/wall.ts";
import { PacedSessions } from "../kernel/paced-sessions.ts";
import { ArrivingCalls, callBytes } from "./arriving-calls.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

const asItIs = (bytes: Buffer): Buffer => bytes;

/** A service whose calls are answered when they are told to be. */
async function serve(bytesMax: number, sessions = new PacedSessions(wallPorts)) {
  const arriving = new ArrivingCalls(bytesMax, sessions);
  const waiting: (() => void)[] = [];
  const server = new Server({ interceptors: [arriving.interceptor] });
  const call = {
    path: "/s/m",
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  } as const;
  server.addService(
    { m: call },
    {
      m: ({ request }: { request: Buffer }, answer: (error: null, bytes: Buffer) => void) =>
        waiting.push(() => {
          arriving.begins(request);
          answer(null, Buffer.alloc(0));
        }),
    },
  );
  const home = mkdtempSync(join(tmpdir(), "touchstone-arriving-"));
  const path = join(home, "s.sock");
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
  cleanups.push(
    () => session.destroy(),
    () => server.forceShutdown(),
    () => rmSync(home, { recursive: true, force: true }),
  );
  return { arriving, waiting, session, path };
}

/** Sends so many bytes of a message of `length`, and resolves with the status when it is over. */
function send(session: ClientHttp2Session, bytes: number, length: number, encoding = "identity") {
  const stream = session.request({
    ":method": "POST",
    ":path": "/s/m",
    "content-type": "application/grpc",
    "grpc-encoding": encoding,
  });
  const head = Buffer.alloc(5);
  if (encoding !== "identity") head.writeUInt8(1);
  head.writeUInt32BE(length, 1);
  let status: unknown;
  stream.on("response", (headers) => (status = headers["grpc-status"]));
  stream.on("trailers", (headers) => (status = headers["grpc-status"]));
  stream.resume().on("error", () => {});
  const over = new Promise<unknown>((resolve) => void stream.on("close", () => resolve(status)));
  const body = Buffer.concat([head, Buffer.alloc(bytes)]);
  if (bytes === length) stream.end(body);
  else stream.write(body);
  return { stream, over };
}

const size = 40_000;
/** What a call counts of which so much has come, its head of five bytes among it. */
const counted = size + 5 + callBytes;

it("of more than there is room for, those that have come for the longest are refused, and end", async () => {
  const { arriving, session } = await serve(3 * counted);
  const calls = Array.from({ length: 3 }, () => send(session, size, size + 1));
  await expect.poll(() => arriving.bytes).toBe(3 * counted);
  calls.push(send(session, size, size + 1));
  expect(await calls[0]?.over).toBe("8");
  expect(arriving.bytes).toBe(3 * counted);
  calls[1]?.stream.close();
  await expect.poll(() => arriving.bytes).toBe(2 * counted);
});

it("what is complete and waits counts until it is carried out", async () => {
  const { arriving, waiting, session } = await serve(3 * counted);
  const { over } = send(session, size, size);
  await expect.poll(() => waiting.length).toBe(1);
  expect(arriving.bytes).toBe(size + callBytes);
  waiting[0]?.();
  expect(arriving.bytes).toBe(0);
  expect(await over).toBe("0");
});

it("calls that bring nothing count as well", async () => {
  const { arriving, session } = await serve(10 * callBytes);
  const calls = Array.from({ length: 11 }, () => {
    const stream = session.request({ ":method": "POST", ":path": "/s/m", "content-type": "application/grpc" });
    stream.resume().on("error", () => {});
    return new Promise((resolve) => void stream.on("close", resolve));
  });
  await calls[0];
  await expect.poll(() => arriving.bytes).toBe(10 * callBytes);
});

it.each(["gzip", "deflate", "x".repeat(1000)])(
  "a call that is packed as %s is refused before it is unpacked",
  async (encoding) => {
    const { arriving, waiting, session } = await serve(10 * counted);
    expect(await send(session, size, size, encoding).over).toBe("12");
    expect([waiting.length, arriving.bytes]).toEqual([0, 0]);
    const { over } = send(session, size, size);
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    expect(await over).toBe("0");
  },
);

it("calls begin some hundreds in a turn, however many connections bring them", { timeout: 60_000 }, async () => {
  const [connections, calls] = [12, 600];
  const headers = [head("POST", "/s/m"), header("content-type", "application/grpc"), header("te", "trailers")];
  const long = times(6, (at) => header(`x-${at}`, "v".repeat(120)));
  const opening = Buffer.concat([...headers, ...long]);
  const sent = Buffer.concat(
    times(calls, (at) =>
      Buffer.concat([
        frame(frameTypes.headers, endOfHeaders, 2 * at + 1, opening),
        frame(frameTypes.data, endOfStream, 2 * at + 1, Buffer.alloc(5)),
      ]),
    ),
  );
  const { path, waiting } = await serve(100 << 20, new PacedSessions(wallPorts, 100));
  const sockets = times(connections, () => connect(path));
  cleanups.push(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) socket.on("error", () => {}).write(prefaceWith());
  await setTimeout(100);
  for (const socket of sockets) socket.write(sent);
  let most = 0;
  for (let before = 0; before < connections * calls; before = waiting.length) {
    await setImmediate();
    most = Math.max(most, waiting.length - before);
  }
  // 64 KiB of each session are read before it can be stopped, some sixty calls; all that they bring by themselves.
  expect(most).toBeLessThan(1_500);
});

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
