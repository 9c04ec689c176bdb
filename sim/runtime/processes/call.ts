/** A command as it was called: what it may read, write and change. */
import { toByteText } from "../file-tree.ts";
import type { Box, Process } from "./box.ts";
import type { Stream } from "./streams.ts";

export interface Call {
  readonly box: Box;
  /** Whose environment and directory it has; its own process, or the shell's that runs it in place. */
  readonly process: Process;
  /** Without the command's name. */
  readonly args: readonly string[];
  readonly name: string;
  readonly stdin: Stream;
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/** A command that ends at once. Its status. */
export type Instant = (call: Call) => number;

/** Writes on standard output; false when that failed, which is then told. */
export function out(call: Call, text: string): boolean {
  if (text === "") return true;
  const failure = call.box.write(call.process, call.stdout, text);
  if (failure !== undefined) complain(call, `write error: ${failure}`);
  return failure === undefined;
}

/** `name: what`, on standard error. The status 1. */
export function complain(call: Call, what: string, status = 1): number {
  call.box.write(call.process, call.stderr, toByteText(`${call.name}: ${what}\n`));
  return status;
}

/** An argument as an absolute path. */
export const pathOf = (process: Process, path: string): string =>
  path.startsWith("/") ? path : `${process.directory}/${path}`;

export const now = (call: Call): number => call.box.world.nowMicros();

/** Leading options of one letter each, `-rf`; the rest are operands. Undefined: one that is none of `letters`. */
export function letters(
  args: readonly string[],
  allowed: string,
): { readonly set: ReadonlySet<string>; readonly rest: readonly string[] } | undefined {
  const set = new Set<string>();
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] as string;
    if (arg === "--") {
      index++;
      break;
    }
    if (!arg.startsWith("-") || arg === "-") break;
    for (const letter of arg.slice(1)) {
      if (!allowed.includes(letter)) return undefined;
      set.add(letter);
    }
  }
  return { set, rest: args.slice(index) };
}

/** `10`, `1k`, `4M`, `1G`, with an optional `B` or `iB`; powers of 1024, as the small tools have them. */
export function sizeOf(text: string): number | undefined {
  const match = /^(\d{1,12})(?:([ckKmMgG])(?:i?B)?)?$/.exec(text);
  if (match === null) return undefined;
  const unit = { c: 1, k: 1024, m: 1 << 20, g: 1 << 30 }[(match[2] ?? "c").toLowerCase()] as number;
  const size = Number(match[1]) * unit;
  return Number.isSafeInteger(size) ? size : undefined;
}

/** `1.5`, `10s`, `2m`, `infinity`, in microseconds. */
export function sleepMicros(text: string): number | undefined {
  if (/^inf(inity)?$/i.test(text)) return Infinity;
  const match = /^(\d{0,12})(?:\.(\d{1,9}))?([smhd]?)$/.exec(text);
  if (match === null || (match[1] === "" && match[2] === undefined)) return undefined;
  const unit = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 }[match[3] as ""] as number;
  return Number(match[1]) * 1_000_000 * unit + Number((match[2] ?? "").padEnd(6, "0").slice(0, 6)) * unit;
}
