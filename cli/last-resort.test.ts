/** Exceptions that nobody caught, thrown into each command from outside. */
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cleanUp, type Running, scratch, scratchFile, startWith } from "./spawned-command.fixture.ts";

afterAll(cleanUp);

const socket = join(scratch, "last.sock");

/** Loaded before the command. */
const before = (name: string, text: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import ${scratchFile(name, text)}`,
});
const atSignals = before(
  "at-signals.mjs",
  `process.on("SIGUSR2", () => setTimeout(() => { Promise.reject(new Error("planted promise")); throw new Error("planted"); }));`,
);
const soon = before(
  "soon.mjs",
  `const timer = setInterval(() => {
    if (process.listenerCount("uncaughtException") === 0) return;
    clearInterval(timer);
    throw new Error("planted");
  }, 1);`,
);

/** Throws into it twice: whatever can be thrown once can be thrown again. */
async function thrownInto({ child, ended, firstLine }: Running): Promise<void> {
  await firstLine;
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  for (const times of [1, 2]) {
    child.kill("SIGUSR2");
    await expect.poll(() => said.split("Error: planted promise").length, { timeout: 20_000 }).toBe(times + 1);
    // An agent's log quotes what it tells.
    expect(said.split(/Error: planted(?:\n|\\n)/)).toHaveLength(times + 1);
  }
  child.stdout?.destroy(); // what it may say of its end
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
}

describe("an exception that nobody caught", () => {
  it("is told by a server, which goes on", () =>
    thrownInto(startWith(atSignals, "serve", "--profile", "kubernetes", "--port", "0")));

  it("is told by a runtime, and by an agent at it, and both go on", async () => {
    const runtime = startWith(atSignals, "runtime", "--listen", `unix://${socket}`);
    await runtime.firstLine;
    const flags = [
      "--enable-server=false",
      "--read-only-port=0",
      "--healthz-port=0",
      `--cert-dir=${join(scratch, "pki")}`,
    ];
    const settings = [...flags, "--hostname-override=last", "--resolv-conf="];
    await thrownInto(startWith(atSignals, "agent", `--container-runtime-endpoint=unix://${socket}`, ...settings));
    await thrownInto(runtime);
  });

  it("ends a command that works out an answer", async () => {
    const { code, stderr } = await startWith(soon, "conform", "--only", "lists-come-in-key-order").ended;
    expect(stderr).toContain("Touchstone itself broke; this says nothing about the target.\nError: planted");
    expect(code).toBe(4);
  });
});
