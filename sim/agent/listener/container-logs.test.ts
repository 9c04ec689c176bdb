import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import { CriCaller } from "../runtime/cri-caller.ts";
import { run } from "../task.ts";
import { type LogOptions, readContainerLog } from "./container-logs.ts";

const all: LogOptions = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  limitBytes: undefined,
  sinceUnixMicros: undefined,
};

/** A machine with this file, of which so many bytes come after the reader has first looked, and what the reader gets. */
function reading(text: string, lateBytes = 0) {
  const bench = new RuntimeBench();
  const process = bench.kernel.process("reader");
  let looks = 0;
  const runtime: CriRuntime = {
    events: (...args) => bench.runtime.events(...args),
    start: (request, done) => {
      const isFirst = request.method === "ReadPath" && looks++ === 0;
      const told: typeof done = (answer) => {
        if (!isFirst || !answer.ok) done(answer);
        else {
          const { size } = answer.message as { readonly size: number };
          done({ ...answer, message: { ...answer.message, size: size - lateBytes } } as typeof answer);
        }
      };
      return bench.runtime.start(request, told);
    },
  };
  const cri = new CriCaller(process, runtime, 10_000_000);
  const write = (more: string, append: boolean): void => {
    bench.ask("WritePath", { path: "/var/log/a.log", content: new TextEncoder().encode(more), append });
  };
  bench.ask("MakePath", { path: "/var/log" });
  write(text, false);
  let isRunning = true;
  const read = (options: Partial<LogOptions>) => {
    const state = { text: "", end: undefined as { problem: string | undefined } | undefined };
    const sink = {
      begin: () => {},
      write: (bytes: Uint8Array) => void (state.text += new TextDecoder().decode(bytes)),
      *drained() {},
    };
    bench.kernel.enter(process, () =>
      run(
        readContainerLog(cri, "/var/log/a.log", { ...all, ...options }, sink, () => isRunning),
        (problem) => {
          state.end = { problem };
        },
      ),
    );
    bench.pass(1);
    return state;
  };
  return { bench, read, write, stop: () => void (isRunning = false) };
}

const at = (second: number): string => `2026-01-01T00:00:0${second}.000000000Z`;
const line = (second: number, text: string, tag = "F"): string => `${at(second)} stdout ${tag} ${text}\n`;

describe("a container's log", () => {
  it("is what was written: lines without their marks, partial ones joined", () => {
    const { read } = reading(line(1, "one") + line(2, "two-", "P") + line(2, "whole") + line(3, ""));
    expect(read({})).toEqual({ text: "one\ntwo-whole\n\n", end: { problem: undefined } });
    expect(read({ timestamps: true }).text).toContain(`${at(1)} one\n`);
    expect(read({ sinceUnixMicros: 1_767_225_602_000_000 }).text).toBe("two-whole\n\n");
  });

  it("ends with its last lines, whatever their number, and at its limit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{0,30}$/), { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 25 }),
        fc.integer({ min: 1, max: 200 }),
        (texts, tail, limit) => {
          const { read } = reading(texts.map((text) => line(1, text)).join(""));
          const wanted = (tail === 0 ? [] : texts.slice(-tail)).map((text) => `${text}\n`).join("");
          expect(read({ tailLines: tail }).text).toBe(wanted);
          expect(read({ tailLines: tail, limitBytes: limit }).text).toBe(wanted.slice(0, limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is told as it was when somebody asked, unless it is followed", () => {
    const [before, late] = [line(1, "one") + line(2, "two"), line(3, "three")];
    const seen = (options: Partial<LogOptions>): string => reading(before + late, late.length).read(options).text;
    expect(seen({ tailLines: 1 })).toBe("two\n");
    expect(seen({})).toBe("one\ntwo\n");
    expect(seen({ tailLines: 1, follow: true })).toBe("two\nthree\n");
  });

  it("is followed while its container runs, over a rotation", () => {
    const { bench, read, write, stop } = reading(line(1, "one"));
    const state = read({ follow: true });
    write(line(2, "two"), true);
    bench.pass(1);
    expect(state).toEqual({ text: "one\ntwo\n", end: undefined });
    write(line(3, "new"), false);
    bench.pass(1);
    expect(state.text).toBe("one\ntwo\nnew\n");
    write(line(4, "last"), true);
    stop();
    bench.pass(1);
    expect(state).toEqual({ text: "one\ntwo\nnew\nlast\n", end: { problem: undefined } });
  });

  it("passes over lines that no runtime writes, and holds no more of them than is long", () => {
    const { read } = reading(line(1, "one") + line(2, "x".repeat(12 << 20)) + line(3, "three"));
    let copied = 0;
    const set = vi.spyOn(Uint8Array.prototype, "set").mockImplementation(function (this: Uint8Array, from, at = 0) {
      copied += from.length;
      for (let index = 0; index < from.length; index++) this[at + index] = from[index] as number;
    });
    try {
      expect(read({}).text).toBe("one\nthree\n");
    } finally {
      set.mockRestore();
    }
    expect(copied).toBeLessThan(32 << 20);
  });

  it("says why it cannot be read", () => {
    const { bench, read } = reading("");
    bench.ask("RemovePath", { path: "/var/log/a.log" });
    expect(read({}).end?.problem).toContain("/var/log/a.log");
  });
});
