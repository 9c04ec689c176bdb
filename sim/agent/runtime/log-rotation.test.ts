import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CriRequest } from "../../../wire/cri.ts";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import { readContainerLog } from "../listener/container-logs.ts";
import { run } from "../task.ts";
import { CriCaller } from "./cri-caller.ts";
import { removeLogs } from "./log-files.ts";
import { LogRotation } from "./log-rotation.ts";
import type { RuntimePod } from "./runtime-pod.ts";

const directory = "/var/log/pods/default_a_uid-a/c";
const path = `${directory}/0.log`;
const decoder = new TextDecoder();
const limits = { logBytesMax: 1000, logFilesMax: 3, logCheckMicros: 10_000_000, logWorkersMax: 1 };

/** A container that runs this, whose log is rotated by these limits and followed. */
function rotating(
  script: string,
  changes: Partial<typeof limits> = {},
  failing?: CriRequest["method"],
  tellsOfFiles = false,
) {
  const bench = new RuntimeBench();
  const process = bench.kernel.process("agent-n1");
  const { runtime } = bench;
  const calls: string[] = [];
  const cri = new CriCaller(
    process,
    {
      events: (...args) => runtime.events(...args),
      ...(tellsOfFiles ? { filesVersion: () => runtime.filesVersion() } : {}),
      start(request, done) {
        calls.push(request.method);
        if (request.method !== failing) return runtime.start(request, done);
        return process.clock.after(1000, () => done({ ok: false, code: 2, text: "no" }));
      },
    },
    10_000_000,
  );
  const containerId = bench.run(bench.sandbox("a"), ["sh", "-c", script]);
  const state = () => bench.status(containerId).state;
  const pods = (): readonly RuntimePod[] =>
    [{ containers: [{ id: containerId, state: state(), logPath: path }] }] as unknown as readonly RuntimePod[];
  let known = pods();
  const warnings: string[] = [];
  bench.kernel.enter(process, () => {
    const options = {
      cri,
      limits: { ...limits, ...changes },
      pods: () => known,
      podsVersion: () => (known[0]?.containers[0]?.state === "CONTAINER_RUNNING" ? 2 : 1),
      warn: (line: string) => warnings.push(line),
    };
    new LogRotation(options).start();
  });
  const heard = { text: "", isOver: false };
  const sink = {
    begin: () => {},
    write: (bytes: Uint8Array) => void (heard.text += decoder.decode(bytes)),
    *drained() {},
  };
  const options = { timestamps: false, tailLines: undefined, limitBytes: undefined, sinceUnixMicros: undefined };
  const isRunning = (): boolean => known[0]?.containers[0]?.state === "CONTAINER_RUNNING";
  bench.kernel.enter(process, () =>
    run(readContainerLog(cri, path, { ...options, follow: true }, sink, isRunning), () => (heard.isOver = true)),
  );
  return {
    bench,
    cri,
    calls,
    heard,
    warnings,
    containerId,
    enter: (work: () => void) => bench.kernel.enter(process, work),
    pass(seconds: number) {
      for (let left = seconds; left > 0; left--) {
        bench.pass(1);
        known = pods();
      }
    },
    files: () => bench.ask("ListPath", { path: directory }).entries.map(({ name, size }) => ({ name, size })),
    lines: (name: string) => linesOf(bench, name),
  };
}

function linesOf(bench: RuntimeBench, name: string): readonly string[] {
  const { content } = bench.ask("ReadPath", { path: `${directory}/${name}` });
  return decoder
    .decode(name.endsWith(".gz") ? gunzipSync(content) : content)
    .trim()
    .split("\n")
    .map((line) => line.split(" ").slice(3).join(" "));
}

const counting = (count: number, sleep: string): string =>
  `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo line $i; sleep ${sleep}; done; sleep inf`;
const counted = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

describe("rotation of containers' logs", () => {
  it("moves away what has grown to its size, and keeps as many files as there may be", () => {
    const world = rotating(counting(200, "1"));
    world.pass(25);
    expect(world.files()).toHaveLength(1); // 25 lines of about 45 bytes
    world.pass(30);
    expect(world.files().map(({ name }) => name)).toEqual(["0.log", expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/)]);
    const [, moved] = world.files();
    expect(moved?.size).toBeGreaterThanOrEqual(1000);
    world.pass(145);
    const names = world.files().map(({ name }) => name);
    // The newest of those that were moved away stays as it was written.
    expect(names).toEqual([
      "0.log",
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}\.gz$/),
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/),
    ]);
    expect(world.files()[1]?.size).toBeLessThan(700);
    const kept = [...names.slice(1), "0.log"].flatMap((name) => world.lines(name));
    expect(kept).toEqual(counted(201 - kept.length, 200));
    expect(world.warnings).toEqual([]);
  });

  it("loses no line for those who follow, whatever sizes, numbers and rates are", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 2, max: 6 }),
        fc.constantFrom(3, 5, 10),
        fc.constantFrom("0.01", "0.05", "0.3"),
        fc.integer({ min: 1, max: 400 }),
        (logBytesMax, logFilesMax, checkSeconds, sleep, count) => {
          const changes = { logBytesMax, logFilesMax, logCheckMicros: checkSeconds * 1_000_000 };
          const world = rotating(counting(count, sleep), changes);
          world.pass(Math.ceil(count * Number(sleep)) + 11);
          expect(world.heard.text).toBe(
            counted(1, count)
              .map((line) => `${line}\n`)
              .join(""),
          );
          expect(world.heard.isOver).toBe(false);
          expect(world.files().length).toBeLessThanOrEqual(logFilesMax);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("does the same where the runtime says whether files have changed, and looks only after they have", () => {
    const paused = (lines: number): string =>
      `${counting(lines, "0.5")}; sleep 100; ${counting(lines, "0.5")}; sleep 1000`;
    for (const lines of [1, 3, 40, 90]) {
      const looks = [false, true].map((tellsOfFiles) => {
        const world = rotating(paused(lines), {}, undefined, tellsOfFiles);
        world.pass(400);
        const changes = world.calls.filter((method) => method === "RenamePath" || method === "ReopenContainerLog");
        const lookCount = world.calls.filter((method) => method === "PathUsage").length;
        return { seen: { changes, files: world.files(), heard: world.heard }, lookCount };
      });
      const [asked, told] = looks as [(typeof looks)[0], (typeof looks)[0]];
      expect(told.seen).toEqual(asked.seen);
      expect(asked.lookCount).toBe(41);
      // One after the last of each spell of writing, and none while it sleeps.
      expect(told.lookCount).toBeLessThanOrEqual(Math.ceil(lines / 20) * 2 + 4);
      expect(told.lookCount).toBeGreaterThan(0);
    }
  });

  it("looks as before while the runtime promises nothing of files", () => {
    const world = rotating("sleep 1000", {}, undefined, true);
    world.pass(30);
    const before = world.calls.length;
    world.pass(30);
    expect(world.calls.length).toBe(before);
    world.bench.runtime.fail({ method: "PathUsage", error: { text: "not now" }, times: 2 });
    world.pass(60);
    // Two looks fail, one finds nothing, and from then on there is nothing to look at.
    expect(world.calls.length).toBe(before + 3);
  });

  it("does nothing where logs have no bound", () => {
    const world = rotating(counting(100, "0.01"), { logBytesMax: -1 });
    world.pass(40);
    expect(world.files()).toHaveLength(1);
    expect(world.calls).not.toContain("PathUsage");
  });

  it("leaves logs of containers that have ended", () => {
    const world = rotating(
      "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; [ $i != 1 ] || sleep 1; done; sleep 1",
    );
    world.pass(40);
    expect(world.files()).toHaveLength(1);
    expect(world.heard).toEqual({
      text: counted(1, 100)
        .map((line) => `${line}\n`)
        .join(""),
      isOver: true,
    });
  });

  it("puts a log back whose runtime opens no new one", () => {
    const world = rotating(`${counting(100, "0.01")}`, {}, "ReopenContainerLog");
    world.pass(25);
    expect(world.files().map(({ name }) => name)).toEqual(["0.log"]);
    expect(world.lines("0.log")).toEqual(counted(1, 100));
    expect(world.warnings[0]).toContain("failed to reopen container log");
    expect(world.heard.text).toBe(
      counted(1, 100)
        .map((line) => `${line}\n`)
        .join(""),
    );
  });

  it("loses no line and keeps none twice, wherever an agent dies that compresses", () => {
    for (let cut = 0; cut < 40; cut++) {
      const bench = new RuntimeBench();
      bench.run(bench.sandbox("a"), ["sh", "-c", counting(30, "0.1")]);
      const old = ["20200101-000000", "20200101-000100"].map((time) => `${path}.${time}`);
      for (const [at, each] of old.entries()) {
        const text = Array.from({ length: 20 }, (_, line) => `T stdout F old ${at} ${line}\n`).join("");
        bench.ask("WritePath", { path: each, content: new TextEncoder().encode(text) });
      }
      bench.pass(5);
      const { containers } = bench.ask("ListContainers", {});
      const pods = [{ containers: [{ id: containers[0]?.id, state: "CONTAINER_RUNNING", logPath: path }] }];
      for (const [index, callsMax] of [cut, Infinity].entries()) {
        const process = bench.kernel.process(`agent ${index}`);
        let calls = 0;
        const cri = new CriCaller(
          process,
          {
            events: () => () => {},
            start(request, done) {
              if (calls++ === callsMax) process.crash();
              return process.alive ? bench.runtime.start(request, done) : () => {};
            },
          },
          10_000_000,
        );
        bench.kernel.enter(process, () => {
          const sizes = { ...limits, logFilesMax: 10 };
          new LogRotation({ cri, limits: sizes, pods: () => pods as never, podsVersion: () => 1 }).start();
        });
        bench.pass(1);
        // What is written goes on growing, so that there is something to rotate for the second agent, too.
        bench.ask("WritePath", { path, content: new TextEncoder().encode("T stdout F x\n".repeat(99)), append: true });
        bench.pass(15);
      }
      const names = bench.ask("ListPath", { path: directory }).entries.map(({ name }) => name);
      expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
      const kept = names.flatMap((name) => linesOf(bench, name)).filter((line) => line.startsWith("old"));
      expect(kept.toSorted()).toEqual(
        [0, 1].flatMap((at) => Array.from({ length: 20 }, (_, line) => `old ${at} ${line}`)).toSorted(),
      );
    }
  });

  it("leaves nothing behind of a log that is removed", () => {
    const world = rotating(counting(200, "0.1"));
    world.pass(25);
    expect(world.files().length).toBeGreaterThan(1);
    world.enter(() => run(removeLogs(world.cri, path), () => {}));
    world.pass(1);
    expect(world.files()).toEqual([]);
  });
});
