/** A watch tells everything, however much it is, at its reader's pace: over HTTP/1.1 and HTTP/2, from any start. */
import { connect } from "node:http2";
import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Listening } from "./http1-server.ts";
import { processPorts } from "./memory-limit.ts";
import { startWallServer } from "./wall-server.ts";

const objectCount = 8_000; // of 3 kB, 24 MB in all: more than a watch was once allowed to leave unread
const configMaps = "/api/v1/namespaces/default/configmaps";

let server: Listening;
beforeAll(async () => {
  server = await startWallServer({
    seed: "whole",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: kubernetesProfile,
    featureGates: { WatchList: true },
    onError: (error) => {
      throw error as Error;
    },
  });
  const text = "v".repeat(2_500);
  for (let at = 0; at < objectCount; at += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        fetch(`${server.url}${configMaps}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ metadata: { name: `c-${at + index}` }, data: { text } }),
        }).then((answer) => answer.arrayBuffer()),
      ),
    );
  }
}, 120_000);
afterAll(() => server.close(0));

interface Reading {
  readonly added: number;
  readonly marked: boolean;
  readonly ended: boolean;
}

/** Reads until all the objects have come (and the mark, where one is due); `restMillis` between two pieces. */
async function read(body: AsyncIterable<Uint8Array>, wantsMark: boolean, restMillis: number): Promise<Reading> {
  let added = 0;
  let marked = false;
  let rest = "";
  for await (const piece of body) {
    rest += new TextDecoder().decode(piece);
    const lines = rest.split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      if (line.startsWith('{"type":"ADDED"')) added++;
      else if (line.includes("initial-events-end")) marked = true;
    }
    if (added === objectCount && (marked || !wantsMark)) return { added, marked, ended: false };
    if (restMillis > 0) await sleep(restMillis);
  }
  return { added, marked, ended: true };
}

const queries = {
  "from version 0": "watch=1&resourceVersion=0",
  "as a streaming list": "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
};

it.each(Object.entries(queries))("over HTTP/1.1, %s", { timeout: 60_000 }, async (_, query) => {
  const wantsMark = query.includes("sendInitialEvents");
  const body = await new Promise<IncomingMessage>((resolve) => get(`${server.url}${configMaps}?${query}`, resolve));
  expect(await read(body, wantsMark, 0)).toEqual({ added: objectCount, marked: wantsMark, ended: false });
  body.destroy();
});

it.each(Object.entries(queries))("over HTTP/2, %s", { timeout: 60_000 }, async (_, query) => {
  const wantsMark = query.includes("sendInitialEvents");
  const session = connect(server.url);
  const stream = session.request({ ":path": `${configMaps}?${query}` });
  expect(await read(stream, wantsMark, 0)).toEqual({ added: objectCount, marked: wantsMark, ended: false });
  session.destroy();
});

it("to a reader that rests after every piece, while others write", { timeout: 60_000 }, async () => {
  const body = await new Promise<IncomingMessage>((resolve) =>
    get(`${server.url}${configMaps}?${queries["from version 0"]}`, resolve),
  );
  const reading = read(body, false, 2);
  for (let at = 0; at < 50; at++) {
    await fetch(`${server.url}${configMaps}/c-${at}`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ data: { text: `changed ${at}` } }),
    });
  }
  expect(await reading).toEqual({ added: objectCount, marked: false, ended: false });
  body.destroy();
});

it("costs nobody the server's attention: fifty watches that nobody reads", { timeout: 60_000 }, async () => {
  const before = processPorts.usedBytes(); // of this thread alone: what others of its process hold meanwhile is theirs
  const unread = await Promise.all(
    Array.from(
      { length: 50 },
      () =>
        new Promise<IncomingMessage>((resolve) =>
          get(`${server.url}${configMaps}?${queries["from version 0"]}`, { agent: false }, (answer) =>
            resolve(answer.pause()),
          ),
        ),
    ),
  );
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  // 50 × 24 MB would be 1.2 GB.
  expect(processPorts.usedBytes() - before).toBeLessThan(500 * 1024 * 1024);
  for (const answer of unread) answer.destroy();
});

it("counts the bytes of a list that leaves in parts", async () => {
  const sum = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(
      /apiserver_response_sizes_sum\{[^}]*resource="configmaps"[^}]*verb="LIST"[^}]*\} (\S+)/.exec(text)?.[1] ?? 0,
    );
  };
  const before = await sum();
  const list = await (await fetch(`${server.url}${configMaps}`)).arrayBuffer();
  expect(list.byteLength).toBeGreaterThan(20_000_000);
  expect(await sum()).toBe(before + list.byteLength);
});
