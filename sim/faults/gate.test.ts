import { expect, it } from "vitest";
import type { ApiHandler, ApiRequest, Responder } from "../contract/http-message.ts";
import { objectPayload } from "../contract/plain-payload.ts";
import { prngStream } from "../kernel/prng.ts";
import { Gate } from "./gate.ts";

const request = (path: string): ApiRequest => ({ method: "GET", path, query: "", headers: {} });

/** A server on which every request but the first tells the watcher of itself. */
function server(): ApiHandler {
  let watcher: Responder | undefined;
  return {
    start({ path }, responder) {
      if (path === "/watch") {
        watcher = responder;
        responder.open(200, {});
      } else {
        watcher?.frame(objectPayload({ type: "ADDED", object: { path } }));
        responder.respond(200, {}, objectPayload({ path }));
      }
      return () => {};
    },
  };
}

function client(log: string[], name: string): Responder {
  return {
    respond: (status, _, { object }) => void log.push(`${name} ${status} ${String(object?.["path"] ?? "")}`.trimEnd()),
    open: () => void log.push(`${name} opens`),
    frame({ object }) {
      log.push(`${name} hears ${String((object as { object: { path: string } }).object.path)}`);
      return 0;
    },
    close: () => void log.push(`${name} closes`),
  };
}

function stalledAfterOne(): { gate: Gate; log: string[] } {
  const log: string[] = [];
  const gate = new Gate(server(), prngStream("1"));
  gate.start(request("/watch"), client(log, "watcher"));
  gate.start(request("/a"), client(log, "writer"));
  gate.stall();
  gate.start(request("/b"), client(log, "writer"));
  gate.start(request("/c"), client(log, "writer"));
  return { gate, log };
}

it("lets nothing in or out while it is stalled, and everything in order afterwards", () => {
  const { gate, log } = stalledAfterOne();
  expect(log).toEqual(["watcher opens", "watcher hears /a", "writer 200 /a"]);
  gate.resume();
  expect(log.slice(3).filter((line) => line.startsWith("watcher"))).toEqual(["watcher hears /b", "watcher hears /c"]);
  expect(log.slice(3).filter((line) => line.startsWith("writer"))).toEqual(["writer 200 /b", "writer 200 /c"]);
  gate.start(request("/d"), client(log, "writer"));
  expect(log.at(-1)).toBe("writer 200 /d");
});

it("does not begin what was cancelled while it waited", () => {
  const { gate, log } = stalledAfterOne();
  gate.start(request("/e"), client(log, "writer"))();
  gate.resume();
  expect(log.join()).not.toContain("/e");
});

it("tells a share of requests to come back", () => {
  const log: string[] = [];
  const gate = new Gate(server(), prngStream("1"));
  gate.throttle = { numerator: 1, denominator: 3 };
  for (let count = 0; count < 300; count++) gate.start(request("/a"), client(log, "writer"));
  const throttled = log.filter((line) => line === "writer 429").length;
  expect(throttled).toBeGreaterThan(60);
  expect(throttled).toBeLessThan(140);
});
