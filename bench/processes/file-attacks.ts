/** Attacks by files: each reader of one with each shape of a file. What is wrong is told in one sentence, and ends nothing else. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch.ts";
import type { Measured } from "../victim.ts";

const cli = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const scratch = scratchFolder();
const experiment = fileURLToPath(new URL("../../scenarios/capacity/thousand-nodes.yaml", import.meta.url));
const dump = join(scratch, "dump.json");
writeFileSync(dump, '{"kind":"List","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}]}');
const nothing = "http://127.0.0.1:9";
const serve = ["serve", "--port", "0"];
const agent = [
  "agent",
  `--container-runtime-endpoint=unix://${join(scratch, "none.sock")}`,
  ...["--read-only-port=0", "--healthz-port=0", "--enable-server=false", "--hostname-override=a"],
];

/** What a command takes the file as. */
const readers: Readonly<Record<string, (file: string) => readonly string[]>> = {
  "conform-svcconfig": (file) => ["conform", "--svcconfig", file],
  "conform-baseline": (file) => ["conform", nothing, "--baseline", file],
  "conform-token-file": (file) => ["conform", nothing, "--only", "list-pages", "--token-file", file],
  "conform-ca-file": (file) => ["conform", nothing, "--ca-file", file],
  "conform-client-cert": (file) => ["conform", nothing, "--client-cert", file, "--client-key", file],
  "diff-svcconfig": (file) => ["diff", `svcconfig:${file}`, "embedded:svc"],
  run: (file) => ["run", file],
  hunt: (file) => ["hunt", "--seeds", "1..1", file],
  "hunt-merge": (file) => ["hunt", "--merge", file],
  capacity: (file) => ["capacity", file],
  "capacity-find": (file) => ["capacity", "find", file],
  "capacity-cost-model": (file) => ["capacity", experiment, "--cost-model", file],
  "capacity-merge": (file) => ["capacity", "--merge", file],
  "capacity-import": (file) => ["capacity", "import", file],
  "capacity-audit-log": (file) => ["capacity", "import", "--audit-log", file, dump],
  shrink: (file) => ["shrink", file],
  replay: (file) => ["replay", file],
  view: (file) => ["view", file, "--output", join(scratch, "out")],
  "view-merge": (file) => ["view", "--merge", file, file],
  "config-check": (file) => ["config", "check", file],
  "serve-nodes": (file) => [...serve, "--nodes", file],
  "serve-objects": (file) => [...serve, "--objects", file],
  "serve-chaos": (file) => [...serve, "--chaos", file],
  "serve-tokens": (file) => [...serve, "--token-auth-file", file],
  "serve-authentication": (file) => [...serve, "--authentication-config", file],
  "serve-authorization": (file) => [...serve, "--authorization-config", file],
  "serve-webhook": (file) => [...serve, "--authorization-mode", "Webhook", "--authorization-webhook-config-file", file],
  "serve-egress": (file) => [...serve, "--egress-selector-config-file", file],
  "serve-tracing": (file) => [...serve, "--tracing-config-file", file],
  "serve-certificate": (file) => [...serve, "--tls-cert-file", file, "--tls-private-key-file", file],
  "serve-client-ca": (file) => [...serve, "--tls", "--client-ca-file", file],
  "agent-config": (file) => [...agent, `--config=${file}`],
  "agent-svcconfig": (file) => [...agent, `--svcconfig=${file}`],
  "agent-resolver": (file) => [...agent, `--resolv-conf=${file}`],
  "agent-credential-plugins": (file) => [
    ...agent,
    `--image-credential-provider-config=${file}`,
    `--image-credential-provider-bin-dir=${scratch}`,
  ],
  "runtime-images": (file) => ["runtime", "--listen", `unix://${join(scratch, "i.sock")}`, "--images", file],
  "runtime-state": (file) => ["runtime", "--listen", `unix://${join(scratch, "s.sock")}`, "--state", file],
  "runtime-usage": (file) => [
    ...["runtime", "set", "--listen", `unix://${join(scratch, "u.sock")}`, "--pod", "a/b"],
    ...["--memory", `trace ${file}`],
  ],
};

const head = '{"apiVersion":"v1","kind":"List","metadata":{"name":"a"},"spec":';
const many = 100_000_000;

/** The bytes of a file; a text that is a path of the machine's is that file itself. */
const shapes: Readonly<Record<string, () => Uint8Array | string>> = {
  empty: () => "",
  "deep-lists": () => "[".repeat(1_000_000),
  "deep-lists-that-end": () => `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  "deep-maps": () => `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  "deep-in-a-field": () => `${head}${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
  "deep-blocks": () => Array.from({ length: 3_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
  "deep-items": () => `${"- ".repeat(100_000)}a`,
  "wide-list": () => `[${"1,".repeat(3_000_000)}1]`,
  "wide-list-in-a-field": () => `${head}[${"{},".repeat(1_000_000)}{}]}`,
  "wide-map": () => `{${Array.from({ length: 300_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
  "wide-blocks": () => Array.from({ length: 300_000 }, (_, at) => `k${at}: 1`).join("\n"),
  "one-key": () => `{${'"a":1,'.repeat(300_000)}"a":1}`,
  "long-text": () => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(many, 0x61), Buffer.from('"}')]),
  unterminated: () => `{"a":"${"a".repeat(10_000_000)}`,
  spaces: () => Buffer.alloc(many, 0x20),
  lines: () => Buffer.alloc(many, 0x0a),
  comment: () => Buffer.alloc(many, 0x23),
  zeros: () => Buffer.alloc(many),
  "no-encoding": () => Buffer.alloc(10_000_000, 0xff),
  objects: () => "{}\n".repeat(1_000_000),
  documents: () => "---\na: 1\n".repeat(300_000),
  laughs: () =>
    `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join("\n")}`,
  aliases: () => `a: &a [x]\nb: [${"*a,".repeat(300_000)}]`,
  anchors: () => Array.from({ length: 100_000 }, (_, at) => `a${at}: &a${at} 1`).join("\n"),
  merges: () =>
    `b: &a\n${Array.from({ length: 1_000 }, (_, at) => `  k${at}: 1`).join("\n")}\nc:\n${"  <<: *a\n".repeat(3_000)}`,
  itself: () => "a: &a\n  b: *a\n",
  number: () => `${head}${"9".repeat(5_000_000)}}`,
  exponent: () => `${head}1e999999999}`,
  brackets: () => "]".repeat(3_000_000),
  "flow-maps": () => "{a: ".repeat(200_000),
  questions: () => "? ".repeat(300_000),
  quotes: () => `a: ${"'".repeat(3_000_001)}`,
  tags: () => "!a ".repeat(1_000_000),
  "long-key": () => `${"k".repeat(5_000_000)}: 1`,
  tabs: () => "\t".repeat(3_000_000),
  endless: () => "/dev/zero",
};

/** Names are `file reader shape`. */
export const fileAttackNames: readonly string[] = Object.keys(readers).flatMap((reader) =>
  Object.keys(shapes).map((shape) => `file ${reader} ${shape}`),
);

const millisMax = 120_000;
const togetherMax = 2;

export async function* fileAttacks(names: readonly string[]): AsyncGenerator<Measured> {
  const made = new Map<string, string>();
  const fileOf = (shape: string): string => {
    const known = made.get(shape);
    if (known !== undefined) return known;
    const content = (shapes[shape] as () => Uint8Array | string)();
    const isPath = typeof content === "string" && content.startsWith("/dev/");
    const path = isPath ? content : join(scratch, shape);
    if (!isPath) writeFileSync(path, content);
    made.set(shape, path);
    return path;
  };
  const open = new Map<string, Promise<Measured>>();
  for (const name of names) {
    const [, reader = "", shape = ""] = name.split(" ");
    const args = (readers[reader] as (file: string) => readonly string[])(fileOf(shape));
    open.set(name, measured(name, args));
    if (open.size >= togetherMax) yield* taken(open);
  }
  while (open.size > 0) yield* taken(open);
}

async function* taken(open: Map<string, Promise<Measured>>): AsyncGenerator<Measured> {
  const found = await Promise.race(open.values());
  open.delete(found.attack);
  yield found;
}

/** How the command ended: its code, `serves` when it began, `none` when it did not end; with `stack` when it told where it broke. */
function measured(attack: string, args: readonly string[]): Promise<Measured> {
  const folder = join(scratch, attack.replaceAll(" ", "-"));
  mkdirSync(folder, { recursive: true });
  const began = performance.now();
  const child = spawn(process.execPath, [cli, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let peakBytes = 0;
  const look = (): void => {
    try {
      const text = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakBytes = Math.max(peakBytes, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024);
    } catch {
      // It has ended.
    }
  };
  const looking = setInterval(look, 50);
  return new Promise((resolve) => {
    let says = "";
    let how: string | undefined;
    const end = (why: string): void => {
      how = why;
      look();
      child.kill("SIGKILL");
    };
    const late = setTimeout(() => end("none"), millisMax);
    child.stdout.on("data", (chunk: Buffer) => {
      if (/serving on|agent running/.test(chunk.toString())) end("serves");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (says.length < 100_000) says += chunk.toString();
    });
    child.once("close", (code, signal) => {
      clearInterval(looking);
      clearTimeout(late);
      rmSync(folder, { recursive: true, force: true });
      const ended = how ?? String(code ?? signal);
      const isBroken = /^ +at /m.test(says) || !["0", "1", "2", "3", "serves"].includes(ended);
      resolve({
        attack,
        turnMillis: 0,
        silenceMillis: 0,
        peakMegabytes: Math.round(peakBytes / 1_048_576),
        millis: Math.round(performance.now() - began),
        statuses: { [ended]: 1 },
        ended: isBroken,
      });
    });
  });
}
