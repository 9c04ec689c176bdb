/**
 * The processes of one container: a process namespace whose first process is the container's own. Processes are plain
 * records that are stepped when something that they wait for has happened; nothing of theirs is pending while they wait.
 */
import type { Micros } from "../../kernel/types.ts";
import type { Piece } from "../file-tree.ts";
import type { ContainerFiles } from "../container-files.ts";
import type { Environment } from "./environment.ts";
import { isHarmless, type SignalName, statusOf } from "./signals.ts";
import { pipeIsFull, releaseStream, shareStream, type Stream, writeStream } from "./streams.ts";

/** What a program wants next: it has ended with a status, or waits for something. */
export type Step =
  | number
  | { readonly until: Micros }
  /** For its standard input, for its output to be taken, for a child to end, or for a signal alone. */
  | "read"
  | "write"
  | "child"
  | "signal";

/** A program that runs: stepped at first and whenever what it waited for is there. Its state is its own. */
export interface Program {
  /** For `ps` and for what is told about it. */
  readonly name: string;
  step(process: Process, box: Box): Step;
  /** What a signal does to it. `default`: what the system does. */
  signal(signal: SignalName, process: Process, box: Box): "taken" | "default" | "ignored";
  /** Bytes that it holds in memory. */
  readonly memoryBytes: number;
  /** The port where it takes connections. */
  readonly listens?: number;
}

export interface Process {
  readonly pid: number;
  readonly parent: number;
  program: Program;
  environment: Environment;
  directory: string;
  stdin: Stream;
  stdout: Stream;
  stderr: Stream;
  waits: Step | "run";
  /** Set when it has ended; it stays until its parent has heard of it. */
  status: number | undefined;
  /** Of one that was started from outside: it, or a child of its, has changed something that outlives it. */
  leavesTrace?: true;
}

/** What the processes reach of the world around their container. */
export interface BoxWorld {
  nowMicros(): Micros;
  /** In real time: whether the box has to let go, so that others have their turn. On virtual time never. */
  readonly isTurnOver: boolean;
  readonly epochUnixMillis: number;
  readonly hostname: string;
  random(): number;
  log(stream: 1 | 2, piece: Piece): void;
  /** Bytes that the processes may hold together before the container is killed for it. */
  readonly memoryMaxBytes: number;
  /** Bytes that the disk writes in a second. */
  readonly diskBytesPerSecond: number;
  /** A connection to another address, as probes make them. */
  connect(host: string, port: number, http: { readonly path: string; readonly method: string } | undefined): Connection;
  /** What the shell lacks is a program of the image, and does this. Default: there is none. */
  readonly hasOwnPrograms?: boolean;
  ownProgram?(): Program;
  /** The box has to be stepped again: a process outside its own step was changed. */
  wake(): void;
}

export interface Connection {
  readonly outcome: "OPEN" | "REFUSED" | "SILENT";
  readonly status: number;
  readonly body: string;
}

/** Steps that a box makes before it lets go. */
const STEPS_MAX = 4_000;
/** Bytes of text that are written for one step. Zeros cost nothing, but where a log shows some of them. */
const BYTES_IN_STEP = 512;
const LOGGED_ZEROS_MAX = 16_384;
/** What a step takes of a processor. */
const STEP_MICROS = 1;
/** Steps of a box that never waits, after which it is given few at a time. */
const BUSY_STEPS = 200_000;
const PROCESSES_MAX = 512;
/** What is started from outside counts from here, so that the container's own processes have the same numbers without it. */
const PIDS_FROM_OUTSIDE = 10_000_000;

/** Whether the container's own first process is not above it. */
export const isFromOutside = ({ pid }: Process): boolean => pid > PIDS_FROM_OUTSIDE;
const BUSY_STEPS_AT_A_TIME = 200;

export class Box {
  readonly world: BoxWorld;
  readonly files: ContainerFiles;
  readonly processes = new Map<number, Process>();
  /** CPU time spent by computing, beside the usage model's. */
  cpuMicros = 0;
  /** The first process was killed because the processes held too much. */
  outOfMemory = false;
  /** Who wants to hear of a process's end. */
  readonly ended = new Map<Process, () => void>();
  private readonly programs: ReadonlySet<string>;
  private lastPid = 0;
  private lastPidFromOutside = PIDS_FROM_OUTSIDE;
  /** Grows with what a process changes beside itself: files, logs, other processes, the draws of chance. */
  changes = 0;
  private stepsLeft = 0;
  private busySteps = 0;
  private pausedUntilMicros = 0;

  /** `programs`: names of the commands that its image has. */
  constructor(world: BoxWorld, files: ContainerFiles, programs: ReadonlySet<string>) {
    this.programs = programs;
    this.world = world;
    this.files = files;
  }

  /** Undefined: there are too many already. The streams are the new process's own from now on. */
  spawn(
    parent: number,
    of: Pick<Process, "program" | "environment" | "directory" | "stdin" | "stdout" | "stderr">,
  ): Process | undefined {
    if (this.processes.size >= PROCESSES_MAX) return undefined;
    const isOutside = parent > PIDS_FROM_OUTSIDE || (parent === 0 && this.lastPid > 0);
    const pid = isOutside ? ++this.lastPidFromOutside : ++this.lastPid;
    const process: Process = { pid, parent, waits: "run", status: undefined, ...of };
    shareStream(process.stdin, false);
    shareStream(process.stdout, true);
    shareStream(process.stderr, true);
    this.processes.set(process.pid, process);
    return process;
  }

  get first(): Process | undefined {
    return this.processes.get(1);
  }

  get memoryBytes(): number {
    let bytes = 0;
    for (const process of this.processes.values())
      if (process.status === undefined) bytes += process.program.memoryBytes;
    return bytes;
  }

  has(name: string): boolean {
    return this.programs.has(name);
  }

  /** Kills the container when its processes hold more than it may. */
  checkMemory(): void {
    const { first } = this;
    if (first === undefined || first.status !== undefined || this.memoryBytes <= this.world.memoryMaxBytes) return;
    this.outOfMemory = true;
    this.end(first, statusOf("KILL"));
  }

  /** Steps every process that can go on, until none can or the box has had its share. */
  run(): void {
    const now = this.world.nowMicros();
    if (now < this.pausedUntilMicros) return;
    this.stepsLeft = this.busySteps < BUSY_STEPS ? STEPS_MAX : BUSY_STEPS_AT_A_TIME;
    for (let stepped = true; stepped; ) {
      stepped = false;
      for (const process of this.processes.values()) {
        if (process.status !== undefined || !this.isReady(process, now)) continue;
        stepped = true;
        process.waits = "run";
        const changes = this.changes + this.files.changes;
        const step = process.program.step(process, this);
        if (this.changes + this.files.changes !== changes && isFromOutside(process)) this.trace(process);
        if (process.status === undefined) {
          if (typeof step === "number") this.end(process, step);
          else process.waits = step;
        }
        this.checkMemory();
        if (this.first?.status !== undefined) return;
        if (!this.spend()) {
          this.pause(now);
          return;
        }
      }
    }
    this.busySteps = 0;
  }

  /** Whoever was started from outside has changed something, by itself or by a child. */
  private trace(process: Process): void {
    let root = process;
    for (let above = this.processes.get(root.parent); above !== undefined; above = this.processes.get(root.parent))
      root = above;
    root.leavesTrace = true;
  }

  /** Whether anything is other than it would be without this process, which has ended. */
  hasTraceOf(root: Process): boolean {
    if (root.leavesTrace === true) return true;
    for (const process of this.processes.values()) {
      if (process.status !== undefined || !isFromOutside(process)) continue;
      let top = process;
      for (let above = this.processes.get(top.parent); above !== undefined; above = this.processes.get(top.parent))
        top = above;
      // Of one whose parents are gone nobody knows any more whose it was.
      if (top === root || top.parent !== 0) return true;
    }
    return false;
  }

  /** One step of work. False: the share is used up, or the turn is over, and the program has to come back later. */
  spend(): boolean {
    this.stepsLeft--;
    this.busySteps++;
    return this.stepsLeft > 0 && !this.world.isTurnOver;
  }

  /** When the box wants to be run again; undefined: only when something happens to it. */
  nextWakeMicros(): Micros | undefined {
    let next: Micros | undefined;
    for (const { status, waits } of this.processes.values()) {
      if (status !== undefined) continue;
      const at =
        waits === "run"
          ? this.pausedUntilMicros
          : typeof waits === "object"
            ? Math.max(waits.until, this.pausedUntilMicros)
            : undefined;
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  signal(process: Process, signal: SignalName): void {
    if (process.status !== undefined) return;
    this.changes++;
    if (signal === "KILL") {
      this.end(process, statusOf(signal));
      return;
    }
    const effect = process.program.signal(signal, process, this);
    if (effect === "taken") process.waits = "run";
    // The first process of a namespace only gets the signals that it takes.
    if (effect === "default" && process.pid !== 1 && !isHarmless(signal)) this.end(process, statusOf(signal));
    this.world.wake();
  }

  /** Ends a process, and with the first one all of them. */
  end(process: Process, status: number): void {
    if (process.status !== undefined) return;
    process.status = status;
    releaseStream(process.stdin, false);
    releaseStream(process.stdout, true);
    releaseStream(process.stderr, true);
    const told = this.ended.get(process);
    this.ended.delete(process);
    if (process.pid === 1) for (const other of [...this.processes.values()]) this.end(other, statusOf("KILL"));
    told?.();
    if (process.pid === 1) return;
    for (const child of this.processes.values()) {
      if (child.parent === process.pid && child.status !== undefined) this.processes.delete(child.pid);
    }
    const parent = this.processes.get(process.parent);
    if (parent === undefined || parent.status !== undefined) this.processes.delete(process.pid);
    else if (parent.waits === "child" || typeof parent.waits === "object") parent.waits = "run";
  }

  /** The parent has heard of its end. */
  reap(process: Process): void {
    this.processes.delete(process.pid);
  }

  /** Writes as the process; a failure is told on its standard error by whoever calls. */
  write(process: Process, stream: Stream, piece: Piece): string | undefined {
    if (typeof piece === "string") this.stepsLeft -= Math.floor(piece.length / BYTES_IN_STEP);
    if (stream.is === "file" || stream.is === "log") this.changes++;
    const failure = writeStream(stream, piece, this.world.nowMicros(), (number, logged) => {
      if (typeof logged === "number") this.stepsLeft -= Math.floor(LOGGED_ZEROS_MAX / BYTES_IN_STEP);
      this.world.log(number, logged);
    });
    if (failure === "Broken pipe") this.end(process, statusOf("PIPE"));
    return failure;
  }

  private isReady(process: Process, now: Micros): boolean {
    const { waits } = process;
    if (waits === "run") return true;
    if (waits === "read") {
      const { stdin } = process;
      return stdin.is !== "pipe" || stdin.pipe.pieces.length > 0 || stdin.pipe.writers === 0;
    }
    if (waits === "write") return !pipeIsFull(process.stdout);
    return typeof waits === "object" && waits.until <= now;
  }

  private pause(now: Micros): void {
    // Whatever is left when the turn is over is for the next run.
    const stepsMade = STEPS_MAX - Math.max(0, this.stepsLeft);
    const pauseMicros = this.busySteps < BUSY_STEPS ? stepsMade * STEP_MICROS : 100_000;
    this.cpuMicros += pauseMicros;
    this.pausedUntilMicros = now + pauseMicros;
  }
}
