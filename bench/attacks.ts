/**
 * `node bench/attacks.ts [NAME…]`, `node bench/attacks.ts --round 2 [WORD…]`: what hostile and merely large input does to a served API server. Each attack meets a
 * server of its own; a line of JSON says how much processor time one turn of its loop took at most while it lasted and two
 * seconds after, how long `/healthz` was silent meanwhile, how much memory the process held at most, and how the requests
 * were answered. Exit code 1 when a server ended.
 *
 * The second round is a table: each shape of a large body by each verb in each encoding, at one server for as long as it
 * lives; words choose among the names (`create yaml labels`), in which all must stand. What is there afterwards is not looked at for long.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Attack, type AttackRequest, attacks } from "../sim/apiserver/attack-requests.fixture.ts";
import { attackTable } from "../sim/apiserver/attack-table.fixture.ts";

interface Measured {
  readonly attack: string;
  /** Of processor time: on a busy machine the silence is longer. */
  readonly turnMillis: number;
  readonly silenceMillis: number;
  readonly peakMegabytes: number;
  readonly millis: number;
  /** How often each status came; 0 for a connection that broke. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly ended: boolean;
}

const table = attackTable();
const cli = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const meter = new URL("turn-meter.ts", import.meta.url).href;
const tokens = join(mkdtempSync(join(tmpdir(), "attacks-")), "tokens.csv");
writeFileSync(tokens, `admin,admin,1,"system:masters"\nnobody,nobody,2,""\n`);

/** For node, as `--trace-gc`; what they make it print goes to standard error. */
const nodeFlags = (process.env["BENCH_SERVER_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");

/** Requests of one attack that are under way together. */
const togetherMax = 16;
const afterMillis = { first: 2_000, second: 200 } as const;

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

  /** From here on turns are measured. */
  begin(): void {
    this.child.send("begin");
  }

  /** Processor time of the longest turn, in microseconds; what is known when the process has ended: 0. */
  longestTurnMicros(): Promise<number> {
    if (this.isOver) return Promise.resolve(0);
    return new Promise((resolve) => {
      this.child.once("message", (said: { readonly longestMicros: number }) => resolve(said.longestMicros));
      this.child.once("exit", () => resolve(0));
      this.child.send("longest");
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
    this.child.kill(nodeFlags.length > 0 ? "SIGTERM" : "SIGKILL"); // what node writes at its end is wanted
  }
}

function started(): Promise<Target> {
  const access = ["--authorization-mode", "RBAC", "--token-auth-file", tokens];
  const gates = ["--feature-gates", "CBORServingAndStorage=true"];
  const flags = ["--profile", "kubernetes", "--port", "0", ...access, ...gates];
  const limits = ["--max-semi-space-size=32", ...nodeFlags, "--import", meter];
  const child = spawn(process.execPath, [...limits, cli, "serve", ...flags], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const url = /http:\/\/\S+/.exec(said)?.[0];
      if (url !== undefined) resolve(new Target(child, url));
      if (nodeFlags.length > 0) process.stderr.write(chunk);
    });
  });
}

/** Asks for a sign of life without a pause, in a thread of its own; the longest wait counts. */
class Pulse {
  private readonly thread: Worker;

  private constructor(thread: Worker) {
    this.thread = thread;
  }

  static async begun({ url }: Target): Promise<Pulse> {
    const thread = new Worker(new URL("pulse.ts", import.meta.url), { workerData: url.href });
    await once(thread, "message");
    return new Pulse(thread);
  }

  async longestMillis(): Promise<number> {
    this.thread.postMessage("end");
    const [millis] = (await once(this.thread, "message")) as [number];
    return millis;
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

async function measured(
  name: string,
  attack: Attack,
  target: Target,
  round: keyof typeof afterMillis,
): Promise<Measured | undefined> {
  const strikes = [...(attack.strike?.() ?? [])];
  if (strikes.length === 0 && attack.hold === undefined) return undefined; // there is no such combination
  // One after the other, where what is prepared builds on what was.
  if (round === "first") await sendAll(target, attack.prepare?.() ?? [], {});
  else for (const each of attack.prepare?.() ?? []) await target.send(each);
  const statuses: Record<string, number> = {};
  await sleep(100);
  if (target.isOver) return ended(name);
  target.begin();
  const pulse = await Pulse.begun(target);
  const began = performance.now();
  await sendAll(target, strikes, statuses);
  const release = attack.hold === undefined ? undefined : await holds[attack.hold.is](target, attack.hold.count);
  const millis = performance.now() - began;
  await sleep(afterMillis[round]);
  const silenceMillis = Math.round(await pulse.longestMillis());
  release?.();
  return {
    attack: name,
    turnMillis: Math.round((await target.longestTurnMicros()) / 1_000),
    silenceMillis,
    peakMegabytes: Math.round(target.peakBytes() / 1_048_576),
    millis: Math.round(millis),
    statuses,
    ended: target.isOver,
  };
}

/** It did not even live to see the attack. */
const ended = (attack: string): Measured => ({
  attack,
  turnMillis: 0,
  silenceMillis: 0,
  peakMegabytes: 0,
  millis: 0,
  statuses: {},
  ended: true,
});

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

/** Each at a server of its own. */
async function* firstRound(names: readonly string[]): AsyncGenerator<Measured | undefined> {
  for (const name of names) {
    const target = await started();
    try {
      yield await measured(name, attacks[name] as Attack, target, "first");
    } finally {
      target.stop();
    }
  }
}

/** At one server, and at another when that has ended. */
async function* secondRound(names: readonly string[]): AsyncGenerator<Measured | undefined> {
  let target = await started();
  try {
    for (const name of names) {
      if (target.isOver) target = await started();
      yield await measured(name, table[name] as Attack, target, "second");
    }
  } finally {
    target.stop();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const isSecond = args[0] === "--round" && args[1] === "2";
  const asked = isSecond ? args.slice(2) : args;
  const all = Object.keys(isSecond ? table : attacks);
  const names = isSecond
    ? all.filter((name) => asked.every((word) => name.split(" ").includes(word)))
    : asked.length > 0
      ? asked
      : all;
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0 || names.length === 0) {
    const words = unknown.length > 0 ? unknown : asked;
    console.error(`attacks: no attack is called ${words.join(" or ")}. Attacks: ${Object.keys(attacks).join(", ")}.`);
    return 2;
  }
  let code = 0;
  for await (const found of isSecond ? secondRound(names) : firstRound(names)) {
    if (found === undefined) continue;
    console.log(JSON.stringify(found));
    if (found.ended) code = 1;
  }
  return code;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
