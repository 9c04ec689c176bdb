/** Programs that take time or read their input, each a small machine that is stepped. */
import type { FileNode, Piece } from "../file-tree.ts";
import { type Box, type Process, type Program, type Step } from "./box.ts";
import { type Call, complain, type Instant, letters, out, pathOf, sizeOf, sleepMicros } from "./call.ts";
import type { SignalName } from "./signals.ts";
import { pipeIsFull, readStream, type Stream } from "./streams.ts";

/** What most programs are: signals take their usual course. */
abstract class Plain implements Program {
  readonly name: string;
  memoryBytes = PROGRAM_BYTES;

  constructor(name: string) {
    this.name = name;
  }

  abstract step(process: Process, box: Box): Step;

  signal(_signal: SignalName): "taken" | "default" | "ignored" {
    return "default";
  }
}

/** What a process of a small tool holds. */
export const PROGRAM_BYTES = 49_152;

/** A command that ends at once, as a process of its own. */
export class InstantProgram extends Plain {
  private readonly run: Instant;
  private readonly args: readonly string[];

  constructor(name: string, args: readonly string[], run: Instant) {
    super(name);
    this.args = args;
    this.run = run;
  }

  step(process: Process, box: Box): Step {
    return this.run(callOf(this.name, this.args, process, box));
  }
}

const callOf = (name: string, args: readonly string[], process: Process, box: Box): Call => ({
  box,
  process,
  args,
  name,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});

class Sleep extends Plain {
  private readonly args: readonly string[];
  private untilMicros: number | undefined;

  constructor(args: readonly string[]) {
    super("sleep");
    this.args = args;
  }

  step(process: Process, box: Box): Step {
    const now = box.world.nowMicros();
    if (this.untilMicros === undefined) {
      let micros = 0;
      for (const arg of this.args) {
        const one = sleepMicros(arg);
        if (one === undefined)
          return complain(callOf("sleep", this.args, process, box), `invalid time interval '${arg}'`);
        micros += one;
      }
      if (this.args.length === 0) return complain(callOf("sleep", this.args, process, box), "missing operand");
      this.untilMicros = now + micros;
    }
    if (now >= this.untilMicros) return 0;
    return this.untilMicros === Infinity ? "signal" : { until: this.untilMicros };
  }
}

/** Reads files, or its standard input, piece by piece. */
abstract class Reader extends Plain {
  protected readonly args: readonly string[];
  private inputs: readonly string[] | undefined;
  private open: Stream | undefined;
  private next = 0;
  protected status = 0;

  constructor(name: string, args: readonly string[]) {
    super(name);
    this.args = args;
  }

  /** Its options; files to read (none: standard input), or a status when it ends here. */
  protected abstract begin(call: Call): readonly string[] | number;
  /** A status ends it. */
  protected abstract take(piece: Piece, call: Call): number | undefined;
  protected finish(_call: Call): number {
    return this.status;
  }
  /** How much it asks for at a time. */
  protected chunkBytes = 65_536;

  step(process: Process, box: Box): Step {
    const call = callOf(this.name, this.args, process, box);
    if (this.inputs === undefined) {
      const began = this.begin(call);
      if (typeof began === "number") return began;
      this.inputs = began.length === 0 ? ["-"] : began;
    }
    for (;;) {
      if (process.status !== undefined) return process.status;
      if (pipeIsFull(process.stdout)) return "write";
      if (this.open === undefined) {
        const path = this.inputs[this.next++];
        if (path === undefined) return this.finish(call);
        this.open = this.streamOf(path, call);
        continue;
      }
      const read = readStream(this.open, this.chunkBytes, () => box.world.random());
      if (read === "wait") return "read";
      if (read === "end") this.open = undefined;
      else {
        const ended = this.take(read.piece, call);
        if (ended !== undefined) return ended;
      }
      if (!box.spend()) return { until: box.world.nowMicros() };
    }
  }

  private streamOf(path: string, call: Call): Stream | undefined {
    if (path === "-") return call.stdin;
    const opened = openForReading(call, path);
    if (typeof opened !== "string") return opened;
    this.status = complain(call, `${path}: ${opened}`);
    return undefined;
  }
}

/** A file to read from its beginning. */
export function openForReading(call: Call, path: string): Stream | string {
  const whole = pathOf(call.process, path);
  if (whole === "/dev/null") return { is: "null" };
  if (whole === "/dev/zero") return { is: "zeros" };
  if (whole === "/dev/urandom" || whole === "/dev/random") return { is: "random" };
  if (whole === "/dev/stdin") return call.stdin;
  const node = call.box.files.find(whole);
  if (node === undefined) return "No such file or directory";
  if (call.box.files.isDirectory(whole)) return "Is a directory";
  const file: FileNode =
    node.is === "file"
      ? node
      : {
          is: "file",
          number: 0,
          pieces: node.is === "image" ? [node.text ?? ""] : [],
          sizeBytes: 0,
          heldBytes: 0,
          modifiedMicros: 0,
        };
  return { is: "file", tree: call.box.files.hostTree, path: whole, file, offset: 0 };
}

class Cat extends Reader {
  protected begin(call: Call): readonly string[] | number {
    const parsed = letters(this.args, "u");
    return parsed === undefined ? complain(call, "invalid option") : parsed.rest;
  }
  protected take(piece: Piece, call: Call): number | undefined {
    const failure = call.box.write(call.process, call.stdout, piece);
    return failure === undefined ? undefined : complain(call, `write error: ${failure}`);
  }
}

class Head extends Reader {
  private left = 10;
  private unit: "lines" | "bytes" = "lines";

  protected begin(call: Call): readonly string[] | number {
    const parsed = countOption(call, this.args);
    if (typeof parsed === "number") return parsed;
    this.unit = parsed.unit;
    this.left = parsed.count;
    if (this.unit === "bytes") this.chunkBytes = 64 << 20;
    return this.left === 0 ? 0 : parsed.rest;
  }

  protected take(piece: Piece, call: Call): number | undefined {
    let kept = piece;
    if (this.unit === "bytes") {
      if (typeof piece === "number") kept = Math.min(piece, this.left);
      else kept = piece.slice(0, this.left);
      this.left -= typeof kept === "number" ? kept : kept.length;
    } else if (typeof piece === "string") {
      let end = 0;
      while (this.left > 0 && end < piece.length) {
        const at = piece.indexOf("\n", end);
        if (at < 0) end = piece.length;
        else {
          end = at + 1;
          this.left--;
        }
      }
      kept = piece.slice(0, end);
    }
    call.box.write(call.process, call.stdout, kept);
    return this.left === 0 ? 0 : undefined;
  }
}

/** `-n N`, `-c N`, `-N`. */
function countOption(
  call: Call,
  args: readonly string[],
):
  | {
      readonly unit: "lines" | "bytes";
      readonly count: number;
      readonly rest: readonly string[];
      readonly follow: boolean;
      readonly fromStart: boolean;
    }
  | number {
  let unit: "lines" | "bytes" = "lines";
  let count = 10;
  let follow = false;
  let fromStart = false;
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] as string;
    if (arg === "-f" || arg === "-F") follow = true;
    else if (arg === "-q") continue;
    else {
      const match = /^-([nc])(.*)$/.exec(arg) ?? (/^-\d+$/.test(arg) ? ["", "n", arg.slice(1)] : undefined);
      if (match === undefined) {
        if (arg.startsWith("-") && arg !== "-") return complain(call, `invalid option '${arg}'`);
        break;
      }
      const text = match[2] === "" ? (args[++index] ?? "") : (match[2] as string);
      const size = sizeOf(text.replace(/^[-+]/, ""));
      if (size === undefined) return complain(call, `invalid number '${text}'`);
      fromStart = text.startsWith("+");
      unit = match[1] === "c" ? "bytes" : "lines";
      count = size;
    }
  }
  return { unit, count, rest: args.slice(index), follow, fromStart };
}

/** Keeps all that it reads until the end: zeros too are memory to it. */
class Tail extends Reader {
  private unit: "lines" | "bytes" = "lines";
  private count = 10;
  private fromStart = false;
  private follow: Stream | undefined;
  private wanted: string | undefined;
  private held: Piece[] = [];

  protected begin(call: Call): readonly string[] | number {
    const parsed = countOption(call, this.args);
    if (typeof parsed === "number") return parsed;
    ({ unit: this.unit, count: this.count, fromStart: this.fromStart } = parsed);
    if (parsed.follow) this.wanted = parsed.rest[0] ?? "-";
    this.chunkBytes = 64 << 20;
    return parsed.rest;
  }

  protected take(piece: Piece): undefined {
    const last = this.held.at(-1);
    if (typeof piece === "number" && typeof last === "number") this.held[this.held.length - 1] = last + piece;
    else this.held.push(piece);
    this.memoryBytes += typeof piece === "number" ? piece : piece.length;
    return undefined;
  }

  protected override finish(call: Call): number {
    if (this.fromStart) {
      let text = textOf(this.held);
      for (let skipped = 1; skipped < this.count; skipped++)
        text = this.unit === "bytes" ? text.slice(1) : text.slice(text.indexOf("\n") + 1 || text.length);
      out(call, text);
    } else out(call, this.ending());
    return this.status;
  }

  private ending(): string {
    const text = textOf(this.held.slice(-64));
    if (this.unit === "bytes") return text.slice(Math.max(0, text.length - this.count));
    let from = text.endsWith("\n") ? text.length - 1 : text.length;
    for (let lines = 0; lines < this.count && from >= 0; lines++)
      from = from === 0 ? -1 : text.lastIndexOf("\n", from - 1);
    return this.count === 0 ? "" : text.slice(from + 1);
  }

  override step(process: Process, box: Box): Step {
    if (this.follow !== undefined) return this.followOn(process, box);
    const step = super.step(process, box);
    if (typeof step !== "number" || this.wanted === undefined) return step;
    if (this.wanted === "-") return step;
    const opened = openForReading(callOf("tail", this.args, process, box), this.wanted);
    if (typeof opened === "string") return step;
    if (opened.is === "file") opened.offset = opened.file.sizeBytes;
    this.follow = opened;
    this.held = [];
    this.memoryBytes = PROGRAM_BYTES;
    // Devices have no end to wait for: it sleeps until a signal comes.
    return opened.is === "file" ? { until: box.world.nowMicros() + FOLLOW_MICROS } : "signal";
  }

  private followOn(process: Process, box: Box): Step {
    const stream = this.follow as Stream;
    for (;;) {
      const read = readStream(stream, this.chunkBytes, () => 0);
      if (typeof read === "string") return { until: box.world.nowMicros() + FOLLOW_MICROS };
      box.write(process, process.stdout, read.piece);
      if (!box.spend()) return { until: box.world.nowMicros() };
    }
  }
}

/** How often `tail -f` looks. */
const FOLLOW_MICROS = 1_000_000;
const ZEROS_SHOWN_MAX = 65_536;

/** Zeros beyond a bound are not written out: nobody reads them. */
const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : "\0".repeat(Math.min(piece, ZEROS_SHOWN_MAX)))).join("");

class WordCount extends Reader {
  private lines = 0;
  private words = 0;
  private bytes = 0;
  private inWord = false;
  private columns: readonly ("l" | "w" | "c")[] = ["l", "w", "c"];

  protected begin(call: Call): readonly string[] | number {
    const parsed = letters(this.args, "lwcm");
    if (parsed === undefined) return complain(call, "invalid option");
    if (parsed.set.size > 0)
      this.columns = (["l", "w", "c"] as const).filter(
        (letter) => parsed.set.has(letter) || (letter === "c" && parsed.set.has("m")),
      );
    return parsed.rest;
  }

  protected take(piece: Piece): undefined {
    if (typeof piece === "number") {
      this.bytes += piece;
      return undefined;
    }
    this.bytes += piece.length;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === 10) this.lines++;
      const isSpace = code === 32 || (code >= 9 && code <= 13);
      if (!isSpace && !this.inWord) this.words++;
      this.inWord = !isSpace;
    }
    return undefined;
  }

  protected override finish(call: Call): number {
    const values = { l: this.lines, w: this.words, c: this.bytes };
    const shown = this.columns.map((column) => String(values[column]));
    const files = this.args.filter((arg) => !arg.startsWith("-"));
    const line = this.columns.length === 1 ? (shown[0] as string) : shown.map((text) => text.padStart(7)).join(" ");
    out(call, `${line}${files.length > 0 ? ` ${files[0]}` : ""}\n`);
    return this.status;
  }
}

/** Fixed strings, and patterns that JavaScript's own expressions share with grep: a bounded subset, see `patternOf`. */
class Grep extends Reader {
  private rest = "";
  private matches: (line: string) => boolean = () => false;
  private options: ReadonlySet<string> = new Set();
  private count = 0;

  protected begin(call: Call): readonly string[] | number {
    const parsed = letters(this.args, "qvicFEnx");
    if (parsed === undefined) return complain(call, "invalid option", 2);
    const [pattern, ...files] = parsed.rest;
    if (pattern === undefined) return complain(call, "a pattern is missing", 2);
    this.options = parsed.set;
    const test = patternOf(pattern, parsed.set.has("F"), parsed.set.has("i"), parsed.set.has("x"));
    if (test === undefined) return complain(call, `the pattern '${pattern}' is not supported`, 2);
    this.matches = (line) => test(line) !== this.options.has("v");
    return files;
  }

  protected take(piece: Piece, call: Call): number | undefined {
    if (typeof piece === "number") return undefined;
    const lines = (this.rest + piece).split("\n");
    this.rest = (lines.pop() as string).slice(0, 1 << 20);
    for (const line of lines) {
      const ended = this.line(line, call);
      if (ended !== undefined) return ended;
    }
    return undefined;
  }

  protected override finish(call: Call): number {
    if (this.rest !== "") {
      const ended = this.line(this.rest, call);
      if (ended !== undefined) return ended;
    }
    if (this.options.has("c")) out(call, `${this.count}\n`);
    return this.status > 0 ? 2 : this.count > 0 ? 0 : 1;
  }

  private line(line: string, call: Call): number | undefined {
    if (!this.matches(line)) return undefined;
    this.count++;
    if (this.options.has("q")) return 0;
    if (!this.options.has("c")) out(call, `${line}\n`);
    return undefined;
  }
}

/** Literal characters, `.`, `.*`, and anchors: what can be matched in one pass. */
function patternOf(
  pattern: string,
  fixed: boolean,
  ignoreCase: boolean,
  whole: boolean,
): ((line: string) => boolean) | undefined {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const wanted = fold(pattern);
  if (fixed || !/[.*[\]^$\\+?(){}|]/.test(pattern)) {
    return whole ? (line) => fold(line) === wanted : (line) => fold(line).includes(wanted);
  }
  const start = wanted.startsWith("^") || whole;
  const end = (wanted.endsWith("$") && !wanted.endsWith("\\$")) || whole;
  const body = wanted.slice(
    wanted.startsWith("^") ? 1 : 0,
    wanted.endsWith("$") && !wanted.endsWith("\\$") ? -1 : undefined,
  );
  if (/[[\]^$+?(){}|]/.test(body) || /(^|[^.])\*/.test(body) || /\\[^.*]/.test(body)) return undefined;
  const source = body.replace(/\\(.)|\.\*|\./g, (all, escaped: string | undefined) =>
    escaped !== undefined ? `\u0000${escaped}` : all === "." ? "\u0001" : "\u0002",
  );
  const segments = source.split("\u0002").map((segment) => segment.replaceAll("\u0000", ""));
  return (line) => matchSegments(fold(line), segments, start, end);
}

function matchSegments(line: string, segments: readonly string[], start: boolean, end: boolean): boolean {
  let at = 0;
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (last && end) {
      const from = line.length - segment.length;
      return from >= at && (index > 0 || !start || from === 0) && sameAt(line, segment, from);
    }
    let found = -1;
    for (let from = at; from + segment.length <= line.length; from++) {
      if (sameAt(line, segment, from)) {
        found = from;
        break;
      }
      if (index === 0 && start) break;
    }
    if (found < 0) return false;
    at = found + segment.length;
  }
  return true;
}

const sameAt = (line: string, segment: string, from: number): boolean => {
  for (let index = 0; index < segment.length; index++) {
    if (segment[index] !== "\u0001" && segment[index] !== line[from + index]) return false;
  }
  return true;
};

class Tee extends Reader {
  private files: Stream[] = [];

  protected begin(call: Call): readonly string[] | number {
    const parsed = letters(this.args, "a");
    if (parsed === undefined) return complain(call, "invalid option");
    for (const path of parsed.rest) {
      const opened = call.box.files.open(pathOf(call.process, path), parsed.set.has("a"), call.box.world.nowMicros());
      if (typeof opened === "string") this.status = complain(call, `${path}: ${opened}`);
      else this.files.push({ is: "file", tree: opened.at.tree, path: opened.at.path, file: opened.file, offset: 0 });
    }
    return [];
  }

  protected take(piece: Piece, call: Call): undefined {
    for (const stream of [call.stdout, ...this.files]) call.box.write(call.process, stream, piece);
    return undefined;
  }
}

class Sort extends Reader {
  private text = "";

  protected begin(call: Call): readonly string[] | number {
    const parsed = letters(this.args, "urn");
    return parsed === undefined ? complain(call, "invalid option", 2) : parsed.rest;
  }

  protected take(piece: Piece, call: Call): number | undefined {
    if (typeof piece === "string") this.text += piece;
    this.memoryBytes += typeof piece === "number" ? piece : piece.length;
    return this.text.length > 1 << 24 ? complain(call, "the input is too large", 2) : undefined;
  }

  protected override finish(call: Call): number {
    const { set } = letters(this.args, "urn") as { set: ReadonlySet<string> };
    let lines = this.text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const value = (line: string): number => Number(/^\s*-?\d{1,15}/.exec(line)?.[0] ?? 0);
    lines.sort((a, b) => (set.has("n") ? value(a) - value(b) : 0) || (a < b ? -1 : a > b ? 1 : 0));
    if (set.has("u")) lines = lines.filter((line, index) => line !== lines[index - 1]);
    if (set.has("r")) lines.reverse();
    out(call, lines.map((line) => `${line}\n`).join(""));
    return this.status;
  }
}

class Yes extends Plain {
  private readonly args: readonly string[];

  constructor(args: readonly string[]) {
    super("yes");
    this.args = args;
  }

  step(process: Process, box: Box): Step {
    const line = `${this.args.length === 0 ? "y" : this.args.join(" ")}\n`;
    const failure = box.write(process, process.stdout, line.repeat(Math.max(1, Math.floor(4096 / line.length))));
    if (failure !== undefined) return 1;
    return pipeIsFull(process.stdout)
      ? "write"
      : { until: box.world.nowMicros() + (process.stdout.is === "pipe" ? 0 : 1000) };
  }
}

/** Copies blocks at the speed of the disk, without holding them. */
class Dd extends Plain {
  private readonly args: readonly string[];
  private job:
    | { input: Stream; output: Stream; blockBytes: number; blocks: number; done: number; bytes: number }
    | undefined;

  constructor(args: readonly string[]) {
    super("dd");
    this.args = args;
  }

  step(process: Process, box: Box): Step {
    const call = callOf("dd", this.args, process, box);
    if (this.job === undefined) {
      const job = this.begin(call);
      if (typeof job === "number") return job;
      this.job = job;
    }
    const { job } = this;
    const now = box.world.nowMicros();
    // At most an eighth of a second of the disk at a time, so that a large file grows while it is looked at.
    const share = Math.max(job.blockBytes, Math.floor(box.world.diskBytesPerSecond / 8));
    let moved = 0;
    while (job.done < job.blocks && moved < share) {
      if (pipeIsFull(job.output)) return "write";
      const wanted =
        job.input.is === "zeros" ? Math.min(job.blocks - job.done, Math.max(1, Math.floor(share / job.blockBytes))) : 1;
      const read = readStream(job.input, job.blockBytes * wanted, () => box.world.random());
      if (read === "wait") return "read";
      if (read === "end") return this.end(call, 0);
      const bytes = typeof read.piece === "number" ? read.piece : read.piece.length;
      const failure = box.write(process, job.output, read.piece);
      if (failure !== undefined) {
        complain(call, `error writing: ${failure}`);
        return this.end(call, 1);
      }
      job.done += wanted;
      job.bytes += bytes;
      moved += bytes;
      if (!box.spend()) break;
    }
    if (job.done >= job.blocks) return this.end(call, 0);
    return { until: now + Math.ceil((moved * 1_000_000) / box.world.diskBytesPerSecond) };
  }

  private begin(call: Call): NonNullable<Dd["job"]> | number {
    const options = new Map<string, string>();
    for (const arg of this.args) {
      const at = arg.indexOf("=");
      if (at < 0) return complain(call, `unrecognized operand '${arg}'`);
      options.set(arg.slice(0, at), arg.slice(at + 1));
    }
    const blockBytes = sizeOf(options.get("bs") ?? "512");
    const count = options.get("count");
    const blocks = count === undefined ? Infinity : sizeOf(count);
    if (blockBytes === undefined || blockBytes === 0 || blocks === undefined) return complain(call, "invalid number");
    const from = options.get("if");
    const input = from === undefined ? call.stdin : openForReading(call, from);
    if (typeof input === "string") return complain(call, `failed to open '${from}': ${input}`);
    const to = options.get("of");
    if (to === undefined || to === "/dev/null") {
      return { input, output: to === undefined ? call.stdout : { is: "null" }, blockBytes, blocks, done: 0, bytes: 0 };
    }
    const append = (options.get("conv") ?? "").includes("notrunc") || (options.get("oflag") ?? "").includes("append");
    const opened = call.box.files.open(pathOf(call.process, to), append, call.box.world.nowMicros());
    if (typeof opened === "string") return complain(call, `failed to open '${to}': ${opened}`);
    const output: Stream = { is: "file", tree: opened.at.tree, path: opened.at.path, file: opened.file, offset: 0 };
    return { input, output, blockBytes, blocks, done: 0, bytes: 0 };
  }

  private end(call: Call, status: number): number {
    const { bytes = 0, blockBytes = 1 } = this.job ?? {};
    const full = Math.floor(bytes / blockBytes);
    const part = bytes % blockBytes === 0 ? 0 : 1;
    call.box.write(call.process, call.stderr, `${full}+${part} records in\n${full}+${part} records out\n`);
    return status;
  }
}

/** What an image runs that is no shell: serves until it is told to stop, ends after a while, or starts over. */
export interface ServiceOptions {
  readonly name: string;
  /** Undefined: for ever. */
  readonly afterMicros: number | undefined;
  /** Status when the time is over. */
  readonly status: number;
  /** How long it takes to stop after TERM, and its status then; undefined: it does not listen to TERM. */
  readonly stop: { readonly micros: number; readonly status: number } | undefined;
  readonly memoryBytes: number;
  /** A line on standard output at the beginning. */
  readonly says: string | undefined;
}

export class Service implements Program {
  readonly name: string;
  readonly memoryBytes: number;
  private readonly options: ServiceOptions;
  private endsAtMicros: number | undefined;
  private endStatus: number;

  constructor(options: ServiceOptions) {
    this.name = options.name;
    this.memoryBytes = options.memoryBytes;
    this.options = options;
    this.endStatus = options.status;
  }

  step(process: Process, box: Box): Step {
    const now = box.world.nowMicros();
    if (this.endsAtMicros === undefined) {
      this.endsAtMicros = this.options.afterMicros === undefined ? Infinity : now + this.options.afterMicros;
      if (this.options.says !== undefined) box.write(process, process.stdout, `${this.options.says}\n`);
    }
    if (now >= this.endsAtMicros) return this.endStatus;
    return this.endsAtMicros === Infinity ? "signal" : { until: this.endsAtMicros };
  }

  signal(signal: SignalName, _process: Process, box: Box): "taken" | "default" | "ignored" {
    const { stop } = this.options;
    if (signal !== "TERM" && signal !== "INT" && signal !== "QUIT") return "default";
    if (stop === undefined) return "ignored";
    this.endsAtMicros = Math.min(this.endsAtMicros ?? Infinity, box.world.nowMicros() + stop.micros);
    this.endStatus = stop.status;
    return "taken";
  }
}

/** Asks another address for a page, as probes by command do. */
class Wget extends Plain {
  private readonly args: readonly string[];

  constructor(name: string, args: readonly string[]) {
    super(name);
    this.args = args;
  }

  step(process: Process, box: Box): Step {
    const call = callOf(this.name, this.args, process, box);
    const url = this.args.find((arg) => !arg.startsWith("-") && /[./:]/.test(arg)) ?? "";
    const match = /^(?:https?:\/\/)?([^/:]+)(?::(\d{1,5}))?(\/.*)?$/.exec(url);
    if (match === null) return complain(call, `bad address '${url}'`);
    const port = Number(match[2] ?? (url.startsWith("https") ? 443 : 80));
    const { outcome, status, body } = box.world.connect(match[1] as string, port, {
      path: match[3] ?? "/",
      method: "GET",
    });
    const curl = this.name === "curl";
    if (outcome !== "OPEN")
      return complain(call, `can't connect to remote host (${match[1]}): Connection refused`, curl ? 7 : 1);
    if (status >= 400 && (!curl || this.args.includes("-f")))
      return complain(call, `server returned error: HTTP/1.1 ${status}`, curl ? 22 : 1);
    const quietFile = this.args.some((arg) => /^-[a-zA-Z]*O/.test(arg) || arg === "--spider");
    if (curl || quietFile) out(call, this.args.includes("--spider") || this.args.includes("/dev/null") ? "" : body);
    return 0;
  }
}

/** `nc -z HOST PORT` looks whether a port is open; `nc -l -p PORT` takes connections until it is killed. */
class Netcat extends Plain {
  readonly listens?: number;
  private readonly args: readonly string[];

  constructor(args: readonly string[]) {
    super("nc");
    this.args = args;
    const port = Number(args.filter((arg) => /^\d{1,5}$/.test(arg)).at(-1));
    if (args.some((arg) => /^-[a-z]*l/.test(arg)) && port > 0) this.listens = port;
  }

  step(process: Process, box: Box): Step {
    if (this.listens !== undefined) return "signal";
    const [host, port] = this.args.filter((arg) => !arg.startsWith("-")).slice(-2);
    if (host === undefined || !/^\d{1,5}$/.test(port ?? "")) {
      return complain(callOf("nc", this.args, process, box), "usage: nc -z HOST PORT, nc -l -p PORT");
    }
    return box.world.connect(host, Number(port), undefined).outcome === "OPEN" ? 0 : 1;
  }
}

/** A new program for a command that is not over at once; undefined for a name that is none. */
export const programs: Readonly<Record<string, (args: readonly string[]) => Program>> = {
  sleep: (args) => new Sleep(args),
  cat: (args) => new Cat("cat", args),
  head: (args) => new Head("head", args),
  tail: (args) => new Tail("tail", args),
  wc: (args) => new WordCount("wc", args),
  grep: (args) => new Grep("grep", args),
  tee: (args) => new Tee("tee", args),
  sort: (args) => new Sort("sort", args),
  yes: (args) => new Yes(args),
  dd: (args) => new Dd(args),
  wget: (args) => new Wget("wget", args),
  curl: (args) => new Wget("curl", args),
  nc: (args) => new Netcat(args),
};
