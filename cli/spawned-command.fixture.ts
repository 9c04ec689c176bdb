/** For tests: the command as its users meet it, a process with two streams and an exit code. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The file to start as `touchstone` (`cli/packaging/tested-command.mjs`). */
    testedCommand: string;
    /** Gone with the run of the tests. */
    scratchFolder: string;
  }
}

export const main = inject("testedCommand");
export const root = fileURLToPath(new URL("../", import.meta.url));
/** Of this thread, whose tests use it one after the other. Short enough for the path of a socket in it. */
export const scratch = mkdtempSync(join(inject("scratchFolder"), "t"));
/** Test runners force colours upon what they start. What was compiled once is not compiled again by each process. */
const { FORCE_COLOR: _forced, ...plain } = process.env;
const environment = { ...plain, NODE_COMPILE_CACHE: join(dirname(main), "compiled") };
const children = new Set<ChildProcess>();

/** Ends what a test has left running, and removes what it has written. For `afterAll`. */
export function cleanUp(): void {
  for (const child of children) child.kill("SIGKILL");
  for (const name of readdirSync(scratch)) rmSync(join(scratch, name), { recursive: true, force: true });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves to the first line of stdout; rejects when the process ends without one. */
  readonly firstLine: Promise<string>;
}

export const start = (...args: string[]): Running => startWith({}, ...args);

/** With these variables. */
export function startWith(variables: NodeJS.ProcessEnv, ...args: string[]): Running {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, ...variables },
  });
  children.add(child);
  let stdout = "";
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => {
      children.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      const end = stdout.indexOf("\n");
      if (end >= 0) resolve(stdout.slice(0, end));
    });
    child.on("close", () => reject(new Error(`ended without a line: ${stderr}`)));
  });
  firstLine.catch(() => {});
  return { child, ended, firstLine };
}

export const run = (...args: string[]): Promise<Ended> => start(...args).ended;

export function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (incoming) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, body }));
    })
      .on("error", reject)
      .end();
  });
}

export function scratchFile(name: string, text: string): string {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
}
