/**
 * `node bench/attacks.ts [NAME…]`: what hostile and merely large input does to a served API server. Each attack meets a
 * server of its own; a line of JSON says how long `/healthz` was silent at most while it lasted and two seconds after, how
 * much memory the process held at most, and how the requests were answered. Exit code 1 when a server ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { type AttackRequest, attacks } from "../sim/apiserver/attack-requests.fixture.ts";

interface Measured {
  readonly attack: string;
  readonly silenceMillis: number;
  readonly peakMegabytes: number;
  readonly millis: number;
  /** How often each status came; 0 for a connection that broke. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly ended: boolean;
}

const cli = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const tokens = join(mkdtempSync(join(tmpdir(), "attacks-")), "tokens.csv");
writeFileSync(tokens, `admin,admin,1,"system:masters"\nnobody,nobody,2,""\n`);

/** Requests of one attack that are under way together. */
const togetherMax = 16;
const afterMillis = 2_000;

class Target {
  readonly url: URL;
  private readonly child: ChildProcess;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });
  isOver = false;

  constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.url = new URL(url);
    child.once("exit", () => (this.isOver = true));
  }

  send({ method = "GET", path, headers = {}, body, as = "admin" }: AttackRequest): Promise<number> {
    return new Promise((resolve) => {
      const credentials = as === "" ? {} : { authorization: `Bearer ${as}` };
      const sent = request(
        {
          host: this.url.hostname,
          port: this.url.port,
          agent: this.agent,
          method,
          path,
          headers: { ...credentials, ...headers },
        },
        (answer) => {
          answer.on("data", () => {});
          answer.on("close", () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.on("error", () => resolve(0));
      sent.end(body);
    });
  }

  /** The most that the process has held, in bytes. */
  peakBytes(): number {
    try {
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  }

  stop(): void {
    this.agent.destroy();
    this.child.kill("SIGKILL");
  }
}

function started(): Promise<Target> {
  const flags = ["--profile", "kubernetes", "--port", "0", "--authorization-mode", "RBAC", "--token-auth-file", tokens];
  const limit = ["--max-semi-space-size=32"];
  const child = spawn(process.execPath, [...limit, cli, "serve", ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const url = /http:\/\/\S+/.exec(said)?.[0];
      if (url !== undefined) resolve(new Target(child, url));
    });
  });
}

/** Asks for a sign of life without a pause; the longest wait counts. */
class Pulse {
  longestMillis = 0;
  private isOver = false;
  private readonly target: Target;

  constructor(target: Target) {
    this.target = target;
    void this.beat();
  }

  private async beat(): Promise<void> {
    while (!this.isOver && !this.target.isOver) {
      const began = performance.now();
      await this.target.send({ path: "/healthz", as: "" });
      this.longestMillis = Math.max(this.longestMillis, performance.now() - began);
      await sleep(5);
    }
  }

  stop(): void {
    this.isOver = true;
  }
}

/** Sends all, some at a time, and counts how they were answered. */
async function sendAll(
  target: Target,
  requests: Iterable<AttackRequest>,
  statuses: Record<string, number>,
): Promise<void> {
  const under = new Set<Promise<void>>();
  for (const each of requests) {
    if (target.isOver) break;
    if (under.size >= togetherMax) await Promise.race(under);
    const sent: Promise<void> = target.send(each).then((status) => {
      under.delete(sent);
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
    under.add(sent);
  }
  await Promise.all(under);
}

async function measured(name: string): Promise<Measured> {
  const attack = attacks[name] as (typeof attacks)[string];
  const target = await started();
  try {
    await sendAll(target, attack.prepare?.() ?? [], {});
    const statuses: Record<string, number> = {};
    const pulse = new Pulse(target);
    await sleep(100);
    const began = performance.now();
    await sendAll(target, attack.strike?.() ?? [], statuses);
    const release = attack.hold === undefined ? undefined : await holds[attack.hold.is](target, attack.hold.count);
    const millis = performance.now() - began;
    await sleep(afterMillis);
    pulse.stop();
    release?.();
    return {
      attack: name,
      silenceMillis: Math.round(pulse.longestMillis),
      peakMegabytes: Math.round(target.peakBytes() / 1_048_576),
      millis: Math.round(millis),
      statuses,
      ended: target.isOver,
    };
  } finally {
    target.stop();
  }
}

type Hold = (target: Target, count: number) => Promise<() => void>;

const configMaps = "/api/v1/namespaces/default/configmaps";

/** Connections that are left as they are. */
const holds: Readonly<Record<"unread-watches" | "unread-streams" | "unfinished-bodies", Hold>> = {
  async "unread-watches"({ url }, count) {
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {}).pause();
      socket.write(
        `GET ${configMaps}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\n\r\n`,
      );
      return socket;
    });
    await sleep(3_000);
    return () => sockets.forEach((socket) => socket.destroy());
  },
  async "unread-streams"({ url }, count) {
    const sessions = Array.from({ length: Math.ceil(count / 250) }, () => {
      const session = connectHttp2(url.href, { settings: { initialWindowSize: 0 } });
      session.on("error", () => {});
      for (let at = 0; at < 250; at++) {
        const stream = session.request({
          [constants.HTTP2_HEADER_PATH]: configMaps,
          authorization: "Bearer admin",
        });
        stream.on("error", () => {}).pause();
      }
      return session;
    });
    await sleep(3_000);
    return () => sessions.forEach((session) => session.destroy());
  },
  async "unfinished-bodies"({ url }, count) {
    const body = "v".repeat(2_900_000);
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {});
      socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Length: 2900001\r\n\r\n`);
      socket.write(body);
      return socket;
    });
    await sleep(3_000);
    return () => sockets.forEach((socket) => socket.destroy());
  },
};

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !Object.hasOwn(attacks, name));
  if (unknown.length > 0) {
    console.error(`attacks: no attack is called ${unknown.join(" or ")}. Attacks: ${Object.keys(attacks).join(", ")}.`);
    return 2;
  }
  let code = 0;
  for (const name of names.length > 0 ? names : Object.keys(attacks)) {
    const found = await measured(name);
    console.log(JSON.stringify(found));
    if (found.ended) code = 1;
  }
  return code;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
