/** Runs a script alone in a box whose clock jumps to whatever it waits for. */
import { startCommand, shellCommands } from "../commands.ts";
import { ContainerFiles } from "../container-files.ts";
import { FileTree, textBytes, toByteText } from "../file-tree.ts";
import { Box } from "../processes/box.ts";
import type { SignalName } from "../processes/signals.ts";
import type { Stream } from "../processes/streams.ts";

export interface ScriptRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;
  readonly micros: number;
  /** How often the box was run. */
  readonly turns: number;
}

export interface ScriptOptions {
  /** Signals to the first process, by the second. */
  readonly signals?: readonly { readonly atSeconds: number; readonly signal: SignalName }[];
  readonly untilSeconds?: number;
  readonly memoryMaxBytes?: number;
  /** A turn of the loop has time for so many steps. Default: for any number. */
  readonly turnStepsMax?: number;
}

export function runScript(script: string, options: ScriptOptions = {}): ScriptRun {
  let now = 0;
  let turnSteps = 0;
  let turns = 0;
  const unlimited = { disk: () => true, memory: () => true, held: () => true };
  const files = new ContainerFiles({
    host: new FileTree(unlimited),
    mounts: [],
    makeLayer: () => new FileTree(unlimited),
    hostname: "box",
    address: "",
    readOnlyRoot: false,
    programs: shellCommands,
  });
  const box = new Box(
    {
      nowMicros: () => now,
      get isTurnOver() {
        return ++turnSteps >= (options.turnStepsMax ?? Infinity);
      },
      epochUnixMillis: 1_700_000_000_000,
      hostname: "box",
      random: () => 4,
      log: () => {},
      memoryMaxBytes: options.memoryMaxBytes ?? 64 << 20,
      diskBytesPerSecond: 400 << 20,
      connect: () => ({ outcome: "REFUSED", status: 0, body: "" }),
      wake: () => {},
    },
    files,
    shellCommands,
  );
  const program = startCommand(["sh", "-c", toByteText(script)], box);
  if ("error" in program) throw new Error(program.error);
  const stdout: Stream = { is: "capture", text: "", maxBytes: 1 << 20 };
  const stderr: Stream = { is: "capture", text: "", maxBytes: 1 << 20 };
  const environment = new Map([["PATH", "/bin"]]);
  const process = box.spawn(0, { program, environment, directory: "/tmp", stdin: { is: "null" }, stdout, stderr });
  const until = (options.untilSeconds ?? 3600) * 1_000_000;
  const signals = [...(options.signals ?? [])];
  for (; process?.status === undefined && turns < 1_000_000; turns++) {
    turnSteps = 0;
    box.run();
    const next = Math.min(box.nextWakeMicros() ?? Infinity, (signals[0]?.atSeconds ?? Infinity) * 1_000_000);
    if (process?.status !== undefined || next > until) break;
    now = Math.max(now, next);
    if (signals[0] !== undefined && signals[0].atSeconds * 1_000_000 <= now) {
      const { signal } = signals.shift() as { signal: SignalName };
      box.signal(process as NonNullable<typeof process>, signal);
    }
  }
  const texts = { stdout: fromByteText(stdout.text), stderr: fromByteText(stderr.text) };
  return { ...texts, status: process?.status, micros: now, turns };
}

const fromByteText = (text: string): string => new TextDecoder().decode(textBytes(text));
