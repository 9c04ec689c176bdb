/** What a server without any memory left still does. */
import { request } from "node:http";
import { afterEach, expect, it } from "vitest";
import type { ApiHandler, Responder } from "../contract/http-message.ts";
import { text } from "./fixtures/desk.fixture.ts";
import { type Listening, listenHttp1 } from "./http1-server.ts";

let open: Listening | undefined;
afterEach(() => open?.close(0));

const ask = (method: string, path: string, body = ""): Promise<number> =>
  new Promise((resolve, reject) => {
    request(`${open?.url}${path}`, { method, agent: false, headers: { "content-length": body.length } }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    })
      .on("error", reject)
      .end(body);
  });

it("deletes little, of which only some is under way at a time, and answers nothing else", async () => {
  const held: Responder[] = [];
  let arrived = (): void => {};
  const handler: ApiHandler = {
    start({ path }, responder) {
      if (path !== "/api/v1/nodes/held") responder.respond(200, {}, text("deleted"));
      else if (held.push(responder) === 16) arrived();
      return () => {};
    },
  };
  open = await listenHttp1({ handler, turn: (work) => work(), memoryBytesMax: 1 }, 0, "127.0.0.1");
  const refused = [
    ask("GET", "/api/v1/nodes/a"),
    ask("POST", "/api/v1/nodes", "{}"),
    ask("DELETE", "/api/v1/nodes"),
    ask("DELETE", "/api/v1/nodes/a", " ".repeat(16 * 1024)),
  ];
  expect(await Promise.all(refused)).toEqual([503, 503, 503, 503]);
  const allowed = [
    ask("DELETE", "/api/v1/nodes/a", "{}"),
    ask("DELETE", "/api/v1/nodes?limit=50"),
    ask("GET", "/livez"),
  ];
  expect(await Promise.all(allowed)).toEqual([200, 200, 200]);

  const all = new Promise<void>((resolve) => (arrived = resolve));
  const waiting = Array.from({ length: 16 }, () => ask("DELETE", "/api/v1/nodes/held"));
  await all;
  expect(await ask("DELETE", "/api/v1/nodes/a")).toBe(503);
  for (const responder of held) responder.respond(200, {}, text("deleted"));
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, () => 200));
  expect(await ask("DELETE", "/api/v1/nodes/a")).toBe(200);
});
