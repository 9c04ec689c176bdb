import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { kubernetesDialect } from "../../wire/dialect.ts";
import type { Responder } from "../contract/http-message.ts";
import { remoteServer } from "./remote-server.ts";

let server: Server | undefined;
afterEach(() => server?.close());

/** Takes connections and never says a word. */
async function silent(): Promise<{ url: string; sockets: Socket[]; connected: Promise<void> }> {
  const sockets: Socket[] = [];
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const listening = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.resume();
    resolve();
  });
  server = listening;
  await new Promise<void>((listens) => listening.listen(0, "127.0.0.1", listens));
  return { url: `http://127.0.0.1:${(listening.address() as { port: number }).port}`, sockets, connected };
}

const request = { method: "GET", path: "/api/v1/nodes", query: "", headers: { accept: "application/json" } } as const;

it("leaves nobody waiting when it is closed: what was asked is forgotten, and nothing more is sent", async () => {
  const { url, sockets, connected } = await silent();
  const told: string[] = [];
  const responder = new Proxy({} as Responder, { get: (_, name) => () => void told.push(String(name)) });
  const remote = remoteServer({
    url,
    dialect: kubernetesDialect,
    usesProtobuf: false,
    turn: (work) => work(),
  });
  remote.start({ ...request, body: undefined }, responder);
  await connected;
  const [socket] = sockets as [Socket];
  const ended = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
  remote.close();
  await ended;
  remote.start({ ...request, body: undefined }, responder);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([]);
  expect(sockets).toHaveLength(1);
});
