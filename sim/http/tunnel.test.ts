import { createServer, type Server } from "node:http";
import { connect, createServer as createPlainServer, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import type { TunnelTarget } from "../contract/http-message.ts";
import { openTunnel } from "./tunnel.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** Changes the protocol, and then says every word back. */
async function echoing(): Promise<string> {
  const server: Server = createServer();
  server.on("upgrade", (_request, socket) => {
    open.push({ close: () => socket.destroy() });
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({ close: () => server.close() });
  return String((server.address() as { port: number }).port);
}

/** A client whose connection is handed on to there. */
async function handedOn(limits: Pick<TunnelTarget, "idleMillisMax" | "millisMax">): Promise<Socket> {
  const port = await echoing();
  const target = { scheme: "http" as const, host: "127.0.0.1", port, method: "GET", target: "/" };
  const headers = { connection: "Upgrade", upgrade: "echo" };
  const between = createPlainServer((socket) => {
    openTunnel(socket, Buffer.alloc(0), { ...target, headers, ...limits }, {}, () => {});
  });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  open.push({ close: () => between.close() });
  const client = connect((between.address() as { port: number }).port, "127.0.0.1");
  client.on("error", () => {});
  open.push({ close: () => client.destroy() });
  const [head] = (await once(client, "data")) as [Buffer];
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  return client;
}

/** However it ends: what was on its way may be lost with it. */
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => void socket.once("close", () => resolve()));

it("a connection that is handed on is ended when nobody has said anything for the idle limit", async () => {
  const client = await handedOn({ idleMillisMax: 1_000, millisMax: 3_600_000 });
  await closed(client);
});

it("ends when its time is over, however busy it is", async () => {
  const client = await handedOn({ idleMillisMax: 3_600_000, millisMax: 1_000 });
  client.on("data", (said) => void client.write(said)); // round and round
  client.write("word");
  await closed(client);
});

it("stays while somebody speaks, and what is said comes back", async () => {
  const client = await handedOn({ idleMillisMax: 3_600_000, millisMax: 3_600_000 });
  for (const word of ["one", "two", "three"]) {
    client.write(word);
    const [said] = (await once(client, "data")) as [Buffer];
    expect(String(said)).toBe(word);
  }
  expect(client.destroyed).toBe(false);
});
