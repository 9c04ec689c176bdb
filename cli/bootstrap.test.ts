import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const scripts = ["bootstrap", "install", "pinned-node", "run-child", "engine-flags", "server-heap", "bin"].map(
  (name) => `${name}.mjs`,
);

/** What the made-up npm does: notes the call, takes its time, and places what a real one would. */
const npm = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
console.log("chatter of npm");
setTimeout(() => {
  if (process.env.NPM_FAILS) process.exit(1);
  rmSync("node_modules", { recursive: true, force: true });
  mkdirSync("node_modules/a", { recursive: true });
  mkdirSync("node_modules/node/bin", { recursive: true });
  symlinkSync(process.execPath, "node_modules/node/bin/node");
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const placed = Object.entries(packages).filter(([, row]) => !row.optional);
  writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(placed) }));
}, 300);
`;

const packageLock = (version: string): string =>
  JSON.stringify({
    packages: {
      "": { name: "made-up" },
      "node_modules/a": { version, integrity: "sha512-a" },
      "node_modules/other-platform": { version: "1.0.0", optional: true, os: ["none"] },
    },
  });

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "touchstone-bootstrap-"));
  mkdirSync(join(project, "cli"));
  mkdirSync(join(project, "path"));
  for (const script of scripts) cpSync(join(here, script), join(project, "cli", script));
  symlinkSync(process.execPath, join(project, "path", "node"));
  writeFileSync(join(project, "path", "npm"), npm, { mode: 0o755 });
  writeFileSync(join(project, "package-lock.json"), packageLock("1.0.0"));
  const main = "console.log(JSON.stringify([process.argv.slice(2), process.execPath])); process.exitCode = 7;";
  writeFileSync(join(project, "cli", "main.ts"), main);
});

afterEach(() => rmSync(project, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(project, "cli", script), ...args], {
    cwd: project,
    env: { PATH: join(project, "path"), ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

const npmCalls = (): number => {
  const path = join(project, "npm-calls");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").length : 0;
};

describe.skipIf(process.platform === "win32")("npm start", () => {
  it("installs once, then runs the main job with the caller's arguments and returns its exit code", async () => {
    const first = await run("bootstrap.mjs", ["start", "--profile", "kubernetes"]);
    expect(first.code).toBe(7);
    expect(JSON.parse(first.stdout)[0]).toEqual(["conform", "--profile", "kubernetes"]);
    expect(first.stderr).toContain("installing dependencies (once)");
    expect(npmCalls()).toBe(1);

    const second = await run("bootstrap.mjs", ["start"], { NPM_FAILS: "1" });
    expect(second).toMatchObject({ code: 7, stderr: "" });
    expect(npmCalls()).toBe(1);
  });

  it("installs again when the locked versions change, unless npm already did", async () => {
    await run("bootstrap.mjs", ["install"]);
    writeFileSync(join(project, "package-lock.json"), packageLock("2.0.0"));
    await run("bootstrap.mjs", ["install"]);
    expect(npmCalls()).toBe(2);

    rmSync(join(project, "node_modules", ".touchstone-installed"));
    expect((await run("bootstrap.mjs", ["install"])).code).toBe(0);
    expect(npmCalls()).toBe(2);
  });

  it("installs once when two start at the same time", async () => {
    const both = await Promise.all([run("bootstrap.mjs", ["start"]), run("bootstrap.mjs", ["start"])]);
    expect(both.map(({ code }) => code)).toEqual([7, 7]);
    expect(npmCalls()).toBe(1);
  });

  it("takes over the lock of an install that was killed", async () => {
    mkdirSync(join(project, "out"));
    writeFileSync(join(project, "out", "install.lock"), String(2 ** 22 + 1)); // beyond the largest process number
    expect((await run("bootstrap.mjs", ["install"])).code).toBe(0);
    expect(existsSync(join(project, "out", "install.lock"))).toBe(false);
  });

  it("says what to do when npm fails or is missing, and leaves no stamp", async () => {
    const failed = await run("bootstrap.mjs", ["start"], { NPM_FAILS: "1" });
    expect(failed).toMatchObject({ code: 2, stdout: "" });
    expect(failed.stderr).toContain("check the network or the proxy");

    rmSync(join(project, "path", "npm"));
    const missing = await run("bootstrap.mjs", ["start"]);
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("npm is not installed");
  });

  it("refuses an unknown task", async () => {
    const { code, stderr } = await run("bootstrap.mjs", ["launch"]);
    expect(code).toBe(2);
    expect(stderr).toContain("usage: node cli/bootstrap.mjs start|test|");
  });
});

describe.skipIf(process.platform === "win32")("the touchstone command of a checkout", () => {
  it("runs with the pinned Node when there is one, else with a new enough one", async () => {
    const running = await run("bin.mjs", ["serve", "--port", "0"]);
    expect(running.code).toBe(7);
    expect(JSON.parse(running.stdout)).toEqual([["serve", "--port", "0"], process.execPath]);
    await run("bootstrap.mjs", ["install"]);
    expect((await run("bin.mjs", ["run"])).code).toBe(7);
  });
});
