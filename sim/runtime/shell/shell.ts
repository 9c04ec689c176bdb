/**
 * Runs a shell script as a process of a container. What waits (a child, a pipe) is yielded to the box that steps it; what a
 * script computes without waiting is bounded by the box's share of steps, by memory and by nesting.
 */
import { toByteText } from "../file-tree.ts";
import type { Box, Process, Program, Step } from "../processes/box.ts";
import { type Call, pathOf } from "../processes/call.ts";
import { instantCommands } from "../processes/instant-commands.ts";
import { openForReading, PROGRAM_BYTES } from "../processes/programs.ts";
import { type SignalName, statusOf } from "../processes/signals.ts";
import {
  isTerminal,
  newPipe,
  pipeIsFull,
  readStream,
  releaseStream,
  shareStream,
  type Stream,
} from "../processes/streams.ts";
import { builtins } from "./builtins.ts";
import { type Run, type ShellContext, ShellError, type ShellState, type StartCommand, type Unwind } from "./context.ts";
import { Expansion } from "./expansion.ts";
import { Pattern } from "./pattern.ts";
import { parseScript } from "./parse.ts";
import { type Command, type Redirection, ShellSyntaxError, type Word } from "./syntax.ts";

const CALL_DEPTH_MAX = 100;
/** Lines of one command at standard input, each of which is looked at together with those before it. */
const OPEN_LINES_MAX = 1000;
const CAPTURE_BYTES_MAX = 1 << 22;
/** A variable's text is held as it is, unlike zeros in files. */
const VALUE_BYTES_MAX = 1 << 26;

class Shell implements Program, ShellContext {
  readonly name = "sh";
  readonly state: ShellState;
  memoryBytes = PROGRAM_BYTES;
  status = 0;
  lastBackground = 0;
  /** Set while a `break`, `continue`, `return` or `exit` is on its way out. */
  unwind: Unwind | undefined;
  /** Inside loops and functions, for what `break` and `return` may do. */
  loopDepth = 0;
  callDepth = 0;
  readonly pending: SignalName[] = [];
  readonly startCommand: StartCommand;
  private conditionDepth = 0;
  private readonly script: Command | string | undefined;
  private isInteractive = false;
  private running: Run | undefined;
  private process!: Process;
  private box!: Box;

  /** Without a script it takes its commands from standard input. */
  constructor(script: Command | string | undefined, state: ShellState, startCommand: StartCommand) {
    this.script = script;
    this.state = state;
    this.startCommand = startCommand;
    for (const [name, value] of state.variables) this.memoryBytes += name.length + value.length;
  }

  step(process: Process, box: Box): Step {
    this.process = process;
    this.box = box;
    this.running ??= this.main();
    return this.running.next().value;
  }

  signal(signal: SignalName): "taken" | "default" | "ignored" {
    const action = this.state.traps.get(signal);
    if (action === undefined)
      return this.isInteractive && (signal === "INT" || signal === "TERM") ? "ignored" : "default";
    if (action === "") return "ignored";
    if (!this.pending.includes(signal)) this.pending.push(signal);
    return "taken";
  }

  private *main(): Run {
    for (const [name, value] of this.process.environment) {
      if (this.state.variables.has(name)) continue;
      this.set(name, value);
      this.state.exported.add(name);
    }
    this.set("PWD", this.process.directory);
    try {
      if (this.script === undefined) yield* this.fromInput();
      else {
        const tree = typeof this.script === "string" ? yield* this.parsed(this.script) : this.script;
        this.status = yield* this.execute(tree);
      }
    } catch (error) {
      this.status = this.failed(error);
    }
    const farewell = this.state.traps.get("EXIT");
    if (farewell !== undefined && farewell !== "") {
      this.state.traps.delete("EXIT");
      const kept = this.status;
      this.unwind = undefined;
      yield* this.evaluate(farewell);
      if ((this.unwind as Unwind | undefined)?.is !== "exit") this.status = kept;
    }
    return this.status & 255;
  }

  /** Commands from standard input, each carried out once it is whole. At a terminal an error ends no more than its command. */
  private *fromInput(): Run<void> {
    this.isInteractive = isTerminal(this.process.stdin);
    let [text, lines] = ["", 0];
    for (let ended = false; !ended; ) {
      if (this.isInteractive) this.box.write(this.process, this.process.stderr, text === "" ? "# " : "> ");
      const line = yield* this.inputLine();
      ended = line === undefined;
      text += line ?? "";
      if (!ended && ++lines < OPEN_LINES_MAX && (yield* this.isOpen(text))) continue;
      try {
        if (text !== "") this.status = yield* this.execute(yield* this.parsed(text));
      } catch (error) {
        if (!this.isInteractive) throw error;
        this.status = this.failed(error);
      }
      [text, lines] = ["", 0];
      if (this.unwind?.is === "exit") return;
      this.unwind = undefined;
    }
  }

  /** With its end; undefined: there are no more. What follows the line is left for the command on it. */
  private *inputLine(): Run<string | undefined> {
    let line = "";
    for (;;) {
      const result = readStream(this.process.stdin, 1, () => this.box.world.random());
      if (result === "wait") {
        yield "read";
        // At a terminal: what was being typed is given up.
        if (this.pending.length > 0) yield* this.runTraps();
        continue;
      }
      if (result === "end") return line === "" ? undefined : line;
      line += typeof result.piece === "number" ? "\0" : result.piece;
      if (line.endsWith("\n")) return line;
      if (line.length > 1 << 20 || !this.box.spend()) yield { until: this.box.world.nowMicros() };
    }
  }

  /** A script in this shell: `eval`, a trap. */
  *evaluate(text: string): Run {
    let tree: Command;
    try {
      tree = yield* this.parsed(text);
    } catch (error) {
      return this.failed(error);
    }
    return yield* this.execute(tree);
  }

  /** A command at a time, and others come in between. Throws `ShellSyntaxError`. */
  private *parsed(text: string): Run<Command> {
    const parsing = parseScript(text);
    for (;;) {
      const next = parsing.next();
      if (next.done === true) return next.value;
      if (!this.box.spend()) yield { until: this.box.world.nowMicros() };
    }
  }

  /** Whether more lines are needed before a command can be carried out. */
  private *isOpen(text: string): Run<boolean> {
    if (text.endsWith("\\\n")) return true;
    try {
      yield* this.parsed(text);
      return false;
    } catch (error) {
      return (
        error instanceof ShellSyntaxError &&
        /end of file unexpected|Unterminated quoted|Missing '}'|EOF in backquote/.test(error.message)
      );
    }
  }

  private failed(error: unknown): number {
    // A text or a stack that is too large for the machine below: the shell's own limit, as far as a script can tell.
    if (error instanceof RangeError) {
      this.complain("Out of space");
      return 2;
    }
    if (!(error instanceof ShellError) && !(error instanceof ShellSyntaxError)) throw error;
    this.complain(error.message);
    return 2;
  }

  complain(text: string): void {
    this.box.write(this.process, this.process.stderr, toByteText(`${this.state.name}: ${text}\n`));
  }

  *execute(command: Command): Run {
    if (!this.box.spend()) yield { until: this.box.world.nowMicros() };
    // Killed by itself, or for the memory that it took.
    if (this.process.status !== undefined) this.unwind = { is: "exit", count: 0 };
    if (this.unwind !== undefined) return this.status;
    const status = yield* this.dispatch(command);
    this.status = status;
    if (this.pending.length > 0) yield* this.runTraps();
    return this.status;
  }

  private *runTraps(): Run<void> {
    for (let signal = this.pending.shift(); signal !== undefined; signal = this.pending.shift()) {
      const kept = this.status;
      yield* this.evaluate(this.state.traps.get(signal) ?? "");
      if (this.unwind !== undefined) return;
      this.status = kept;
    }
  }

  private *dispatch(command: Command): Run {
    switch (command.is) {
      case "list": {
        let status = 0;
        for (const { command: item, background } of command.items) {
          status = background ? this.background(item) : yield* this.execute(item);
          if (this.unwind !== undefined) return this.status;
        }
        return status;
      }
      case "and":
      case "or": {
        const left = yield* this.condition(command.left);
        if (this.unwind !== undefined || (left === 0) !== (command.is === "and")) return left;
        return yield* this.execute(command.right);
      }
      case "not":
        return (yield* this.condition(command.body)) === 0 ? 1 : 0;
      case "pipe":
        return this.errorExit(yield* this.pipeline(command.parts));
      case "simple":
        return this.errorExit(yield* this.simple(command));
      case "group":
        return yield* this.redirected(command.redirections, () => this.execute(command.body));
      case "subshell":
        return this.errorExit(yield* this.redirected(command.redirections, () => this.inSubshell(command.body)));
      case "if":
        return yield* this.redirected(command.redirections, () => this.ifElse(command));
      case "while":
        return yield* this.redirected(command.redirections, () => this.loop(command));
      case "for":
        return yield* this.redirected(command.redirections, () => this.forEach(command));
      case "case":
        return yield* this.redirected(command.redirections, () => this.choose(command));
      case "function":
        this.state.functions.set(command.name, command.body);
        return 0;
    }
  }

  /** Where a failure is an answer and does not end the script. */
  private *condition(command: Command): Run {
    this.conditionDepth++;
    const status = yield* this.execute(command);
    this.conditionDepth--;
    return status;
  }

  private errorExit(status: number): number {
    if (status !== 0 && this.conditionDepth === 0 && this.state.options.has("e") && this.unwind === undefined) {
      this.status = status;
      this.unwind = { is: "exit", count: 0 };
    }
    return status;
  }

  private *ifElse(command: Extract<Command, { is: "if" }>): Run {
    for (const { condition, body } of command.arms) {
      const status = yield* this.condition(condition);
      if (this.unwind !== undefined) return this.status;
      if (status === 0) return yield* this.execute(body);
    }
    return command.otherwise === undefined ? 0 : yield* this.execute(command.otherwise);
  }

  private *loop(command: Extract<Command, { is: "while" }>): Run {
    let status = 0;
    this.loopDepth++;
    for (;;) {
      const condition = yield* this.condition(command.condition);
      if (this.leaves()) break;
      if ((condition === 0) === command.until) break;
      status = yield* this.execute(command.body);
      if (this.leaves()) break;
    }
    this.loopDepth--;
    return this.unwind === undefined ? status : this.status;
  }

  private *forEach(command: Extract<Command, { is: "for" }>): Run {
    const values = command.words === undefined ? this.state.positional : yield* this.fields(command.words);
    let status = 0;
    this.loopDepth++;
    for (const value of values) {
      this.set(command.name, value);
      status = yield* this.execute(command.body);
      if (this.leaves()) break;
    }
    this.loopDepth--;
    return this.unwind === undefined ? status : this.status;
  }

  /** Whether the loop ends here because of what unwinds; `continue` and the last `break` are settled by it. */
  private leaves(): boolean {
    const { unwind } = this;
    if (unwind === undefined) return false;
    if (unwind.is === "return" || unwind.is === "exit") return true;
    if (--unwind.count > 0) return true;
    this.unwind = undefined;
    this.status = 0;
    return unwind.is === "break";
  }

  private *choose(command: Extract<Command, { is: "case" }>): Run {
    const expansion = this.expansion();
    const value = yield* expansion.single(command.word);
    for (const { patterns, body } of command.arms) {
      for (const pattern of patterns) {
        const wanted = new Pattern(yield* expansion.pattern(pattern));
        if (!(yield* wanted.matches(value, expansion.spend))) continue;
        return body.is === "list" && body.items.length === 0 ? 0 : yield* this.execute(body);
      }
    }
    return 0;
  }

  private expansion(): Expansion {
    return new Expansion(this, this.process, this.box);
  }

  private *fields(words: readonly Word[]): Run<readonly string[]> {
    const expansion = this.expansion();
    const fields: string[] = [];
    for (const word of words) for (const field of yield* expansion.fields(word)) fields.push(field);
    return fields;
  }

  private *simple(command: Extract<Command, { is: "simple" }>): Run {
    const expansion = this.expansion();
    const before = this.status;
    const argv = yield* this.fields(command.words);
    const values: (readonly [string, string])[] = [];
    for (const { name, value } of command.assignments) {
      const text = yield* expansion.single(value, true);
      values.push([name, text]);
      if (argv.length === 0) this.set(name, text);
    }
    if (argv.length === 0) {
      if (command.redirections.length === 0) return expansion.substituted ? this.status : 0;
      this.status = before;
      return yield* this.redirected(command.redirections, () => 0);
    }
    return yield* this.redirected(command.redirections, () => this.call(argv, values));
  }

  private *call(argv: readonly string[], assignments: readonly (readonly [string, string])[]): Run {
    const name = argv[0] as string;
    const builtin = Object.hasOwn(builtins, name) ? builtins[name] : undefined;
    if (builtin !== undefined) {
      for (const [key, value] of assignments) this.set(key, value);
      const result = builtin({ shell: this, process: this.process, box: this.box, args: argv.slice(1) });
      return typeof result === "number" ? result : yield* result;
    }
    const body = this.state.functions.get(name);
    if (body !== undefined) {
      for (const [key, value] of assignments) this.set(key, value);
      return yield* this.callFunction(body, argv.slice(1));
    }
    const instant = Object.hasOwn(instantCommands, name) ? instantCommands[name] : undefined;
    if (instant !== undefined && assignments.length === 0 && this.box.has(name)) {
      const { process, box } = this;
      this.publish();
      const call: Call = {
        box,
        process,
        args: argv.slice(1),
        name,
        stdin: process.stdin,
        stdout: process.stdout,
        stderr: process.stderr,
      };
      const status = instant(call);
      if (pipeIsFull(process.stdout)) yield "write";
      return status;
    }
    return yield* this.external(argv, assignments);
  }

  /** A command as a child that the shell waits for. */
  private *external(argv: readonly string[], assignments: readonly (readonly [string, string])[]): Run {
    const program = this.startCommand(argv, this.box);
    if ("error" in program) {
      this.complain(program.error);
      return program.status;
    }
    const child = this.spawn(program, assignments);
    return child === undefined ? 2 : yield* this.waitFor(child);
  }

  private *callFunction(body: Command, args: readonly string[]): Run {
    if (this.callDepth >= CALL_DEPTH_MAX) throw new ShellError("functions nest too deep");
    const positional = this.state.positional;
    const loopDepth = this.loopDepth;
    this.state.positional = args;
    this.loopDepth = 0;
    this.callDepth++;
    let status = yield* this.execute(body);
    this.callDepth--;
    this.loopDepth = loopDepth;
    this.state.positional = positional;
    if (this.unwind?.is === "return") {
      this.unwind = undefined;
      status = this.status;
    }
    return status;
  }

  /** A child whose streams are this shell's as they are now. */
  spawn(program: Program, assignments: readonly (readonly [string, string])[] = []): Process | undefined {
    const { stdin, stdout, stderr, directory, pid } = this.process;
    const environment = this.environment();
    for (const [key, value] of assignments) environment.set(key, value);
    const child = this.box.spawn(pid, { program, environment, directory, stdin, stdout, stderr });
    if (child === undefined) this.complain("Cannot fork");
    return child;
  }

  *waitFor(child: Process): Run {
    while (child.status === undefined) yield "child";
    this.box.reap(child);
    return child.status;
  }

  private subshell(body: Command): Shell {
    const { state } = this;
    const traps = new Map([...state.traps].filter(([name, action]) => action === "" && name !== "EXIT"));
    const copy: ShellState = {
      ...state,
      variables: new Map(state.variables),
      exported: new Set(state.exported),
      functions: new Map(state.functions),
      options: new Set(state.options),
      traps,
    };
    const shell = new Shell(body, copy, this.startCommand);
    shell.status = this.status;
    shell.lastBackground = this.lastBackground;
    return shell;
  }

  private *inSubshell(body: Command): Run {
    const child = this.spawn(this.subshell(body));
    return child === undefined ? 2 : yield* this.waitFor(child);
  }

  private background(body: Command): number {
    const kept = this.process.stdin;
    this.process.stdin = { is: "null" };
    const child = this.spawn(this.subshell(body));
    this.process.stdin = kept;
    if (child === undefined) return 2;
    this.lastBackground = child.pid;
    return 0;
  }

  private *pipeline(parts: readonly Command[]): Run {
    const { process } = this;
    const { stdin, stdout } = process;
    const children: Process[] = [];
    let from: Stream = stdin;
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1;
      const pipe: Stream | undefined = last ? undefined : { is: "pipe", pipe: newPipe() };
      process.stdin = from;
      process.stdout = pipe ?? stdout;
      const child = this.spawn(this.subshell(part));
      if (child === undefined) break; // there is no room for those after it either
      children.push(child);
      from = pipe ?? from;
    }
    process.stdin = stdin;
    process.stdout = stdout;
    let status = 2;
    for (const child of children) status = yield* this.waitFor(child);
    return children.length < parts.length ? 2 : status;
  }

  /** The output of a substitution without its last newlines. */
  *substitute(body: Command): Run<string> {
    const capture: Stream = { is: "capture", text: "", maxBytes: CAPTURE_BYTES_MAX };
    const { stdout } = this.process;
    this.process.stdout = capture;
    const child = this.spawn(this.subshell(body));
    this.process.stdout = stdout;
    if (child !== undefined) this.status = yield* this.waitFor(child);
    return capture.text.replace(/\n+$/, "").replaceAll("\0", "");
  }

  /** Runs with other streams, which are put back afterwards. */
  private *redirected(redirections: readonly Redirection[], run: () => Run | number): Run {
    if (redirections.length === 0) return yield* settled(run());
    const { process } = this;
    const { stdin, stdout, stderr } = process;
    const failure = yield* this.redirect(redirections);
    if (failure !== undefined) this.complain(failure);
    const status = failure === undefined ? yield* settled(run()) : 2;
    if (process.stdin !== stdin) releaseStream(process.stdin, false);
    if (process.stdout !== stdout) releaseStream(process.stdout, true);
    if (process.stderr !== stderr) releaseStream(process.stderr, true);
    Object.assign(process, { stdin, stdout, stderr });
    return status;
  }

  /** Changes the streams of this shell's process. What failed, if something did. */
  *redirect(redirections: readonly Redirection[]): Run<string | undefined> {
    const expansion = this.expansion();
    for (const redirection of redirections) {
      if (!this.box.spend()) yield { until: this.box.world.nowMicros() };
      if (redirection.is === "here") {
        const text = yield* expansion.single(redirection.body);
        const pipe = newPipe();
        pipe.pieces = [text];
        pipe.bytes = text.length;
        this.assign(0, { is: "pipe", pipe });
        continue;
      }
      const target = yield* expansion.single(redirection.target);
      const failure =
        redirection.is === "duplicate"
          ? this.duplicate(redirection.number, target)
          : this.openTarget(redirection, target);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  private duplicate(number: number, target: string): string | undefined {
    if (target === "-") return this.assign(number, { is: "null" });
    const { process } = this;
    const from = { "0": process.stdin, "1": process.stdout, "2": process.stderr }[target];
    return from === undefined ? `${target}: Bad file descriptor` : this.assign(number, from);
  }

  private openTarget(
    { is, number }: { readonly is: string; readonly number: number },
    target: string,
  ): string | undefined {
    const { process, box } = this;
    const path = pathOf(process, target);
    const device = {
      "/dev/null": "null",
      "/dev/stdout": "1",
      "/dev/stderr": "2",
      "/proc/1/fd/1": "log1",
      "/proc/1/fd/2": "log2",
    }[path];
    if (device === "1" || device === "2") return this.duplicate(number, device);
    if (device === "log1" || device === "log2")
      return this.assign(number, { is: "log", number: device === "log1" ? 1 : 2 });
    if (device === "null") return this.assign(number, { is: "null" });
    if (is === "<") {
      const call: Call = {
        box,
        process,
        args: [],
        name: "sh",
        stdin: process.stdin,
        stdout: process.stdout,
        stderr: process.stderr,
      };
      const opened = openForReading(call, path);
      return typeof opened === "string" ? `cannot open ${target}: ${opened}` : this.assign(number, opened);
    }
    const opened = box.files.open(path, is !== ">", box.world.nowMicros());
    if (typeof opened === "string") return `cannot create ${target}: ${opened}`;
    return this.assign(number, {
      is: "file",
      tree: opened.at.tree,
      path: opened.at.path,
      file: opened.file,
      offset: 0,
    });
  }

  private assign(number: number, stream: Stream): undefined {
    const { process } = this;
    if (number > 2) return undefined;
    shareStream(stream, number !== 0);
    if (number === 0) {
      process.stdin = stream;
      // A here-document is a pipe that nobody writes any more.
    } else if (number === 1) process.stdout = stream;
    else process.stderr = stream;
    return undefined;
  }

  get(name: string): string | undefined {
    return this.state.variables.get(name);
  }

  set(name: string, value: string): void {
    if (value.length > VALUE_BYTES_MAX) throw new ShellError("Out of space");
    const old = this.state.variables.get(name);
    this.state.variables.set(name, value);
    const growth = value.length - (old === undefined ? -name.length : old.length);
    this.memoryBytes += growth;
    if (growth > 4096) this.box.checkMemory();
  }

  unset(name: string): void {
    const old = this.state.variables.get(name);
    if (old !== undefined) this.memoryBytes -= old.length + name.length;
    this.state.variables.delete(name);
    this.state.exported.delete(name);
  }

  /** What children get. */
  environment(): Map<string, string> {
    const environment = new Map<string, string>();
    for (const name of this.state.exported) {
      const value = this.state.variables.get(name);
      if (value !== undefined) environment.set(name, value);
    }
    return environment;
  }

  /** Commands that run in place see the exported variables as their environment. */
  private publish(): void {
    this.process.environment = this.environment();
  }

  /** Replaces this shell by a command: `exec`. */
  *become(argv: readonly string[]): Run {
    const program = this.startCommand(argv, this.box);
    if ("error" in program) {
      this.complain(program.error);
      this.unwind = { is: "exit", count: 0 };
      this.status = program.status;
      return program.status;
    }
    this.publish();
    this.process.program = program;
    yield { until: this.box.world.nowMicros() };
    return 0;
  }

  /** Status of a signal that interrupted a wait. */
  interruption(): number | undefined {
    const signal = this.pending[0];
    return signal === undefined ? undefined : statusOf(signal);
  }
}

function* settled(result: Run | number): Run {
  return typeof result === "number" ? result : yield* result;
}

/** A shell for `sh -c SCRIPT [NAME ARGS…]` or `sh FILE [ARGS…]`; `sh` alone reads nothing and ends. */
export function newShell(
  args: readonly string[],
  readScript: (path: string) => string | undefined,
  startCommand: StartCommand,
): Program | { readonly error: string; readonly status: number } {
  const options = new Set<string>();
  let index = 0;
  let isCommand = false;
  for (; args[index]?.startsWith("-") === true && args[index] !== "-"; index++) {
    const arg = args[index] as string;
    if (arg === "-o") {
      if (args[++index] === "errexit") options.add("e");
      continue;
    }
    for (const letter of arg.slice(1)) {
      if (letter === "c") isCommand = true;
      else options.add(letter);
    }
  }
  const operand = args[index];
  if (isCommand && operand === undefined) return { error: "-c requires an argument", status: 2 };
  const isInput = !isCommand && operand === undefined;
  const script = isCommand || operand === undefined ? operand : readScript(operand);
  if (script === undefined && !isInput) return { error: `cannot open ${operand}: No such file`, status: 2 };
  const rest = args.slice(index + 1);
  return new Shell(
    script,
    {
      variables: new Map([["IFS", " \t\n"]]),
      exported: new Set(),
      functions: new Map(),
      positional: isCommand ? rest.slice(1) : rest,
      name: isCommand ? (rest[0] ?? "sh") : (operand ?? "sh"),
      options,
      traps: new Map(),
    },
    startCommand,
  );
}
