import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CriAnswer, CriMethod, CriRequestOf } from "../../wire/cri.ts";
import { prngStream } from "../kernel/prng.ts";
import { type FileDump } from "../runtime/file-dump.ts";
import { keptState, pictureOf } from "../runtime/kept-state.ts";
import type { CompactStep } from "./journal.ts";
import { KeptRuntime } from "./kept-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "kept-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.state`);

/** One machine, as one process after the other has it. */
class Node {
  readonly path: string;
  private readonly compactBytes: number;
  private readonly onCompact: (done: CompactStep) => void;
  private kept: KeptRuntime;

  constructor(compactBytes: number, onCompact: (done: CompactStep) => void = () => {}, path = newPath()) {
    this.path = path;
    this.compactBytes = compactBytes;
    this.onCompact = onCompact;
    this.kept = this.started(0);
  }

  private started(nowUnixMillis: number): KeptRuntime {
    return new KeptRuntime({
      statePath: this.path,
      seed: "1",
      name: "node-1",
      runtime: {
        images: [
          { name: "local/box:1", present: true },
          { name: "local/web:1", present: true, shell: false },
        ],
      },
      nowUnixMillis,
      compactBytes: this.compactBytes,
      onCompact: this.onCompact,
    });
  }

  /** As kill -9 does it, and a new process that comes later. */
  restart(afterMillis: number): void {
    this.kept.close();
    this.kept = this.started(this.millis() + afterMillis);
  }

  millis(): number {
    return Math.ceil(this.kept.kernel.nowMicros() / 1000);
  }

  pass(millis: number): void {
    this.kept.kernel.run(this.kept.kernel.nowMicros() + millis * 1000);
  }

  begin<M extends CriMethod>(method: M, message: CriRequestOf<M>, done: (answer: CriAnswer<M>) => void = () => {}) {
    const { kernel, process, port } = this.kept;
    return kernel.enter(process, () =>
      port.start({ method, message } as never, done as (answer: CriAnswer) => void, () => {}),
    );
  }

  ask<M extends CriMethod>(method: M, message: CriRequestOf<M>): CriAnswer<M> {
    let answer: CriAnswer<M> | undefined;
    this.begin(method, message, (value) => (answer = value));
    while (answer === undefined && this.kept.kernel.step());
    return answer as CriAnswer<M>;
  }

  control(control: object): void {
    const { kernel, process } = this.kept;
    kernel.enter(process, () => this.kept.control(JSON.stringify(control)));
  }

  run(pod: string, command: readonly string[], image = "local/box:1", hostPath = `/pods/${pod}/v`): string {
    const logDirectory = `/var/log/pods/${pod}`;
    const metadata = { name: pod, namespace: "default", uid: pod, attempt: 0 };
    const sandbox = this.ask("RunPodSandbox", { config: { metadata, logDirectory } });
    if (!sandbox.ok) throw new Error(sandbox.text);
    return this.again(sandbox.message.podSandboxId, command, 0, image, hostPath);
  }

  again(podSandboxId: string, command: readonly string[], attempt: number, image: string, hostPath: string): string {
    this.ask("MakePath", { path: hostPath });
    const mounts = [{ containerPath: "/v", hostPath }];
    const of = { command, mounts, image: { image }, logPath: `c/${attempt}.log` };
    const created = this.ask("CreateContainer", { podSandboxId, config: { metadata: { name: "c", attempt }, ...of } });
    if (!created.ok) throw new Error(created.text);
    const { containerId } = created.message;
    this.ask("StartContainer", { containerId });
    return containerId;
  }

  get state() {
    return this.kept.runtime.state;
  }

  get bytes(): number {
    return statSync(this.path).size;
  }

  /** All that anybody can ask for. */
  facts() {
    const { generation: _, host, containers, ...rest } = keptState(this.state);
    return {
      ...rest,
      host: filesOf(host.dump),
      containers: containers.map(({ layer, began: _began, ...facts }) => ({ ...facts, layer: filesOf(layer?.dump) })),
      running: pictureOf(this.state),
    };
  }
}

const filesOf = (dump: FileDump | undefined) =>
  (dump?.rows ?? [])
    .map(({ pieces, ...row }) => ({ ...row, text: pieces?.join("") }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));

const scripts = [
  "trap 'exit 0' TERM; while true; do date >> /v/log; sleep 1; done",
  "echo begun > /tmp/f; sleep 7; exit 3",
  "i=0; while true; do i=$((i+1)); echo $i $RANDOM; sleep 2; done",
  "while ! test -f /v/go; do sleep 1; done; echo gone on >> /v/log; sleep 1000",
  "sleep 3 & wait $!; echo $! > /v/pid; sleep 1000",
];
const probes = [
  "true",
  "test -f /v/log",
  "cat /tmp/f",
  "echo x >> /v/probes",
  "touch /v/go",
  "sleep 2",
  "kill -TERM 1",
];

/** What happens to both machines, so that the one whose journal is made shorter can be held against the other. */
function live(nodes: readonly Node[], seed: string, steps: number, each: (step: number) => void = () => {}): void {
  const prng = prngStream("kept", seed);
  const pick = <T>(list: readonly T[]): T | undefined =>
    list.length === 0 ? undefined : list[prng.intInclusive(0, list.length - 1)];
  const first = nodes[0] as Node;
  const all = (work: (node: Node) => void): void => nodes.forEach(work);
  for (let step = 0; step < steps; step++) {
    const container = pick([...first.state.containers.keys()]);
    const sandbox = pick([...first.state.sandboxes.keys()]);
    const kind = prng.intInclusive(0, 11);
    const script = pick(scripts) as string;
    const probe = pick(probes) as string;
    const wait = prng.intInclusive(1, 3000);
    if (kind <= 2 && first.state.sandboxes.size < 6) all((node) => void node.run(`p${step}`, ["sh", "-c", script]));
    else if (kind === 3 && first.state.sandboxes.size < 6) all((node) => void node.run(`p${step}`, [], "local/web:1"));
    else if (kind === 4 && container !== undefined)
      all((node) => void node.ask("StopContainer", { containerId: container, timeout: 3 }));
    else if (kind === 5 && sandbox !== undefined) {
      all((node) => {
        node.ask("StopPodSandbox", { podSandboxId: sandbox });
        node.ask("RemovePodSandbox", { podSandboxId: sandbox });
      });
    } else if (kind === 6) all((node) => node.control({ pods: { "default/p1": { memory: `${step + 1}Mi` } } }));
    else if (kind === 7) all((node) => void node.begin("PullImage", { image: { image: `local/other:${step % 3}` } }));
    else if (kind === 8 && container !== undefined)
      all((node) => void node.begin("StopContainer", { containerId: container, timeout: 20 }));
    else if (container !== undefined)
      all((node) => void node.begin("ExecSync", { containerId: container, cmd: ["sh", "-c", probe], timeout: 1 }));
    all((node) => node.pass(wait));
    each(step);
  }
}

describe("a runtime whose journal is made shorter", () => {
  it("is what it would be otherwise, at every moment and after every restart", () => {
    let written = 0;
    for (const seed of ["a", "b", "c"]) {
      const short = new Node(20_000, (done) => (written += Number(done === "renamed")));
      const long = new Node(Infinity);
      live([short, long], seed, 120, (step) => {
        if (step % 30 === 29) for (const node of [short, long]) node.restart(1500);
        expect(short.facts()).toEqual(long.facts());
      });
      expect(short.bytes).toBeLessThan(long.bytes);
    }
    expect(written).toBeGreaterThan(3);
  });

  it("keeps what is there, and not what was", () => {
    const node = new Node(10_000);
    const watched = node.run("stays", ["sh", "-c", scripts[0] as string]);
    for (let round = 0; round < 200; round++) {
      const containerId = node.run(`goes${round}`, ["sh", "-c", "echo done > /v/x"]);
      node.ask("ExecSync", { containerId: watched, cmd: ["test", "-f", "/v/log"], timeout: 1 });
      node.pass(1000);
      const podSandboxId = node.state.containers.get(containerId)?.sandbox.id ?? "";
      node.ask("RemovePodSandbox", { podSandboxId });
      node.ask("RemovePath", { path: `/pods/goes${round}` });
      node.ask("RemovePath", { path: `/var/log/pods/goes${round}` });
    }
    expect(node.bytes).toBeLessThan(40_000);
    node.restart(10);
    expect([...node.state.containers.keys()]).toEqual([watched]);
    const log = node.ask("ReadPath", { path: "/pods/stays/v/log" });
    const seconds = Math.floor(node.millis() / 1000);
    expect(log.ok && Buffer.from(log.message.content).toString().split("\n").length).toBeGreaterThan(seconds - 5);
  });

  it("is one or the other when it is killed on the way to the shorter one, whatever was done", () => {
    for (const killedAt of ["begun", "half", "written", "synced", "renamed"] as const) {
      const node = new Node(20_000, (done) => {
        if (done === killedAt) throw new Error("killed");
      });
      const twin = new Node(Infinity);
      expect(() => live([twin, node], "k", 200)).toThrow("killed");
      // What was written last has happened in both; the process then was no more.
      copyFileSync(node.path, `${node.path}.killed`);
      if (existsSync(`${node.path}.new`)) copyFileSync(`${node.path}.new`, `${node.path}.killed.new`);
      const after = new Node(Infinity, undefined, `${node.path}.killed`);
      expect(existsSync(`${node.path}.killed.new`)).toBe(false);
      const ahead = Math.max(twin.millis(), node.millis()) + 5000;
      after.restart(ahead - after.millis());
      twin.restart(ahead - twin.millis());
      expect(after.facts()).toEqual(twin.facts());
    }
  });

  it("is written a part at a time, with all that happens meanwhile, and without it when it is killed", () => {
    for (const killedAfter of [Infinity, 3]) {
      const done: CompactStep[] = [];
      const node = new Node(1_000_000, (step) => done.push(step));
      const twin = new Node(Infinity);
      const both = [node, twin];
      const container = both.map((each) => each.run("p", ["sh", "-c", scripts[2] as string]))[0] as string;
      for (let file = 0; file < 12; file++)
        for (const each of both)
          each.ask("WritePath", { path: `/f${file}`, content: Buffer.alloc(400_000, file % 2 === 0 ? "a" : 200) });
      let turns = 0;
      while (!done.includes("renamed") && turns < killedAfter) {
        for (const each of both) {
          each.pass(10);
          if (!done.includes("begun")) continue;
          each.ask("WritePath", { path: `/g${turns}`, content: Buffer.from(`${turns}`) });
          each.begin("ExecSync", { containerId: container, cmd: ["sleep", "1"], timeout: 1 });
        }
        if (done.includes("begun")) turns++;
      }
      expect(turns).toBeGreaterThan(2);
      expect(existsSync(`${node.path}.new`)).toBe(killedAfter === 3);
      for (const each of both) {
        each.pass(500);
        each.restart(1000);
      }
      expect(node.facts()).toEqual(twin.facts());
      expect(existsSync(`${node.path}.new`)).toBe(false);
      const read = node.ask("ReadPath", { path: "/f11" });
      expect(read.ok && Buffer.from(read.message.content).equals(Buffer.alloc(400_000, 200))).toBe(true);
    }
  });

  it("stays as it was when a part of the shorter one cannot be written, which is tried again later", () => {
    const done: CompactStep[] = [];
    let failures = 0;
    const node = new Node(20_000, (step) => {
      done.push(step);
      if (step === "half" && ++failures === 1) throw new Error("no space left");
    });
    const twin = new Node(Infinity);
    const both = [node, twin];
    const write = (file: number): void => {
      for (const each of both) {
        each.ask("WritePath", { path: `/f${file % 3}`, content: Buffer.alloc(2_000, String(file % 10)) });
        each.pass(50);
      }
    };
    expect(() => Array.from({ length: 30 }, (_, file) => write(file))).toThrow("no space left");
    expect(done).toEqual(["begun", "half"]);
    for (let file = 0; file < 60; file++) write(file);
    expect(done.slice(2, 7)).toEqual(["begun", "half", "written", "synced", "renamed"]);
    expect(node.bytes).toBeLessThan(twin.bytes);
    const ahead = Math.max(node.millis(), twin.millis()) + 1000;
    for (const each of both) each.restart(ahead - each.millis());
    expect(node.facts().host.map(({ path, text }) => [path, text])).toEqual(
      twin.facts().host.map(({ path, text }) => [path, text]),
    );
  });

  it("does not begin in the middle of what it was, and loses no more than a line that was being written", () => {
    const node = new Node(20_000);
    live([node], "cut", 100);
    const bytes = readFileSync(node.path);
    const { stateLines } = JSON.parse(bytes.toString("utf8", 0, bytes.indexOf("\n"))) as {
      readonly stateLines: number;
    };
    expect(stateLines).toBeGreaterThan(0);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1);
    const path = newPath();
    const opened = (cut: number): void => {
      writeFileSync(path, bytes.subarray(0, cut));
      new Node(Infinity, undefined, path);
    };
    for (let line = 0; line < stateLines; line++)
      expect(() => opened(ends[line] as number)).toThrow("before its state is whole");
    opened(ends[stateLines] as number);
    opened((ends[stateLines] as number) + 5);
    expect(statSync(path).size).toBeGreaterThanOrEqual(ends[stateLines] as number);
  });

  it("stays long while a script runs that has read what another one changed", () => {
    let written = 0;
    const node = new Node(2000, (done) => (written += Number(done === "renamed")));
    const counts = "n=0; while true; do n=$((n + $(cat /v/n || echo 0))); sleep 1; done";
    const reads = node.run("reads", ["sh", "-c", counts], "local/box:1", "/shared");
    const write = (number: number): void => {
      for (let round = 0; round < 30; round++) {
        node.ask("WritePath", { path: "/shared/n", content: Buffer.from(String(number + round)) });
        node.pass(2000);
      }
    };
    // What the agent writes is known.
    write(10);
    expect(written).toBeGreaterThan(0);
    const adds = node.run("adds", ["sh", "-c", "sleep 5; echo 1000 > /v/n"], "local/box:1", "/shared");
    node.pass(10_000);
    const before = written;
    write(20);
    write(50);
    expect(written).toBe(before);
    const picture = pictureOf(node.state);
    node.restart(0);
    expect(pictureOf(node.state)).toBe(picture);
    node.ask("StopContainer", { containerId: reads });
    write(80);
    write(80);
    expect(written).toBeGreaterThan(before);
    node.restart(0);
    expect([...node.state.containers.keys()]).toEqual([reads, adds]);
  });
});
