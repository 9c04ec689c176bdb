import { afterEach, expect, it } from "vitest";
import type { ApiHandler } from "../contract/http-message.ts";
import { text } from "./fixtures/desk.fixture.ts";
import { listenHttp } from "./http-server.ts";
import type { Listening } from "./http1-server.ts";
import { RawSocket } from "./raw-socket.fixture.ts";
import { wallPorts } from "./wall.ts";

const clients = 60;
const spinMicros = 3_000;
let open: Listening | undefined;

afterEach(async () => {
  await open?.close(0);
  open = undefined;
});

/** Takes the loop for itself, as a step that cannot be cut does. */
function spin(): void {
  const until = wallPorts.nowMicros() + spinMicros;
  while (wallPorts.nowMicros() < until);
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;

it("answers a small request before a crowd that has come first and takes long", async () => {
  const order: string[] = [];
  const handler: ApiHandler = {
    start({ path }, responder) {
      if (path.startsWith("/api")) spin();
      if (path !== "/readyz") order.push(path);
      responder.respond(200, {}, text(path === "/readyz" ? "ready" : "ok"));
      return () => {};
    },
  };
  open = await listenHttp({ handler, turn: (work) => work(), bodyBytesMax: 8 }, 0, "127.0.0.1");
  const { port } = open;
  const crowd = Array.from({ length: clients }, () => new RawSocket(port));
  const small = new RawSocket(port);
  const all = [...crowd, small];
  const answered = (text: string) => Promise.all(all.map((client) => client.until(new RegExp(`${text}$`))));
  for (const client of all) client.send(get("/readyz"));
  await answered("ready"); // every connection has been accepted
  // All of this has come before the server looks: it has the same loop.
  crowd.forEach((client, at) => client.send(get(`/api/v1/namespaces/of-${at}/things`)));
  small.send(get("/healthz"));
  await answered("ok");
  // Two are needed to know the kind, and what is large has a turn now and then.
  expect(order.indexOf("/healthz")).toBeLessThan(clients / 3);
  for (const client of all) client.destroy();
});
