import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { main } from "../spawned-command.fixture.ts";
import { interruptMeaning, onInterrupt, uninterrupted } from "./interrupt.ts";

it("an interrupt asks, the next ends, and what comes at the same moment is the same one", () => {
  const meaning = interruptMeaning();
  expect([5000, 5001, 5099, 5400].map(meaning)).toEqual(["ask", "same", "same", "end"]);
});

it("before the second one ends the program, what was begun is tidied up", () => {
  const told: string[] = [];
  const exit = vi.spyOn(process, "exit").mockImplementation(((code: number) => told.push(`exit ${code}`)) as never);
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => told.push(String(text).trim()) > 0);
  const { signal, stopListening } = onInterrupt("Stopping.", "Left behind.", () => void told.push("tidied up"));
  process.emit("SIGINT");
  now.mockReturnValue(2000);
  process.emit("SIGTERM");
  stopListening();
  for (const spy of [exit, now, write]) spy.mockRestore();
  expect(signal.aborted).toBe(true);
  expect(told).toEqual(["Stopping.", "Left behind.", "tidied up", "exit 143"]);
});

describe("work that is one step", () => {
  it("is done before an interrupt ends the program, and afterwards one ends it as ever", () => {
    const source = new URL("interrupt.ts", import.meta.url).href;
    const program = `
      import { uninterrupted } from ${JSON.stringify(source)};
      const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      uninterrupted(() => {
        process.kill(process.pid, "SIGINT");
        wait();
        process.stdout.write("one");
        process.kill(process.pid, "SIGTERM");
        wait();
        process.stdout.write(" two");
      });
      process.stdout.write(" three");
      process.kill(process.pid, "SIGINT");
      setTimeout(() => process.stdout.write(" four"), 10_000);
    `;
    const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
    expect([String(stdout), signal]).toEqual(["one two three", "SIGINT"]);
  });

  it("takes no listener away, and leaves none behind when it fails", () => {
    const before = process.listeners("SIGINT");
    const fails = () =>
      uninterrupted(() => {
        expect(process.listenerCount("SIGINT")).toBe(before.length + 1);
        throw new Error("the disk is full");
      });
    expect(fails).toThrow("the disk is full");
    expect(process.listeners("SIGINT")).toEqual(before);
  });
});

/** What a user starts: of a checkout, and of the package. */
const starters = [
  ["bin.mjs", fileURLToPath(new URL("../bin.mjs", import.meta.url))],
  ["touchstone.mjs", join(dirname(main), "touchstone.mjs")],
] as const;

describe.each(starters)("%s", { timeout: 60_000 }, (_, starter) => {
  const serve = () =>
    spawn(process.execPath, [starter, "serve", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });

  it.each(["SIGINT", "SIGTERM"] as const)("passes %s on to the command when it alone is told", async (signal) => {
    const child = serve();
    const code = await new Promise<number | null>((resolve) => {
      child.stdout.once("data", () => child.kill(signal));
      child.on("exit", resolve);
    });
    expect(code).toBe(0);
  });

  it("takes the command with it, when it is killed without a word", async () => {
    const child = serve();
    // The command holds the other end of this pipe until it has ended.
    const { stdout } = child;
    await new Promise<void>((resolve) => {
      stdout.once("end", resolve);
      stdout.once("data", () => child.kill("SIGKILL")).resume();
    });
    expect(child.signalCode).toBe("SIGKILL");
  });
});
