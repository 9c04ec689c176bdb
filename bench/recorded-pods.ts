/**
 * `node bench/recorded-pods.ts`: the recorded pods of a live agent (`sim/agent/recorded`), played again in real time by three
 * processes that know each other by sockets alone: `touchstone serve`, `runtime` and `agent`. All pods are made at once on one
 * node; statuses and events are watched at the server, and the runtime's calls are written down on their way, by a socket
 * between the two. Takes three minutes. Prints a line of JSON for each recording with the rows that are the same in the same order, and what
 * they come to. Exit code 1: fewer than 95 rows of 100.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { histories, type Recorded } from "../sim/agent/recorded/histories.ts";
import {
  CallRows,
  eventText,
  pairs,
  recordedPod,
  type Seen,
  statusText,
} from "../sim/agent/recorded/observed.fixture.ts";
import type { JsonObject } from "../sim/contract/http-message.ts";
import { GrpcRuntime } from "../sim/grpc/cri-client.ts";
import { serveCri } from "../sim/grpc/cri-server.ts";
import { loopShare, wallPorts } from "../sim/http/wall.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { WallDriver } from "../sim/kernel/wall-driver.ts";

const wantedShare = 0.95;
/** The agent was there for some time before the pods were made. */
const aheadMillis = 15_000;
const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const pods = "/api/v1/namespaces/default/pods";
const home = mkdtempSync(join(tmpdir(), "touchstone-recorded-"));
const manifests = join(home, "manifests");
const children: ChildProcess[] = [];

const images = `images:
  - { name: docker.io/local/box:1, present: true, size: "1997430" }
  - { name: docker.io/local/pause:1, present: true, size: "1997433" }
  - name: 127.0.0.1:1/none:1
    pullError: 'failed to do request: Head "http://127.0.0.1:1/v2/none/manifests/1": dial tcp 127.0.0.1:1: connect: connection refused'
`;

async function play(): Promise<number> {
  const url = await started("serve", "--profile", "kubernetes-1.33", "--port", "0", "--controllers", "false");
  mkdirSync(manifests);
  writeFileSync(join(home, "images.yaml"), images);
  const runtime = `unix://${home}/runtime.sock`;
  await started("runtime", "--listen", runtime, "--images", join(home, "images.yaml"), "--cpu", "2", "--name", "n1");
  let began = 0;
  const at = (): number => Math.round((performance.now() - began) / 100) / 10;
  const calls = new CallRows(() => (began === 0 ? undefined : at()));
  await between(runtime, `unix://${home}/between.sock`, calls);
  startAgent(url);
  await sleep(aheadMillis);
  const seen = new Witness(at);
  began = performance.now();
  for (const path of [pods, "/api/v1/namespaces/default/events"]) void seen.follow(`${url}${path}?watch=true`);
  const played = histories.map((recorded) => act(url, recorded));
  await Promise.all(played);
  return told(histories.map((recorded) => compared(recorded, seen, calls)));
}

/** A command of this checkout, once it serves: where. */
async function started(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let text = "";
  for await (const part of child.stdout) {
    text += String(part);
    const serving = /serving on (\S+)/.exec(text)?.[1];
    if (serving === undefined) continue;
    child.stdout.resume();
    return serving;
  }
  throw new Error(`${args[0]} ended: ${text}`);
}

function startAgent(url: string): void {
  const connection = {
    clusters: [{ name: "c", cluster: { server: url } }],
    contexts: [{ name: "c", context: { cluster: "c" } }],
    "current-context": "c",
  };
  writeFileSync(join(home, "agent.yaml"), JSON.stringify(connection));
  const flags = {
    profile: "kubernetes",
    svcconfig: join(home, "agent.yaml"),
    "container-runtime-endpoint": `unix://${home}/between.sock`,
    "hostname-override": "n1",
    "pod-manifest-path": manifests,
    "file-check-frequency": "400ms",
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  children.push(spawn(process.execPath, [main, "agent", ...args], { stdio: ["ignore", "ignore", "ignore"] }));
}

/** Hands calls on to a runtime, and has them written down. */
async function between(runtime: string, address: string, calls: CallRows): Promise<void> {
  const kernel = new Kernel({ seed: "between", epochUnixMillis: Date.now() });
  const process = kernel.process("between");
  const onError = (error: unknown): never => {
    throw error;
  };
  const driver = new WallDriver(kernel, wallPorts, { onError });
  const handed = calls.watched(new GrpcRuntime(runtime, driver, process));
  await serveCri({ address, driver, share: loopShare, process, runtime: handed, onControl: () => {} });
}

/** What the driver of the recordings did at their steps; where nothing is named, it deleted the pod. */
async function act(url: string, recorded: Recorded): Promise<void> {
  const { name, steps } = recorded;
  const isStatic = name.startsWith("static");
  const path = `${url}${pods}/${isStatic ? `${name}-n1` : name}`;
  const began = performance.now();
  const until = (seconds: number): Promise<void> => sleep(Math.max(0, began + seconds * 1000 - performance.now()));
  const manifest = (text: string): void => {
    const pod = recordedPod(recorded);
    const metadata = { ...(pod["metadata"] as JsonObject), labels: { text } };
    writeFileSync(join(manifests, "static-pod.yaml"), JSON.stringify({ ...pod, metadata }));
  };
  if (isStatic) manifest("first");
  else await ask("POST", `${url}${pods}`, recordedPod(recorded));
  for (const [index, at] of steps.entries()) {
    await until(at);
    if (name === "configmap-missing") {
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "late" }, data: { k: "v" } };
      await ask("POST", `${url}/api/v1/namespaces/default/configmaps`, map);
    } else if (name === "image-changes") {
      await ask("PATCH", path, { spec: { containers: [{ name: "c", image: "local/pause:1" }] } });
    } else if (isStatic && index === 1) manifest("changed");
    else if (isStatic && index === 2) rmSync(join(manifests, "static-pod.yaml"));
    else await ask("DELETE", path, name === "deleted-by-force" ? { gracePeriodSeconds: 0 } : {});
  }
  await until(endOf(recorded) + 0.5);
}

async function ask(method: string, url: string, body: object): Promise<void> {
  const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
  const answer = await fetch(url, { method, body: JSON.stringify(body), headers: { "content-type": type } });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Statuses and events, as watches tell them, by the name of their pod. */
class Witness {
  readonly statuses = new Map<string, Seen[]>();
  readonly events = new Map<string, Seen[]>();
  private readonly at: () => number;

  constructor(at: () => number) {
    this.at = at;
  }

  async follow(url: string): Promise<void> {
    const { body } = await fetch(url);
    let rest = "";
    for await (const part of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.hear(JSON.parse(line) as { type: string; object: JsonObject });
    }
  }

  private hear({ type, object }: { readonly type: string; readonly object: JsonObject }): void {
    if (object["kind"] === "Event") {
      const { kind, name } = object["involvedObject"] as { kind: string; name: string };
      if (type !== "DELETED" && kind === "Pod") add(this.events, name, { at: this.at(), text: eventText(object) });
      return;
    }
    const { name } = object["metadata"] as { name: string };
    const text = statusText(type, object, name.startsWith("static") ? name : "");
    // A change that shows nothing new is none.
    const last = this.statuses.get(name)?.at(-1)?.text;
    if (type === "MODIFIED" && last?.replace(/^\w+/, "") === text.replace(/^\w+/, "")) return;
    add(this.statuses, name, { at: this.at(), text });
  }
}

function add(rows: Map<string, Seen[]>, name: string, row: Seen): void {
  const list = rows.get(name);
  if (list === undefined) rows.set(name, [row]);
  else list.push(row);
}

interface Compared {
  readonly name: string;
  readonly same: number;
  readonly all: number;
  /** Of those that are the same: as soon as recorded, but for a second or a tenth. Waits after failures are drawn by chance. */
  readonly inTime: number;
  readonly differs: readonly string[];
}

function compared(recorded: Recorded, seen: Witness, calls: CallRows): Compared {
  const name = recorded.name.startsWith("static") ? `${recorded.name}-n1` : recorded.name;
  const until = endOf(recorded) + 0.5;
  const here = {
    statuses: seen.statuses.get(name) ?? [],
    events: seen.events.get(name) ?? [],
    calls: calls.rows.filter(({ pod }) => pod === name),
  };
  const differs: string[] = [];
  let same = 0;
  let all = 0;
  let inTime = 0;
  for (const kind of ["statuses", "events", "calls"] as const) {
    const mine = here[kind].filter(({ at }) => at <= until);
    const paired = pairs(recorded[kind], mine);
    const [there, ours] = [new Set(paired.map(([row]) => row)), new Set(paired.map(([, row]) => row))];
    same += paired.length;
    inTime += paired.filter(([there, ours]) => Math.abs(there.at - ours.at) <= Math.max(1, there.at / 10)).length;
    all += Math.max(recorded[kind].length, mine.length);
    for (const row of recorded[kind]) if (!there.has(row)) differs.push(`- ${row.at} ${row.text}`);
    for (const row of mine) if (!ours.has(row)) differs.push(`+ ${row.at} ${row.text}`);
  }
  return { name: recorded.name, same, all, inTime, differs };
}

function endOf({ statuses, events, calls }: Recorded): number {
  return [statuses, events, calls].flat().reduce((last, { at }) => Math.max(last, at), 0);
}

function told(rows: readonly Compared[]): number {
  for (const row of rows) console.log(JSON.stringify(row));
  const same = rows.reduce((sum, row) => sum + row.same, 0);
  const all = rows.reduce((sum, row) => sum + row.all, 0);
  const inTime = rows.reduce((sum, row) => sum + row.inTime, 0);
  console.log(JSON.stringify({ name: "all", same, all, inTime, share: Number((same / all).toFixed(4)) }));
  return same / all >= wantedShare ? 0 : 1;
}

if (import.meta.main) {
  process.exitCode = await play().finally(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  process.exit(); // watches and sockets of this process end with it
}
