/** Whoever hangs up asks `serve` to read its files again: that is done, and nobody's request or watch is cut. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { cleanUp, get, type Running, scratch, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const tokens = join(scratch, "hangup-tokens.csv");
writeFileSync(tokens, 'admin,admin,1,"system:masters"\n');
const path = "/api/v1/namespaces/default/configmaps";
const authorization = "Bearer admin";

const access = (anonymous: boolean): string =>
  `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\nanonymous: {enabled: ${anonymous}}\n`;

async function served(...flags: string[]): Promise<{ readonly running: Running; readonly url: string }> {
  const common = ["--profile", "kubernetes", "--port", "0", "--token-auth-file", tokens];
  const running = start("serve", ...common, ...flags);
  const line = await running.firstLine;
  return { running, url: /http:\S+/.exec(line)?.[0] ?? "" };
}

/** A watch, and a create of which half the body has been sent. */
async function underWay(url: string, name: string) {
  const seen = { events: "", isOver: false, answer: "" };
  const watch = request(`${url}${path}?watch=1`, { headers: { authorization }, agent: false });
  watch.end();
  const [incoming] = (await once(watch, "response")) as [IncomingMessage];
  incoming.on("data", (chunk: Buffer) => (seen.events += chunk.toString()));
  incoming.on("close", () => (seen.isOver = true));
  const body = JSON.stringify({ metadata: { name } });
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nContent-Type: application/json`;
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  socket.on("data", (chunk: Buffer) => (seen.answer += chunk.toString()));
  return {
    seen,
    finish: () => socket.write(body.slice(5)),
    close() {
      watch.destroy();
      socket.destroy();
    },
  };
}

it("reads its files again, while a request and a watch go on", async () => {
  const file = join(scratch, "hangup.yaml");
  writeFileSync(file, access(true));
  const { running, url } = await served("--authentication-config", file);
  const { seen, finish, close } = await underWay(url, "half");
  expect((await get(`${url}/api`)).status).toBe(200);
  writeFileSync(file, access(false));
  running.child.kill("SIGHUP");
  await expect.poll(async () => (await get(`${url}/api`)).status).toBe(401);
  finish();
  await expect.poll(() => seen.answer).toContain("HTTP/1.1 201 ");
  await expect.poll(() => seen.events).toContain('"name":"half"');
  expect(seen.isOver).toBe(false);
  close();
  running.child.kill("SIGTERM");
  expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("is in force") });
});

it("cuts nothing where there is no such file", async () => {
  const { running, url } = await served();
  const { seen, finish, close } = await underWay(url, "whole");
  for (let times = 0; times < 5; times++) running.child.kill("SIGHUP");
  expect((await get(`${url}/livez`)).status).toBe(200);
  finish();
  await expect.poll(() => seen.answer).toContain("HTTP/1.1 201 ");
  await expect.poll(() => seen.events).toContain('"name":"whole"');
  expect(seen.isOver).toBe(false);
  close();
  running.child.kill("SIGTERM");
  expect((await running.ended).code).toBe(0);
});
