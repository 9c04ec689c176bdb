/** A user's command that makes the server under judgement forget its history, so that nobody has to wait for it. */
import { spawn } from "node:child_process";
import process from "node:process";

export interface HookOptions {
  /** As it is typed into a shell. */
  readonly compactHook?: string | undefined;
  /** How long it may take, in microseconds. */
  readonly maxWait: number;
}

/**
 * Undefined without a command. The command finds the server's address in `TOUCHSTONE_URL`. What it is rejected with
 * says the command and how it ended.
 */
export function compactHook(
  { compactHook: command, maxWait }: HookOptions,
  address: string,
  signal: AbortSignal,
): (() => Promise<void>) | undefined {
  return command === undefined ? undefined : () => runHook(command, address, maxWait / 1000, signal);
}

function runHook(command: string, address: string, millisMax: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (how: string): void => reject(new Error(`--compact-hook ${JSON.stringify(command)} ${how}`));
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, TOUCHSTONE_URL: address },
      detached: true, // a group of its own, so that what the shell has started ends with it
    });
    let told = "";
    child.stderr.on("data", (chunk: Buffer) => {
      told = (told + chunk.toString()).slice(-toldMax);
    });
    let cut: string | undefined;
    const end = (why: string): void => {
      cut ??= why;
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const stop = (): void => end("was stopped");
    const timer = setTimeout(() => end(`took longer than --max-wait, ${millisMax / 1000} s`), millisMax);
    signal.addEventListener("abort", stop);
    const release = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    child.on("error", (error) => {
      release();
      fail(`could not be started: ${error.message}`);
    });
    child.on("close", (code, by) => {
      release();
      const said = told.trim() === "" ? "" : `: ${told.trim()}`;
      if (cut !== undefined) fail(cut);
      else if (code === 0) resolve();
      else fail(code === null ? `was ended by ${by}${said}` : `ended with exit code ${code}${said}`);
    });
  });
}

const toldMax = 500;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // it has ended meanwhile
  }
}
