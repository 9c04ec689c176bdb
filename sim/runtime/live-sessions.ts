/**
 * Streams into containers while they run: a command with somebody at its input and output, the container's own process, and
 * connections to ports. An adapter brings them to sockets; here they are calls, each within an event of the machine.
 */
import type { AttachRequest, ExecRequest } from "../../wire/cri-messages.ts";
import { find } from "./container-calls.ts";
import { startExec, whenEnded } from "./exec.ts";
import { bytesText, type Piece, textBytes } from "./file-tree.ts";
import { connect } from "./network.ts";
import { portAnswers } from "./port-answers.ts";
import type { Box, Process } from "./processes/box.ts";
import type { SignalName } from "./processes/signals.ts";
import { newPipe, type Pipe, pipeIsFull, type Stream } from "./processes/streams.ts";
import type { ContainerRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { onScreen, Terminal } from "./terminal.ts";

/** Whoever is at the other end. */
export interface LiveSink {
  /** 1 is standard output, 2 standard error. */
  output(stream: 1 | 2, bytes: Uint8Array): void;
  /** They have not taken what there is: programs wait. */
  isFull(): boolean;
  /** There is room for input again. */
  wantsInput(): void;
  /** Once, and last. */
  ended(end: SessionEnd): void;
}

export type SessionEnd = { readonly exitCode: number } | { readonly error: string };

export interface LiveSession {
  /** False: no more until `wantsInput`. */
  input(bytes: Uint8Array): boolean;
  endInput(): void;
  /** The window of a terminal, in characters. */
  resize(columns: number, rows: number): void;
  /** `isFull` may be false again. */
  resume(): void;
  /** The other end is gone. */
  close(): void;
}

/** Why there is none, in the runtime's words. */
export type Opened = LiveSession | { readonly error: string };

/** A command beside the container's own. */
export function openExec(state: RuntimeState, request: ExecRequest, sink: LiveSink): Opened {
  const container = find(state, request.containerId ?? "");
  const box = container?.box;
  if (container === undefined || box === undefined) return { error: "container is not running" };
  const { cmd = [], stdin = false, stdout = true, stderr = true, tty = false } = request;
  const pipe: Pipe | undefined = stdin
    ? { ...newPipe(), writers: 1, isTerminal: tty, emptied: () => sink.wantsInput() }
    : undefined;
  const out = outputOf(sink, 1, stdout, tty);
  const process = startExec(
    ...([state, container, cmd] as const),
    pipe === undefined ? { is: "null" } : { is: "pipe", pipe },
    out,
    tty ? out : outputOf(sink, 2, stderr, false),
    tty ? new Map([["TERM", "xterm"]]) : new Map(),
  );
  if (typeof process === "string") return { error: `failed to exec in container: ${process}` };
  let isOver = false;
  whenEnded(state, container, process, () => {
    isOver = true;
    sink.ended({ exitCode: process.status ?? 137 });
  });
  const session = new PipeSession(state, container, pipe, tty ? terminalOf(box, process, pipe, sink) : undefined);
  return Object.assign(session, {
    close: () => {
      session.endInput();
      if (tty && !isOver) signalAll(box, process, "HUP");
      state.schedule(container, state.nowMicros);
    },
  });
}

/** The container's first process. What it has written before is in its log alone. */
export function openAttach(state: RuntimeState, request: AttachRequest, sink: LiveSink): Opened {
  const container = find(state, request.containerId ?? "");
  const { box, config } = container ?? {};
  if (container === undefined || box === undefined || config === undefined)
    return { error: "container is not running" };
  const tty = config.tty === true;
  const { stdout = true, stderr = true } = request;
  const streams = [outputOf(sink, 1, stdout, tty), outputOf(sink, tty ? 1 : 2, stderr || tty, tty)] as const;
  const watch = (stream: 1 | 2, piece: Piece): void => {
    const live = streams[stream - 1] as Stream;
    if (live.is === "live") live.take(piece);
  };
  const watchers = (container.watchers ??= new Set());
  watchers.add(watch);
  container.waiters.push(() => {
    watchers.delete(watch);
    sink.ended({ exitCode: 0 });
  });
  const pipe = request.stdin === true ? container.stdin : undefined;
  if (pipe !== undefined) pipe.emptied = () => sink.wantsInput();
  const first = box.first;
  const terminal = tty && first !== undefined ? terminalOf(box, first, pipe, sink) : undefined;
  const session = new PipeSession(state, container, pipe, terminal);
  // Without `stdinOnce` the next one to attach may write as well.
  if (config.stdinOnce !== true) Object.assign(session, { endInput: () => {} });
  return Object.assign(session, {
    close: () => {
      watchers.delete(watch);
      session.endInput();
    },
  });
}

/** One connection to a port of a pod. What comes back is standard output. */
export function openPort(state: RuntimeState, sandboxId: string, port: number, sink: LiveSink): Opened {
  const sandbox = state.sandboxes.get(sandboxId);
  if (sandbox === undefined || !sandbox.ready) return { error: `sandbox ${sandboxId} is not running` };
  const ip = sandbox.ip === "" ? "127.0.0.1" : sandbox.ip;
  const { outcome } = connect(state, ip, port, undefined);
  if (outcome !== "OPEN") {
    return {
      error: `failed to execute portforward in network namespace of sandbox ${sandboxId}: failed to connect to localhost:${port} inside it: dial tcp4 127.0.0.1:${port}: connect: connection refused`,
    };
  }
  let isOver = false;
  const end = (): void => {
    if (!isOver) sink.ended({ exitCode: 0 });
    isOver = true;
  };
  const answers = portAnswers((head) => connect(state, ip, port, head));
  return {
    input(bytes) {
      const { text, isLast } = answers(bytesText(bytes));
      if (text !== "") sink.output(1, textBytes(text));
      if (isLast) end();
      return true;
    },
    endInput: end,
    resize() {},
    resume() {},
    close: end,
  };
}

class PipeSession implements LiveSession {
  private readonly state: RuntimeState;
  private readonly container: ContainerRecord;
  private readonly terminal: Terminal | undefined;
  private pipe: Pipe | undefined;

  constructor(state: RuntimeState, container: ContainerRecord, pipe: Pipe | undefined, terminal: Terminal | undefined) {
    this.state = state;
    this.container = container;
    this.pipe = pipe;
    this.terminal = terminal;
  }

  input(bytes: Uint8Array): boolean {
    const { pipe, terminal } = this;
    const text = bytesText(bytes);
    if (terminal !== undefined) terminal.type(text);
    else if (pipe !== undefined) feed(pipe, text);
    this.resume();
    return pipe === undefined || !pipeIsFull({ is: "pipe", pipe });
  }

  endInput(): void {
    if (this.pipe !== undefined && this.pipe.writers > 0) this.pipe.writers--;
    this.pipe = undefined;
    this.resume();
  }

  // No program of these containers asks how large its terminal is.
  resize(): void {}

  resume(): void {
    if (this.container.box !== undefined) this.state.schedule(this.container, this.state.nowMicros);
  }

  close(): void {
    this.endInput();
  }
}

function feed(pipe: Pipe, text: string): void {
  if (text === "" || pipe.writers === 0 || pipe.readers === 0) return;
  pipe.pieces.push(text);
  pipe.bytes += text.length;
}

function outputOf(sink: LiveSink, stream: 1 | 2, isWanted: boolean, tty: boolean): Stream {
  if (!isWanted) return { is: "null" };
  return {
    is: "live",
    isFull: () => sink.isFull(),
    take: (piece) => {
      const text = typeof piece === "string" ? piece : "\0".repeat(piece);
      sink.output(stream, textBytes(tty ? onScreen(text) : text));
    },
  };
}

function terminalOf(box: Box, process: Process, pipe: Pipe | undefined, sink: LiveSink): Terminal {
  return new Terminal({
    print: (text) => sink.output(1, textBytes(text)),
    enter: (text) => {
      if (pipe !== undefined) feed(pipe, text);
    },
    end: () => {
      if (pipe !== undefined && pipe.writers > 0) pipe.writers = 0;
    },
    signal: (name) => signalAll(box, process, name),
  });
}

/** A process and all that came of it: who has the terminal gets its signals. */
function signalAll(box: Box, process: Process, signal: SignalName): void {
  const family = new Set([process.pid]);
  const all = [...box.processes.values()];
  for (const each of all) if (family.has(each.parent)) family.add(each.pid);
  for (const each of all) if (family.has(each.pid)) box.signal(each, signal);
}
