/** A process of Touchstone's that is attacked: what it takes of the processor in one turn, how long it is silent, what it holds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

export interface Measured {
  readonly attack: string;
  /** Of processor time: on a busy machine the silence is longer. */
  readonly turnMillis: number;
  readonly silenceMillis: number;
  readonly peakMegabytes: number;
  readonly millis: number;
  /** How often each status came; 0 for a connection that broke. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly ended: boolean;
}

const cli = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const meter = new URL("turn-meter.ts", import.meta.url).href;

/** As `cli/engine-flags.mjs` has it on a machine of 12 GiB or more. */
const roomOfServers = ["--max-semi-space-size=32", "--max-old-space-size=6144"];

/** For node, as `--trace-gc`; what they make it print goes to standard error. */
const nodeFlags = (process.env["BENCH_SERVER_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");

const saidMax = 10_000;

export class Victim {
  /** What its first line named: `http://…` or `unix://…`. */
  readonly address: string;
  private readonly child: ChildProcess;
  isOver = false;

  private constructor(child: ChildProcess, address: string) {
    this.child = child;
    this.address = address;
    child.once("exit", () => (this.isOver = true));
  }

  /** Starts a command, and resolves when a line says where it is reached. */
  static started(args: readonly string[], where = /(?:https?|unix):\/\/[^\s"]+/, program = cli): Promise<Victim> {
    const limits = [...roomOfServers, ...nodeFlags, "--import", meter];
    const child = spawn(process.execPath, [...limits, program, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
    return new Promise((resolve, reject) => {
      let said = "";
      let isReached = false;
      let errors = "";
      child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${said}${errors}`)));
      child.stderr?.on("data", (chunk: Buffer) => {
        if (errors.length < 10_000) errors += chunk.toString();
      });
      child.stdout?.on("data", (chunk: Buffer) => {
        if (nodeFlags.length > 0) process.stderr.write(chunk);
        if (isReached) return;
        // What stands before the address may be of any length.
        said = (said + chunk.toString()).slice(-saidMax);
        const address = where.exec(said)?.[0];
        isReached = address !== undefined;
        if (address !== undefined) resolve(new Victim(child, address));
      });
    });
  }

  /** From here on turns are measured. */
  begin(): void {
    this.child.send("begin");
  }

  /** Processor time of the longest turn, in microseconds; what is known when the process has ended: 0. */
  longestTurnMicros(): Promise<number> {
    if (this.isOver) return Promise.resolve(0);
    return new Promise((resolve) => {
      const over = (): void => resolve(0);
      this.child.once("exit", over);
      this.child.once("message", (said: { readonly longestMicros: number }) => {
        this.child.off("exit", over);
        resolve(said.longestMicros);
      });
      this.child.send("longest");
    });
  }

  /** The most that the process has held, in bytes. */
  peakBytes(): number {
    try {
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  }

  stop(): void {
    this.child.kill(nodeFlags.length > 0 ? "SIGTERM" : "SIGKILL"); // what node writes at its end is wanted
  }
}

/** Asks for a sign of life without a pause, in a thread of its own; the longest wait counts. */
export class Pulse {
  private readonly thread: Worker;

  private constructor(thread: Worker) {
    this.thread = thread;
  }

  static async begun(address: string): Promise<Pulse> {
    const thread = new Worker(new URL("pulse.ts", import.meta.url), { workerData: address });
    await once(thread, "message");
    return new Pulse(thread);
  }

  async longestMillis(): Promise<number> {
    this.thread.postMessage("end");
    const [millis] = (await once(this.thread, "message")) as [number];
    return millis;
  }
}

/** It did not even live to see the attack. */
export const endedBefore = (attack: string): Measured => ({
  attack,
  turnMillis: 0,
  silenceMillis: 0,
  peakMegabytes: 0,
  millis: 0,
  statuses: {},
  ended: true,
});
