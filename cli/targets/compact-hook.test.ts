import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { compactHook } from "./compact-hook.ts";
import { cleanUp, scratch, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const never = new AbortController().signal;
const hook = (command: string, signal = never, maxWait = 60_000_000): Promise<void> =>
  compactHook({ compactHook: command, maxWait }, "http://server", signal)?.() ?? Promise.reject(new Error("no hook"));

describe("a compact hook", () => {
  it("is none without a command", () => {
    expect(compactHook({ maxWait: 1 }, "http://server", never)).toBeUndefined();
  });

  it("is told which server is meant", async () => {
    const file = join(scratch, "told");
    await hook(`printf %s "$TOUCHSTONE_URL" > ${file}`);
    expect(readFileSync(file, "utf8")).toBe("http://server");
  });

  it.each([
    ["echo no such endpoint >&2; exit 3", "ended with exit code 3: no such endpoint"],
    ["kill -9 $$", "was ended by SIGKILL"],
    ["no-such-command-here", "ended with exit code 127"],
  ])("that fails (%s) says how", async (command, how) => {
    await expect(hook(command)).rejects.toThrow(how);
  });

  it("ends with the run, and with its time, and so does what it has started", async () => {
    await expect(hook("sleep 60", AbortSignal.timeout(1))).rejects.toThrow("was stopped");
    await expect(hook("sleep 60 & wait", never, 50_000)).rejects.toThrow("longer than --max-wait, 0.05 s");
  });
});

describe("conform --compact-hook", { timeout: 120_000 }, () => {
  const serve = async (window: string): Promise<string> => {
    const server = start("serve", "--port", "0", "--profile", "kubernetes", "--history-window", window);
    return (await server.firstLine).replace("serving on ", "");
  };
  const expiry = ["--profile", "kubernetes", "--only", "tokens-expire,exact-lists-expire", "--json"];
  const verdicts = (stdout: string) => (JSON.parse(stdout) as SuiteReport).checks.map(({ verdict }) => verdict);

  it("judges expiry as soon as the hook has made the server forget", async () => {
    // This server forgets after five seconds: the hook that brings that about is one that lets them pass.
    const { code, stdout } = await runHere("conform", await serve("5s"), ...expiry, "--compact-hook", "sleep 6");
    expect(verdicts(stdout).map(({ status }) => status)).toEqual(["passed", "passed"]);
    expect(code).toBe(0);
  });

  it("waits for nothing when the hook fails, and says so", async () => {
    const { code, stdout } = await runHere("conform", await serve("5m"), ...expiry, "--compact-hook", "exit 9");
    const why = expect.stringContaining('--compact-hook "exit 9" ended with exit code 9') as string;
    expect(verdicts(stdout)).toEqual([
      { status: "inconclusive", why },
      { status: "inconclusive", why },
    ]);
    expect(code).toBe(3);
  });

  it.each([
    [["conform", "--compact-hook", "true"], "the embedded one forgets at once"],
    [["conform", "http://127.0.0.1:1", "--level", "quick", "--compact-hook", "true"], "would not be run"],
    [["conform", "--list", "--compact-hook", "true"], "--list runs nothing, and --compact-hook"],
    [["conform", "--faults", "all", "--compact-hook", "true"], "--compact-hook"],
  ])("refuses %j", async (args, why) => {
    expect(await refusalHere(...args)).toContain(why);
  });
});
