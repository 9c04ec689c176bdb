import { mkdtempSync, rmSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import { ArrivingCalls } from "./arriving-calls.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

const asItIs = (bytes: Buffer): Buffer => bytes;

/** A service whose calls are answered when they are told to be. */
async function serve(bytesMax: number) {
  const arriving = new ArrivingCalls(bytesMax);
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
  return { arriving, waiting, session };
}

/** Sends so many bytes of a message of `length`, and resolves with the status when it is over. */
function send(session: ClientHttp2Session, bytes: number, length: number) {
  const stream = session.request({ ":method": "POST", ":path": "/s/m", "content-type": "application/grpc" });
  const head = Buffer.alloc(5);
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

it("of more than there is room for, those that have come for the longest are refused, and end", async () => {
  const { arriving, session } = await serve(3 * (size + 5));
  const calls = Array.from({ length: 3 }, () => send(session, size, size + 1));
  await expect.poll(() => arriving.bytes).toBe(3 * (size + 5));
  calls.push(send(session, size, size + 1));
  expect(await calls[0]?.over).toBe("8");
  expect(arriving.bytes).toBe(3 * (size + 5));
  calls[1]?.stream.close();
  await expect.poll(() => arriving.bytes).toBe(2 * (size + 5));
});

it("what is complete and waits counts until it is carried out", async () => {
  const { arriving, waiting, session } = await serve(3 * size);
  const { over } = send(session, size, size);
  await expect.poll(() => waiting.length).toBe(1);
  expect(arriving.bytes).toBe(size);
  waiting[0]?.();
  expect(arriving.bytes).toBe(0);
  expect(await over).toBe("0");
});
