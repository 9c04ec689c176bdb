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

/** What is told of an answer of these bytes, until it is over. */
async function toldOf(head: string, chunks: readonly string[], query = ""): Promise<readonly string[]> {
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(`HTTP/1.1 ${head}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`);
      for (const chunk of chunks) socket.write(chunk);
      socket.end();
    });
  });
  server = listening;
  await new Promise<void>((listens) => listening.listen(0, "127.0.0.1", listens));
  const url = `http://127.0.0.1:${(listening.address() as { port: number }).port}`;
  const remote = remoteServer({ url, dialect: kubernetesDialect, usesProtobuf: false, turn: (work) => work() });
  const told: string[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  remote.start(
    { ...request, query, body: undefined },
    {
      respond: (status) => (told.push(`answer ${status}`), resolve()),
      open: () => void told.push("open"),
      frame: ({ object }) => (told.push(String(object?.["type"])), 0),
      close: () => (told.push("end"), resolve()),
      failed: (why) => (told.push(why), resolve()),
    },
  );
  await over;
  remote.close();
  return told;
}

const node = { kind: "Node", apiVersion: "v1", metadata: { name: "a" } };

it("an answer that makes no sense is as if the connection had broken; a refusal needs no sense", async () => {
  const list = JSON.stringify({ kind: "NodeList", apiVersion: "v1", items: [node] });
  expect(await toldOf("200 OK", [list])).toEqual(["answer 200"]);
  expect(await toldOf("200 OK", [list.slice(0, -5)])).toEqual(["disconnected"]);
  expect(await toldOf("200 OK", ['{"kind":"NodeList","apiVersion":"v1","items":{"a":1}}'])).toEqual(["disconnected"]);
  expect(await toldOf("503 Service Unavailable", ["no"])).toEqual(["answer 503"]);
});

it("a watch ends where an event makes no sense, and tells nothing that follows", async () => {
  const event = `${JSON.stringify({ type: "ADDED", object: node })}\n`;
  expect(await toldOf("200 OK", [event, event], "watch=true")).toEqual(["open", "ADDED", "ADDED", "end"]);
  for (const wrong of ["{}", "[]", "nonsense", '{"type":"ADDED","object":[]}', '{"type":"ADDED"}'])
    expect(await toldOf("200 OK", [event, `${wrong}\n`, event], "watch=true")).toEqual([
      "open",
      "ADDED",
      "disconnected",
    ]);
});
