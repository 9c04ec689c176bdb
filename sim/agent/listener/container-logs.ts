/**
 * A container's log as its file on the machine has it, line by line: from where, how many, how much, and whether what is
 * written later follows, over rotations too. Source: the published log format and reader; the facts, HTTP.
 */
import { parseMicroTime } from "../../../wire/time.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { rotatedLogs } from "../runtime/log-files.ts";
import { sleep, type Task } from "../task.ts";

export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Undefined: all. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Microseconds since 1970; lines before it are left out. */
  readonly sinceUnixMicros: number | undefined;
}

export interface LogSink {
  /** The log was found. */
  begin(): void;
  write(bytes: Uint8Array): void;
  /** Until the reader has taken what there is. */
  drained(): Task<void>;
}

const blockBytes = 256 * 1024;
/** Runtimes split what is longer than 16 KiB. */
const lineBytesMax = 1 << 20;
const followMicros = 250_000;

/** Ends with what went wrong, in words; undefined: the log was read to its end, or to its limit. */
export function* readContainerLog(
  cri: CriCaller,
  path: string,
  options: LogOptions,
  sink: LogSink,
  isRunning: () => boolean,
): Task<string | undefined> {
  let newest = (yield* rotatedLogs(cri, path)).at(-1) ?? "";
  const first = yield* cri.ask("ReadPath", { path, offset: 0, limit: 1 });
  if (!first.ok) return `failed to try resolving symlinks in path "${path}": ${first.text}`;
  sink.begin();
  let offset =
    options.tailLines === undefined ? 0 : yield* tailOffset(cri, path, first.message.size, options.tailLines);
  let { file } = first.message;
  // What is not followed is told as it was when somebody asked: a line that comes meanwhile is none of the last.
  let endBytes = options.follow ? Infinity : first.message.size;
  /** Files that were moved away before they were read to their ends, the oldest first. */
  const moved: { readonly path: string; offset: number }[] = [];
  const lines = new Lines(options);
  for (;;) {
    // Looked at before the file: what a container writes as it ends is still read.
    const mayGrow = options.follow && isRunning();
    const from = moved[0] ?? { path, offset };
    if (from !== moved[0] && offset >= endBytes) return undefined;
    const limit = from === moved[0] ? blockBytes : Math.min(blockBytes, endBytes - offset);
    const block = yield* cri.ask("ReadPath", { ...from, limit });
    if (from === moved[0]) {
      if (!block.ok || block.message.content.length === 0) {
        moved.shift();
        continue;
      }
      from.offset += block.message.content.length;
    } else if (!block.ok || block.message.file !== file || block.message.size < offset) {
      // It was moved away, and there is no new one yet.
      if (!block.ok && mayGrow) {
        yield* sleep(cri.process.clock, followMicros);
        continue;
      }
      const seen = newest;
      const since = (yield* rotatedLogs(cri, path)).filter((each) => each > seen);
      // Not there, and nothing of it anywhere else: it is gone, and its container with it.
      if (!block.ok && since.length === 0) return undefined;
      for (const each of since) {
        const found = yield* cri.ask("ReadPath", { path: each, offset: 0, limit: 1 });
        moved.push({ path: each, offset: found.ok && found.message.file === file ? offset : 0 });
      }
      newest = since.at(-1) ?? newest;
      offset = 0;
      endBytes = Infinity;
      if (block.ok) file = block.message.file;
      continue;
    } else offset += block.message.content.length;
    const { content } = block.message;
    const { bytes, isLast } = lines.take(content);
    if (bytes.length > 0) sink.write(bytes);
    if (isLast) return undefined;
    yield* sink.drained();
    if (content.length > 0) continue;
    if (!mayGrow) return undefined;
    yield* sleep(cri.process.clock, followMicros);
  }
}

/** Where the last lines begin. */
function* tailOffset(cri: CriCaller, path: string, size: number, lines: number): Task<number> {
  if (lines === 0) return size;
  let left = lines;
  let isEnd = true;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    const block = yield* cri.ask("ReadPath", { path, offset: start, limit: end - start });
    if (!block.ok) return 0;
    const { content } = block.message;
    for (let at = content.length - 1; at >= 0; at--) {
      if (content[at] !== newline) {
        isEnd = false;
        continue;
      }
      // The end of the last line begins no other.
      if (isEnd) isEnd = false;
      else if (--left === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

const newline = 10;
const space = 32;
const decoder = new TextDecoder();

/** Turns lines of the file into what was written: `TIME STREAM F|P TEXT`. */
class Lines {
  private readonly options: LogOptions;
  private rest = new Uint8Array(0);
  /** Within a line that is too long: it is passed over, up to its end. */
  private isPassing = false;
  private leftBytes: number;

  constructor(options: LogOptions) {
    this.options = options;
    this.leftBytes = options.limitBytes ?? Infinity;
  }

  take(block: Uint8Array): { readonly bytes: Uint8Array; readonly isLast: boolean } {
    let fresh = block;
    if (this.isPassing) {
      const end = block.indexOf(newline);
      if (end < 0) return { bytes: nothing, isLast: false };
      this.isPassing = false;
      fresh = block.subarray(end + 1);
    }
    const all = joined([this.rest, fresh]);
    const parts: Uint8Array[] = [];
    let start = 0;
    for (let end = all.indexOf(newline); end >= 0 && this.leftBytes > 0; end = all.indexOf(newline, start)) {
      const shown = this.shown(all.subarray(start, end + 1)).subarray(0, this.leftBytes);
      this.leftBytes -= shown.length;
      parts.push(shown);
      start = end + 1;
    }
    this.isPassing = all.length - start > lineBytesMax;
    this.rest = this.isPassing ? new Uint8Array(0) : all.slice(start);
    return { bytes: joined(parts), isLast: this.leftBytes <= 0 };
  }

  /** With its end where the line is whole; nothing of one that is too old or is no line of a log. */
  private shown(line: Uint8Array): Uint8Array {
    const time = line.indexOf(space);
    const stream = line.indexOf(space, time + 1);
    const tag = line.indexOf(space, stream + 1);
    if (time < 0 || stream < 0 || tag < 0) return nothing;
    const { sinceUnixMicros, timestamps } = this.options;
    if (sinceUnixMicros !== undefined && isBefore(decoder.decode(line.subarray(0, time)), sinceUnixMicros))
      return nothing;
    const isPartial = line[stream + 1] === 80; // P
    const text = line.subarray(tag + 1, isPartial ? line.length - 1 : line.length);
    return timestamps ? joined([line.subarray(0, time + 1), text]) : text;
  }
}

const nothing = new Uint8Array(0);

function isBefore(text: string, unixMicros: number): boolean {
  // As many digits of the second as the format has; the clock has six.
  const instant = parseMicroTime(text.replace(/\.(\d{1,6})\d*/, (_, digits: string) => `.${digits.padEnd(6, "0")}`));
  return !("error" in instant) && instant.seconds * 1_000_000 + instant.micros < unixMicros;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
