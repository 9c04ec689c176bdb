/** Attacks on the listeners of `touchstone agent`: paths, queries, heads, bodies, crowds, readers that do not read, commands and logs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { Agent as SecureAgent, request as requestSecure } from "node:https";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scratchFolder } from "../scratch.ts";
import { Victim } from "../victim.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });

const script = (name: string): string => (name === "p0" ? "seq 1 200000; sleep 1000000" : "sleep 1000000");

/** An agent without a server, whose pods come from files, beside a runtime. */
export class AgentTarget {
  readonly victim: Victim;
  private readonly runtime: Victim;
  private readonly securePort: number;
  private readonly plain = new Agent({ keepAlive: true, maxSockets: 64 });
  private readonly secure = new SecureAgent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });

  private constructor(victim: Victim, runtime: Victim, securePort: number) {
    this.victim = victim;
    this.runtime = runtime;
    this.securePort = securePort;
  }

  static async started(): Promise<AgentTarget> {
    const folder = scratchFolder();
    const socket = `unix://${join(folder, "cri.sock")}`;
    const runtime = await Victim.started(["runtime", "--listen", socket]);
    const manifests = join(folder, "manifests");
    mkdirSync(manifests);
    for (let at = 0; at < 20; at++) {
      const name = `p${at}`;
      const spec = { containers: [{ name: "c", image: "local/box:1", command: ["sh", "-c", script(name)] }] };
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
      writeFileSync(join(manifests, `${name}.json`), JSON.stringify(pod));
    }
    const [port, securePort] = await Promise.all([freePort(), freePort()]);
    const args = [
      ...["agent", `--container-runtime-endpoint=${socket}`, `--pod-manifest-path=${manifests}`, "--healthz-port=0"],
      ...["--hostname-override=a", "--address=127.0.0.1", `--read-only-port=${port}`, `--port=${securePort}`],
      ...[`--cert-dir=${join(folder, "pki")}`, "--anonymous-auth=true", "--authorization-mode=AlwaysAllow"],
    ];
    const victim = await Victim.started([...args, "--resolv-conf="], /http:\/\/\S+/);
    const target = new AgentTarget(victim, runtime, securePort);
    for (let tries = 0; tries < 100 && (await target.send("GET", "/containerLogs/default/p1-a/c")) !== 200; tries++)
      await sleep(200);
    return target;
  }

  /** The status; 0 for a connection that broke. Reading goes over the plain listener where that has the path. */
  send(
    method: string,
    path: string,
    more: { readonly body?: string; readonly headers?: Record<string, string>; readonly plain?: boolean } = {},
  ): Promise<number> {
    return new Promise((resolve) => {
      const { body, headers = {}, plain = false } = more;
      const of = { method, path, headers };
      const port = plain ? Number(new URL(this.victim.address).port) : this.securePort;
      const options = { ...of, host: "127.0.0.1", port };
      const sent = plain
        ? request({ ...options, agent: this.plain })
        : requestSecure({ ...options, agent: this.secure, rejectUnauthorized: false });
      const late = setTimeout(() => sent.destroy(), 60_000);
      sent.on("response", (answer) => {
        answer.on("data", () => {});
        answer.on("close", () => {
          clearTimeout(late);
          resolve(answer.statusCode ?? 0);
        });
      });
      sent.on("error", () => {
        clearTimeout(late);
        resolve(0);
      });
      sent.end(body);
    });
  }

  /** Raw bytes at the plain listener. */
  socket(bytes: string | Uint8Array): ReturnType<typeof connect> {
    const { port } = new URL(this.victim.address);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    return socket;
  }

  session(windowBytes?: number): ReturnType<typeof connectHttp2> {
    const settings = windowBytes === undefined ? {} : { initialWindowSize: windowBytes };
    const session = connectHttp2(`https://127.0.0.1:${this.securePort}`, { rejectUnauthorized: false, settings });
    session.on("error", () => {});
    return session;
  }

  stop(): void {
    this.plain.destroy();
    this.secure.destroy();
    this.victim.stop();
    this.runtime.stop();
  }
}

type AgentAttack = ProcessAttack<AgentTarget>;

const paths = {
  healthz: "/healthz",
  pods: "/pods",
  summary: "/stats/summary",
  metrics: "/metrics",
  cadvisor: "/metrics/cadvisor",
  resource: "/metrics/resource",
  probes: "/metrics/probes",
  runningpods: "/runningpods/",
  configz: "/configz",
  log: "/containerLogs/default/p0-a/c",
  logs: "/logs/",
  heap: "/debug/pprof/heap",
  goroutine: "/debug/pprof/goroutine",
  exec: "/exec/default/p1-a/c",
  attach: "/attach/default/p1-a/c",
  portForward: "/portForward/default/p1-a",
  run: "/run/default/p1-a/c",
} as const;

/** By name: what is asked of each path. */
const shapes: Readonly<
  Record<string, (target: AgentTarget, path: string, tell: (status: string) => void) => Promise<void>>
> = {
  crowd: (target, path, tell) =>
    crowd(1_000, 64, async () => tell(String(await target.send(path === paths.run ? "POST" : "GET", path)))),
  "long-query": async (target, path, tell) =>
    tell(String(await target.send("GET", `${path}?command=${"a".repeat(900_000)}`))),
  "many-parameters": async (target, path, tell) => {
    for (const method of ["GET", "POST"])
      tell(String(await target.send(method, `${path}?${"command=a&".repeat(90_000)}a=1`)));
  },
  "encoded-query": async (target, path, tell) =>
    tell(String(await target.send("GET", `${path}?command=${"%41".repeat(300_000)}`))),
  "long-path": async (target, path, tell) => tell(String(await target.send("GET", `${path}${"/a".repeat(400_000)}`))),
  "large-body": async (target, path, tell) => {
    for (const method of ["POST", "PUT"])
      tell(String(await target.send(method, path, { body: "a".repeat(20_000_000) })));
  },
  "many-headers": async (target, path, tell) => {
    const headers = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`x-${at}`, "v".repeat(100)]));
    tell(String(await target.send("GET", path, { headers, plain: true })));
  },
  numbers: async (target, path, tell) => {
    const query = "tailLines=999999999999999&limitBytes=999999999999999&sinceSeconds=999999999&timestamps=true";
    await crowd(50, 16, async () => tell(String(await target.send("GET", `${path}?${query}`))));
  },
  unread: async (target, path) => {
    const text = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(200);
    const sockets = Array.from({ length: 200 }, () => target.socket(text).pause());
    await sleep(3_000);
    for (const socket of sockets) socket.destroy();
  },
  "unread-streams": async (target, path) => {
    const sessions = Array.from({ length: 5 }, () => {
      const session = target.session(0);
      for (let at = 0; at < 200; at++)
        session
          .request({ ":path": path })
          .on("error", () => {})
          .pause();
      return session;
    });
    await sleep(3_000);
    for (const session of sessions) session.destroy();
  },
  "made-up-methods": async (target, path) => {
    const session = target.session();
    await crowd(2_000, 50, (at) => {
      const stream = session.request({ ":path": path, ":method": `M${at}${"A".repeat(1_000)}` });
      return new Promise<void>((resolve) =>
        stream
          .on("error", () => {})
          .on("close", resolve)
          .resume()
          .end(),
      );
    });
    session.destroy();
  },
};

const perPath: Readonly<Record<string, AgentAttack>> = Object.fromEntries(
  Object.entries(paths).flatMap(([name, path]) =>
    Object.entries(shapes).map(([shape, attack]): [string, AgentAttack] => [
      `agent ${name} ${shape}`,
      (target, tell) => attack(target, path, tell),
    ]),
  ),
);

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n`;

const others: Readonly<Record<string, AgentAttack>> = {
  "agent run yes": (target, tell) =>
    crowd(20, 20, async () => tell(String(await target.send("POST", "/run/default/p1-a/c?cmd=yes")))),
  "agent run large-output": (target, tell) =>
    crowd(50, 25, async () => tell(String(await target.send("POST", "/run/default/p1-a/c?cmd=seq%201%201000000")))),
  "agent log follow": async (target) => {
    const session = target.session();
    for (let at = 0; at < 1_000; at++) {
      session
        .request({ ":path": `${paths.log}?follow=true&tailLines=1` })
        .on("error", () => {})
        .resume();
    }
    await sleep(3_000);
    session.destroy();
  },
  "agent log follow-unread": async (target) => {
    const session = target.session(0);
    for (let at = 0; at < 1_000; at++)
      session
        .request({ ":path": `${paths.log}?follow=true` })
        .on("error", () => {})
        .pause();
    await sleep(3_000);
    session.destroy();
  },
  "agent exec upgrades": async (target) => {
    const path = `${paths.exec}?command=cat&input=1&output=1`;
    const sockets = Array.from({ length: 500 }, () => target.socket(upgrade(path)));
    await sleep(2_000);
    for (const socket of sockets) socket.write(Buffer.alloc(100_000, 0x81));
    await sleep(2_000);
    for (const socket of sockets) socket.destroy();
  },
  "agent listener slow-heads": async (target) => {
    const sockets = Array.from({ length: 2_000 }, () => target.socket("GET /pods HTTP/1.1\r\nHost: a\r\nX: "));
    for (let at = 0; at < 20; at++) {
      for (const socket of sockets) socket.write("a");
      await sleep(100);
    }
    for (const socket of sockets) socket.destroy();
  },
  "agent listener unfinished-bodies": async (target) => {
    const head = "POST /run/default/p1-a/c?cmd=true HTTP/1.1\r\nHost: a\r\nContent-Length: 2900001\r\n\r\n";
    const sockets = Array.from({ length: 300 }, () => target.socket(head + "v".repeat(2_900_000)));
    await sleep(5_000);
    for (const socket of sockets) socket.destroy();
  },
  "agent listener idle": async (target) => {
    const sockets = Array.from({ length: 4_000 }, () => target.socket(""));
    await sleep(2_000);
    for (const socket of sockets) socket.destroy();
  },
  "agent listener noise": (target) =>
    crowd(500, 50, async () => {
      const socket = target.socket(Buffer.alloc(50_000, 0xff));
      await sleep(5);
      socket.destroy();
    }),
  "agent listener resets": async (target) => {
    const session = target.session();
    await crowd(5_000, 100, async () => {
      const stream = session.request({ ":path": "/pods" }).on("error", () => {});
      await sleep(0);
      stream.close(8);
    });
    session.destroy();
  },
};

export const agentAttacks: Readonly<Record<string, AgentAttack>> = { ...perPath, ...others };
