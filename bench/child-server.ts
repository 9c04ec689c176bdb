/** A server in a process of its own, as a client meets it: started, asked what it costs, stopped. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface ChildServer {
  readonly port: number;
  /** Memory that the process holds now, in bytes. */
  residentBytes(): number;
  /** Processor time that it has used so far, in steps of 10,000. Only where `hasProcessorTimes`. */
  processorMicros(): number;
}

/** Flags for node before the script, such as `--cpu-prof`: for looking into a server that a benchmark runs. */
const nodeFlags = (process.env["BENCH_SERVER_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");

/** As `cli/engine-flags.mjs` starts a server: with what was compiled last, and room for little that dies young. */
const startFlags = ["--max-semi-space-size=32"];
const compiled = fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url));
const env = { NODE_COMPILE_CACHE: compiled, ...process.env };

/** Runs `script` (relative to this folder) and waits for the line with its URL; stops it after `work`, whatever comes. */
export async function withServer<Result>(
  script: string,
  args: readonly string[],
  work: (server: ChildServer) => Promise<Result>,
): Promise<Result> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...startFlags, ...nodeFlags, path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const cutOff = (): void => void child.kill("SIGKILL");
  process.once("exit", cutOff);
  try {
    const port = await portOf(child);
    const pid = child.pid as number;
    return await work({
      port,
      residentBytes: () => residentBytes(pid),
      processorMicros: () => processorMicros(pid),
    });
  } finally {
    child.kill("SIGTERM");
    await ended;
    process.off("exit", cutOff);
  }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code} before it listened: ${said}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const port = /https?:\/\/[^\s"]+:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

/** Whether the system tells how much processor time another process has used. */
export const hasProcessorTimes = existsSync("/proc/self/stat");

/** User and system time are the 14th and 15th field; the second is a name in brackets, which may hold anything. */
function processorMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function residentBytes(pid: number): number {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  const kibibytes = Number.parseInt(stdout, 10);
  if (!(kibibytes > 0)) throw new Error(`ps says nothing about process ${pid}`);
  return kibibytes * 1024;
}
