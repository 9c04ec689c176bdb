/** Attacks on `touchstone runtime`: each of its calls with each shape of a body, scripts, crowds and readers that do not read. */
import { connect } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { type CriMethod, criMethod, criMethods, type CriMethodRow, type CriRequestOf } from "../../wire/cri.ts";
import { decodeMessage, encodeMessage } from "../../sim/grpc/cri-codec.ts";
import { scratchFolder } from "../scratch.ts";
import { Victim } from "../victim.ts";
import { criShapes } from "./cri-shapes.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";

/** A runtime, and a client of it. */
export class RuntimeTarget {
  readonly victim: Victim;
  private readonly clients: readonly Client[];

  private constructor(victim: Victim) {
    this.victim = victim;
    this.clients = Array.from({ length: 4 }, () => newClient(victim.address));
  }

  static async started(): Promise<RuntimeTarget> {
    const socket = join(scratchFolder(), "cri.sock");
    return new RuntimeTarget(await Victim.started(["runtime", "--listen", `unix://${socket}`]));
  }

  /** The status, and the answer. */
  raw(row: CriMethodRow, bytes: Uint8Array, at = 0): Promise<{ readonly status: string; readonly bytes?: Buffer }> {
    return new Promise((resolve) => {
      const path = `/${row.service}/${row.method}`;
      const same = (each: Buffer): Buffer => each;
      const client = this.clients[at % this.clients.length] as Client;
      const ends = { deadline: Date.now() + 60_000 };
      if (row.streams) {
        const call = client.makeServerStreamRequest<Buffer, Buffer>(path, same, same, Buffer.from(bytes), ends);
        call.on("data", () => {});
        call.on("error", (error: ServiceError) => resolve({ status: String(error.code) }));
        setTimeout(() => call.cancel(), 500);
        return;
      }
      client.makeUnaryRequest<Buffer, Buffer>(path, same, same, Buffer.from(bytes), ends, (error, answer) =>
        resolve(error === null ? { status: "ok", bytes: answer as Buffer } : { status: String(error.code) }),
      );
    });
  }

  async ask<M extends CriMethod>(method: M, message: CriRequestOf<M>, at = 0): Promise<Record<string, unknown>> {
    const row = criMethod(method) as CriMethodRow;
    const { status, bytes } = await this.raw(row, encodeMessage(row.request, message), at);
    return bytes === undefined ? { status } : { status, ...decodeMessage(row.response, bytes) };
  }

  stop(): void {
    for (const client of this.clients) client.close();
    this.victim.stop();
  }
}

const newClient = (address: string): Client =>
  new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
  });

type RuntimeAttack = ProcessAttack<RuntimeTarget>;

const perCall: Readonly<Record<string, RuntimeAttack>> = Object.fromEntries(
  criMethods.flatMap((row) =>
    Object.entries(criShapes).map(([shape, of]): [string, RuntimeAttack] => [
      `runtime ${row.method} ${shape}`,
      async (target, tell) => {
        const bytes = of(row.request);
        if (bytes === undefined) return "none";
        const container = shape === "empty" ? undefined : await theContainer(target);
        void container;
        await Promise.all(Array.from({ length: 2 }, async (_, at) => tell((await target.raw(row, bytes, at)).status)));
        return undefined;
      },
    ]),
  ),
);

const containers = new WeakMap<RuntimeTarget, Promise<string>>();

/** One that runs, made once. */
function theContainer(target: RuntimeTarget): Promise<string> {
  const known = containers.get(target);
  if (known !== undefined) return known;
  const made = runContainer(target, "p");
  containers.set(target, made);
  return made;
}

const pause = ["sh", "-c", "sleep 1000000"];

async function runContainer(target: RuntimeTarget, name: string, command = pause, at = 0): Promise<string> {
  const sandboxConfig = {
    metadata: { name, namespace: "default", uid: name },
    logDirectory: `/var/log/pods/${name}`,
  };
  const { podSandboxId } = await target.ask("RunPodSandbox", { config: sandboxConfig }, at);
  await target.ask("PullImage", { image: { image: "local/box:1" } }, at);
  const config = { metadata: { name: "c" }, image: { image: "local/box:1" }, command, logPath: "c.log" };
  const message = { podSandboxId: podSandboxId as string, config, sandboxConfig };
  const { containerId } = await target.ask("CreateContainer", message, at);
  await target.ask("StartContainer", { containerId: containerId as string }, at);
  return containerId as string;
}

const deep = (open: string, core: string, close: string, times: number): string =>
  `${open.repeat(times)}${core}${close.repeat(times)}`;

/** What a shell is told. */
const scripts: Readonly<Record<string, string>> = {
  "fork-bomb": "f() { f | f & }; f; sleep 3",
  forever: "while true; do :; done",
  "forever-output": "while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
  recursion: "f() { f; }; f",
  "recursion-of-substitutions": "f() { echo $(f); }; f",
  "deep-groups": deep("(", "true", ")", 50_000),
  "deep-braces": deep("{ ", "true", "; }", 50_000),
  "deep-substitutions": deep("$(", "true", ")", 50_000),
  "deep-ifs": deep("if true; then ", "true", "; fi", 50_000),
  "deep-arithmetic": `echo $((${deep("(", "1", ")", 50_000)}))`,
  "long-arithmetic": `echo $((${"1+".repeat(500_000)}1))`,
  "many-pipes": `${"true | ".repeat(100_000)}true`,
  "many-commands": "true;".repeat(1_000_000),
  "many-arguments": `echo ${"a ".repeat(1_000_000)}`,
  "many-jobs": "sleep 100 & ".repeat(200_000),
  "doubled-variable": `a=aaaaaaaa; ${"a=$a$a;".repeat(60)} echo done`,
  "doubled-loop": "a=aaaaaaaa; while true; do a=$a$a; done",
  "large-output": "head -c 100000000000 /dev/zero",
  "large-file": "head -c 100000000000 /dev/zero > /tmp/f",
  "read-large": "head -c 1000000000 /dev/zero > /tmp/f; cat /tmp/f",
  "wide-format": "printf %1000000000d 1",
  "long-sequence": "seq 1 10000000000",
  "many-files": "i=0; while [ $i -lt 10000000 ]; do i=$((i+1)); echo > /tmp/$i; done",
  glob: "cd /tmp; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo > /tmp/aaaaaaaaaaaaaaaaaaaaaaaa$i; done; ls *a*a*a*a*a*a*a*a*a*b",
  "glob-cases": `case ${"a".repeat(5_000)} in ${"*a".repeat(2_000)}b) ;; esac`,
  yes: "yes",
  "sleeps-of-nothing": "while true; do sleep 0; done",
  "long-sleep": "sleep 99999999999999999999999999999",
  unterminated: `echo "${"a".repeat(1_000_000)}`,
  quotes: `echo ${"''".repeat(1_000_000)}`,
  "here-document": `cat <<E\n${"a\n".repeat(1_000_000)}E`,
  traps: "trap 'kill -TERM $$' TERM; kill -TERM $$; while true; do kill -TERM $$; done",
  links: "mkdir -p /tmp/l; cd /tmp/l; ln -s . a; cat a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/x",
  "deep-path": `mkdir -p ${"/a".repeat(100_000)}`,
  "long-words": `for i in ${"a ".repeat(300_000)}; do echo $i; done`,
  "self-pipe": "while true; do echo a; done | while true; do read x; done",
};

const perScript: Readonly<Record<string, RuntimeAttack>> = Object.fromEntries(
  Object.entries(scripts).flatMap(([name, script]): [string, RuntimeAttack][] => [
    [
      `runtime ExecSync script-${name}`,
      async (target, tell) => {
        const containerId = await theContainer(target);
        const message = { containerId, cmd: ["sh", "-c", script], timeout: 2 };
        tell(String((await target.ask("ExecSync", message))["status"]));
      },
    ],
    [
      `runtime StartContainer script-${name}`,
      async (target, tell) => {
        const containerId = await runContainer(target, `s-${name}`, ["sh", "-c", script]);
        await sleep(1_000);
        const { status } = await target.ask("StopContainer", { containerId, timeout: 0 });
        tell(String(status));
        await target.ask("RemoveContainer", { containerId });
      },
    ],
  ]),
);

const status = async (answer: Promise<Record<string, unknown>>): Promise<string> => String((await answer)["status"]);

/** Sessions whose readers take nothing. */
function unread(address: string, sessions: number, streams: number, row: CriMethodRow, body: Uint8Array): () => void {
  const path = address.replace("unix://", "");
  const all = Array.from({ length: sessions }, () => {
    const session = connectHttp2("http://localhost", {
      createConnection: () => connect(path),
      settings: { initialWindowSize: 0 },
    });
    session.on("error", () => {});
    for (let at = 0; at < streams; at++) {
      const stream = session.request({
        ":method": "POST",
        ":path": `/${row.service}/${row.method}`,
        "content-type": "application/grpc",
        te: "trailers",
      });
      const head = Buffer.alloc(5);
      head.writeUInt32BE(body.length, 1);
      stream.on("error", () => {});
      stream.pause();
      stream.end(Buffer.concat([head, body]));
    }
    return session;
  });
  return () => all.forEach((session) => session.destroy());
}

const row = (method: string): CriMethodRow => criMethods.find((each) => each.method === method) as CriMethodRow;

const crowds: Readonly<Record<string, RuntimeAttack>> = {
  "runtime crowd sandboxes": (target, tell) =>
    crowd(5_000, 64, async (at) => {
      const metadata = { name: `s${at}`, namespace: "default", uid: `s${at}` };
      tell(await status(target.ask("RunPodSandbox", { config: { metadata, labels: { a: "v".repeat(1_000) } } }, at)));
    }),
  "runtime crowd lists-of-sandboxes": (target, tell) =>
    crowd(200, 64, async (at) => tell(await status(target.ask("ListPodSandbox", {}, at)))),
  "runtime crowd unread-lists": async (target) => {
    const release = unread(target.victim.address, 20, 100, row("ListPodSandbox"), Buffer.alloc(0));
    await sleep(3_000);
    release();
  },
  "runtime crowd figures": (target, tell) =>
    crowd(200, 64, async (at) => tell(await status(target.ask("ListPodSandboxStats", {}, at)))),
  "runtime crowd commands": async (target, tell) => {
    const containerId = await theContainer(target);
    await crowd(20_000, 500, async (at) =>
      tell(await status(target.ask("ExecSync", { containerId, cmd: ["sh", "-c", "echo a"], timeout: 2 }, at))),
    );
  },
  "runtime crowd commands-that-stay": async (target, tell) => {
    const containerId = await theContainer(target);
    await crowd(5_000, 5_000, async (at) =>
      tell(await status(target.ask("ExecSync", { containerId, cmd: ["sleep", "1000"], timeout: 1 }, at))),
    );
  },
  "runtime crowd large-commands": async (target, tell) => {
    const containerId = await theContainer(target);
    const cmd = ["sh", "-c", "head -c 16000000 /dev/zero"];
    await crowd(100, 50, async (at) =>
      tell(await status(target.ask("ExecSync", { containerId, cmd, timeout: 5 }, at))),
    );
  },
  "runtime crowd unread-commands": async (target) => {
    const containerId = await theContainer(target);
    const cmd = ["sh", "-c", "head -c 15000000 /dev/zero"];
    const body = encodeMessage("ExecSyncRequest", { containerId, cmd, timeout: 5 });
    const release = unread(target.victim.address, 4, 50, row("ExecSync"), body);
    await sleep(5_000);
    release();
  },
  "runtime crowd offers": async (target, tell) => {
    const containerId = await theContainer(target);
    await crowd(20_000, 200, async (at) =>
      tell(await status(target.ask("Exec", { containerId, cmd: ["a".repeat(20_000)], stdout: true }, at))),
    );
  },
  "runtime crowd images": (target, tell) =>
    crowd(5_000, 200, async (at) =>
      tell(await status(target.ask("PullImage", { image: { image: `a/b${at}:1` } }, at))),
    ),
  "runtime crowd containers": async (target, tell) => {
    const metadata = { name: "many", namespace: "default", uid: "many" };
    const { podSandboxId } = await target.ask("RunPodSandbox", { config: { metadata } });
    await target.ask("PullImage", { image: { image: "local/box:1" } });
    await crowd(5_000, 64, async (at) => {
      const config = { metadata: { name: `c${at}` }, image: { image: "local/box:1" }, command: pause };
      const made = await target.ask("CreateContainer", { podSandboxId: String(podSandboxId), config }, at);
      tell(await status(target.ask("StartContainer", { containerId: String(made["containerId"]) }, at)));
    });
  },
  "runtime crowd large-containers": async (target, tell) => {
    const metadata = { name: "large", namespace: "default", uid: "large" };
    const { podSandboxId } = await target.ask("RunPodSandbox", { config: { metadata } });
    await target.ask("PullImage", { image: { image: "local/box:1" } });
    await crowd(100, 8, async (at) => {
      const annotations = { a: "v".repeat(4_000_000) };
      const config = { metadata: { name: `c${at}` }, image: { image: "local/box:1" }, annotations };
      tell(await status(target.ask("CreateContainer", { podSandboxId: String(podSandboxId), config }, at)));
    });
  },
  "runtime crowd large-files": (target, tell) =>
    crowd(100, 8, async (at) =>
      tell(await status(target.ask("WritePath", { path: `/f${at}`, content: Buffer.alloc(4_000_000, "v") }, at))),
    ),
  "runtime crowd events-unread": async (target, tell) => {
    const release = unread(target.victim.address, 20, 100, row("GetContainerEvents"), Buffer.alloc(0));
    await crowd(500, 32, async (at) => {
      const metadata = { name: `e${at}`, namespace: "default", uid: `e${at}` };
      tell(await status(target.ask("RunPodSandbox", { config: { metadata, labels: { a: "v".repeat(10_000) } } }, at)));
    });
    release();
  },
  "runtime crowd connections": async (target) => {
    const path = target.victim.address.replace("unix://", "");
    const sockets = Array.from({ length: 2_000 }, () => connect(path).on("error", () => {}));
    await sleep(1_000);
    for (const socket of sockets) socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    await sleep(1_000);
    for (const socket of sockets) socket.destroy();
  },
  "runtime crowd unfinished-bodies": async (target) => {
    const path = target.victim.address.replace("unix://", "");
    const sessions = Array.from({ length: 300 }, () => {
      const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
      session.on("error", () => {});
      const { service, method } = row("RunPodSandbox");
      const stream = session.request({
        ":method": "POST",
        ":path": `/${service}/${method}`,
        "content-type": "application/grpc",
      });
      const head = Buffer.alloc(5);
      head.writeUInt32BE(4_100_001, 1);
      stream.on("error", () => {});
      stream.write(Buffer.concat([head, Buffer.alloc(4_100_000)]));
      return session;
    });
    await sleep(5_000);
    for (const session of sessions) session.destroy();
  },
  "runtime crowd noise": async (target) => {
    const path = target.victim.address.replace("unix://", "");
    await crowd(500, 50, async () => {
      const socket = connect(path).on("error", () => {});
      socket.write("GET / HTTP/1.1\r\n\r\n".repeat(1_000));
      await sleep(5);
      socket.destroy();
    });
  },
};

export const runtimeAttacks: Readonly<Record<string, RuntimeAttack>> = { ...perCall, ...perScript, ...crowds };
