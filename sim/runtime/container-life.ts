/** A container from its start to its end: its processes are stepped, its output is logged, its end is told. */
import type { ContainerEventType } from "../../wire/cri-messages.ts";
import type { Micros } from "../kernel/types.ts";
import { isOwnProgram, missingCommand, shellCommands, startCommand } from "./commands.ts";
import { ContainerFiles } from "./container-files.ts";
import { containerStatus, sandboxStatus } from "./container-messages.ts";
import { flushLog, writeLog } from "./container-log.ts";
import { dumpOf, type FileDump } from "./file-dump.ts";
import { type Piece, toByteText } from "./file-tree.ts";
import { connect } from "./network.ts";
import { Box, type BoxWorld, type Connection, type Program } from "./processes/box.ts";
import { containerEnvironment } from "./processes/environment.ts";
import { Service } from "./processes/programs.ts";
import { type SignalName, signalNamed } from "./processes/signals.ts";
import { newPipe } from "./processes/streams.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { limitOf, nextAboveLimit } from "./usage-of.ts";

/** Starts a created container. What went wrong, in the runtime's words; it has then exited with 128. */
export function startContainer(state: RuntimeState, container: ContainerRecord): string | undefined {
  const { config, image, sandbox } = container;
  const isPlain = image.row.shell ?? true;
  const programs: ReadonlySet<string> = isPlain ? shellCommands : noPrograms;
  container.files ??= newFiles(state, container, programs);
  const box = new Box(new ContainerWorld(state, container), container.files, programs);
  const own = config.command ?? [];
  const argv = [...(own.length > 0 ? own : (image.row.command ?? [])), ...(config.args ?? [])].map(toByteText);
  const defaults = new Map([
    ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["HOSTNAME", hostnameOf(sandbox)],
    ["HOME", "/root"],
  ]);
  const environment = containerEnvironment(defaults, config.envs);
  let program: Program;
  if (argv.length === 0 || (!isPlain && image.row.command === undefined)) {
    container.isService = true;
    program = serviceOf(state, container);
  } else {
    const missing = missingCommand(argv, environment, box);
    if (missing !== undefined) {
      const text = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${missing}: unknown`;
      finish(state, container, 128, "StartError", text);
      return text;
    }
    container.isService = isOwnProgram(argv, box);
    const started = startCommand(argv, box);
    program =
      "error" in started
        ? new Service({ ...ending, name: argv[0] as string, says: started.error, status: started.status })
        : started;
  }
  // Somebody who attaches may write there; until then it waits for them.
  container.stdin = config.stdin === true ? { ...newPipe(), writers: 1, isTerminal: config.tty === true } : undefined;
  box.spawn(0, {
    program,
    environment,
    directory: config.workingDir === undefined || config.workingDir === "" ? "/" : config.workingDir,
    stdin: container.stdin === undefined ? { is: "null" } : { is: "pipe", pipe: container.stdin },
    stdout: { is: "log", number: 1 },
    stderr: { is: "log", number: 2 },
  });
  if (state.isKept && !container.isService) container.began = dumpsOfMounts(state, container);
  container.box = box;
  container.state = "CONTAINER_RUNNING";
  container.startedMicros = state.nowMicros;
  state.changed(container);
  tell(state, "CONTAINER_STARTED_EVENT", container, sandbox);
  runContainer(state, container);
  return undefined;
}

/** Of a mount with more files than this nothing is kept: what was there is then taken to have been what is there. */
const KEPT_FILES_MAX = 1000;

function dumpsOfMounts(state: RuntimeState, { config }: ContainerRecord): readonly FileDump[] {
  const dumps: FileDump[] = [];
  for (const { hostPath = "" } of config.mounts ?? []) {
    const dump = dumpOf(state.machine.host, hostPath, KEPT_FILES_MAX);
    if (dump !== undefined) dumps.push(dump);
  }
  return dumps;
}

const noPrograms: ReadonlySet<string> = new Set();
const ending = { afterMicros: 0, stop: undefined, memoryBytes: 0 };

export function newFiles(
  state: RuntimeState,
  container: ContainerRecord,
  programs: ReadonlySet<string>,
): ContainerFiles {
  const { machine } = state;
  return new ContainerFiles({
    host: machine.host,
    mounts: container.config.mounts ?? [],
    makeLayer: () => machine.newTree(machine.imageDisk),
    hostname: hostnameOf(container.sandbox),
    address: container.sandbox.ip,
    readOnlyRoot: container.config.linux?.securityContext?.readonlyRootfs ?? false,
    programs,
  });
}

function serviceOf(state: RuntimeState, container: ContainerRecord): Program {
  const { image, config, sandbox } = container;
  const prng = state.prngOf(container);
  const runs = image.row.runs ?? {};
  const stopMicros = runs.stopMicros === undefined ? 100_000 : runs.stopMicros;
  const life = runs.afterMicros ?? state.options.lifeOf?.(sandbox.config.metadata?.uid ?? "");
  const names: Readonly<Record<string, string | undefined>> = {
    container: config.metadata?.name,
    image: config.image?.userSpecifiedImage || config.image?.image,
  };
  return new Service({
    name: config.command?.[0] ?? image.row.command?.[0] ?? "serve",
    afterMicros: life === undefined ? undefined : state.draw(life, prng),
    status: runs.status ?? 0,
    stop: stopMicros === null ? undefined : { micros: state.draw(stopMicros, prng), status: runs.stopStatus ?? 0 },
    memoryBytes: runs.memory === undefined ? SERVICE_BYTES : 0,
    says: runs.says?.replace(/\{(container|image)\}/g, (_, what: string) => names[what] ?? ""),
  });
}

const SERVICE_BYTES = 4 * 1024 * 1024;

const hostnameOf = (sandbox: SandboxRecord): string =>
  sandbox.config.hostname || sandbox.config.metadata?.name || sandbox.id.slice(0, 12);

/** What the processes of one container reach. Containers are many: it holds no closure of its own. */
class ContainerWorld implements BoxWorld {
  private readonly state: RuntimeState;
  private readonly container: ContainerRecord;

  constructor(state: RuntimeState, container: ContainerRecord) {
    this.state = state;
    this.container = container;
  }

  get epochUnixMillis(): number {
    return this.state.process.clock.epochUnixMillis;
  }

  get hostname(): string {
    return hostnameOf(this.container.sandbox);
  }

  /** Resources may be updated while it runs. */
  get memoryMaxBytes(): number {
    return limitOf(this.container) ?? this.state.machine.options.memoryBytes;
  }

  get diskBytesPerSecond(): number {
    return this.state.machine.options.diskBytesPerSecond;
  }

  nowMicros(): Micros {
    return this.state.nowMicros;
  }

  get isTurnOver(): boolean {
    return this.state.process.isTurnOver;
  }

  random(): number {
    if (this.container.box !== undefined) this.container.box.changes++;
    return this.state.prngOf(this.container).uint32();
  }

  log(stream: 1 | 2, piece: Piece): void {
    if (!this.state.isRestoring) writeLog(this.state, this.container, stream, piece);
    for (const watcher of this.container.watchers ?? []) watcher(stream, piece);
  }

  connect(...[host, port, http]: Parameters<BoxWorld["connect"]>): Connection {
    const ip = host === "localhost" ? this.container.sandbox.ip || "127.0.0.1" : host;
    return connect(this.state, ip, port, http);
  }

  wake(): void {
    if (this.container.box !== undefined) this.state.schedule(this.container, this.state.nowMicros);
  }

  get hasOwnPrograms(): boolean {
    return this.container.image.row.ownPrograms === true;
  }

  ownProgram(): Program {
    return serviceOf(this.state, this.container);
  }
}

/** Steps a container that runs, ends it when its first process has ended or its memory is over, and says when to come again. */
export function runContainer(state: RuntimeState, container: ContainerRecord): void {
  const { box } = container;
  if (box === undefined) return;
  box.run();
  state.moved(container);
  const first = box.first;
  if (first?.status === undefined) {
    const above = nextAboveLimit(state, container);
    if (above > state.nowMicros) {
      state.schedule(container, Math.min(box.nextWakeMicros() ?? Infinity, above));
      return;
    }
    box.outOfMemory = true;
    if (first !== undefined) box.signal(first, "KILL");
  }
  const status = box.first?.status ?? 137;
  const reason = box.outOfMemory ? "OOMKilled" : status === 0 ? "Completed" : "Error";
  finish(state, container, status, reason, "");
}

function finish(
  state: RuntimeState,
  container: ContainerRecord,
  exitCode: number,
  reason: string,
  message: string,
): void {
  flushLog(state, container);
  container.box = undefined;
  container.stdin = undefined;
  container.state = "CONTAINER_EXITED";
  container.finishedMicros = state.nowMicros;
  container.exitCode = exitCode;
  container.reason = reason;
  container.message = message;
  state.schedule(container, Infinity);
  state.changed(container);
  tell(state, "CONTAINER_STOPPED_EVENT", container, container.sandbox);
  const { waiters } = container;
  container.waiters = [];
  for (const waiter of waiters) waiter();
}

/** Asks a container to stop, and kills it when it has not within `graceMicros`; `done` once it has ended. */
export function stopContainer(
  state: RuntimeState,
  container: ContainerRecord,
  graceMicros: Micros,
  done: () => void,
): void {
  const first = container.box?.first;
  if (container.box === undefined || first === undefined) {
    done();
    return;
  }
  container.waiters.push(done);
  if (graceMicros > 0) {
    container.box.signal(first, stopSignalOf(container));
    const { box } = container;
    state.process.clock.after(graceMicros, () => {
      if (container.box === box) killContainer(state, container);
    });
    state.schedule(container, state.nowMicros);
  } else killContainer(state, container);
}

/** At once, whatever it does. */
export function killContainer(state: RuntimeState, container: ContainerRecord): void {
  const first = container.box?.first;
  if (first === undefined) return;
  container.box?.signal(first, "KILL");
  runContainer(state, container);
}

function stopSignalOf({ config }: ContainerRecord): SignalName {
  const named = config.stopSignal;
  return (named === undefined || named === "RUNTIME_DEFAULT" ? undefined : signalNamed(named)) ?? "TERM";
}

/** Tells whoever follows the events of containers. */
export function tell(
  state: RuntimeState,
  type: ContainerEventType,
  container: ContainerRecord | undefined,
  sandbox: SandboxRecord,
): void {
  if (state.sinks.size === 0) return;
  const message = {
    containerId: container?.id ?? sandbox.id,
    containerEventType: type,
    createdAt: state.unixNanos(state.nowMicros),
    podSandboxStatus: sandboxStatus(state, sandbox),
    containersStatuses: sandbox.containers.map((each) => containerStatus(state, each)),
  };
  for (const entry of state.sinks) {
    entry.reader.clock.after(0, () => {
      if (state.sinks.has(entry)) entry.sink.event(message);
    });
  }
}
