/** `touchstone runtime`: a simulated container runtime on a unix socket until SIGINT or SIGTERM; and changes of one that runs. */
import process from "node:process";
import { wallPorts } from "../../sim/http/wall.ts";
import { setRuntime } from "../../sim/grpc/control-client.ts";
import { OtherState } from "../../sim/grpc/kept-runtime.ts";
import { SocketTaken, startWallRuntime } from "../../sim/grpc/wall-runtime.ts";
import { StreamServer } from "../../sim/streams/stream-server.ts";
import { paceSocket } from "../../sim/http/paced-socket.ts";
import type { Control } from "../../sim/runtime/control.ts";
import { machineDefaults } from "../../sim/runtime/machine.ts";
import type { RuntimeOptions } from "../../sim/runtime/runtime-state.ts";
import type { RuntimeCommandOptions } from "../command-line.ts";
import { amountOf, someOf } from "../flags/amounts.ts";
import { parseImages } from "../flags/images-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { usageText } from "../flags/usage-trace.ts";
import { fileText, writtenMebibytesMax } from "../flags/file-text.ts";
import { exceptionText } from "../output/exceptions.ts";
import { goOnAfterUncaught } from "../last-resort.ts";
import { logText } from "../output/line-log.ts";
import { interrupted } from "../output/interrupt.ts";

type ServeRuntime = Extract<RuntimeCommandOptions, { action: "serve" }>;
type SetRuntime = Extract<RuntimeCommandOptions, { action: "set" }>;

export function runtime(options: RuntimeCommandOptions): Promise<ExitCode> {
  return options.action === "set" ? set(options) : serve(options);
}

async function serve(options: ServeRuntime): Promise<ExitCode> {
  requireListen(options.listen, "", "");
  const socketPath = socketPathOf(options.listen);
  const statePath = options.state ?? `${socketPath}.state`;
  const streams = await StreamServer.listen((socket) => paceSocket(socket));
  const running = await started(options, socketPath, statePath, streams).catch((error: unknown) => {
    streams.close();
    throw error;
  });
  streams.serve(running);
  goOnAfterUncaught(logException);
  const interruption = interrupted(); // before the line that says it is ready
  if (running.restored > 0) process.stderr.write(`restored from ${statePath}\n`);
  const address = `unix://${socketPath}`;
  process.stdout.write(options.json ? `${JSON.stringify({ serving: address })}\n` : `serving on ${address}\n`);
  await interruption;
  running.close();
  streams.close();
  return exitCodes.good;
}

async function started(options: ServeRuntime, socketPath: string, statePath: string, streams: StreamServer) {
  try {
    return await startWallRuntime({
      socketPath,
      statePath,
      seed: String(options.seed),
      name: options.name,
      runtime: runtimeOptions(options),
      streams,
      ports: wallPorts,
      nowUnixMillis: Date.now(),
      onError: logException,
    });
  } catch (error) {
    if (error instanceof SocketTaken)
      throw new UsageError(`--listen ${options.listen}: ${error.message}. Choose another path.`);
    if (error instanceof OtherState) {
      throw new UsageError(
        `--state ${statePath}: ${error.message}. Start with the same flags, remove the file to begin anew, or name another.`,
      );
    }
    if (error instanceof SyntaxError)
      throw new UsageError(`--state ${statePath}: it is no state of a runtime (${error.message}). Name another file.`);
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (["EACCES", "ENOENT", "ENOTDIR", "EISDIR", "EROFS"].includes(code)) {
      throw new UsageError(
        `--listen ${options.listen}, --state ${statePath}: ${message}. Name places that this user may write to.`,
      );
    }
    throw error;
  }
}

function runtimeOptions(options: ServeRuntime): RuntimeOptions {
  const { images: file } = options;
  const images = file === undefined ? [] : parseImages(fileText(file, writtenMebibytesMax), file);
  const imageDisk =
    options.imageDisk === undefined
      ? undefined
      : { bytes: someOf("--image-disk", options.imageDisk), inodes: someOf("--image-inodes", options.imageInodes) };
  return {
    images,
    openRegistry: !options.closedRegistry,
    ...(options.runtimeHandlers.length === 0 ? {} : { runtimeHandlers: options.runtimeHandlers }),
    machine: {
      name: options.name,
      milliCpu: someOf("--cpu", options.cpu, -3),
      memoryBytes: someOf("--memory", options.memory),
      swapBytes: amountOf("--swap", options.swap),
      pids: someOf("--pids", options.pids),
      ...(options.cgroupVersion === 2 ? {} : { cgroupVersion: options.cgroupVersion }),
      ...(options.numaNodes === 1 ? {} : { numaNodes: options.numaNodes }),
      ...(options.sockets === 0 ? {} : { sockets: options.sockets }),
      ...(options.threadsPerCore === 1 ? {} : { threadsPerCore: options.threadsPerCore }),
      ...(options.tunables.length === 0 ? {} : { tunables: tunablesOf(options.tunables) }),
      rootDisk: { bytes: someOf("--disk", options.disk), inodes: someOf("--inodes", options.inodes) },
      imageDisk,
    },
  };
}

/** Beside those that a machine has as agents want them. */
function tunablesOf(texts: readonly string[]): Readonly<Record<string, string>> {
  const given = texts.map((text) => {
    const [, name = "", value = ""] = /^([a-z0-9_.-]+)=(\S+)$/.exec(text) ?? [];
    if (name === "") throw new UsageError(`--tunable ${text}: write NAME=VALUE, such as kernel.panic=0.`);
    return [name, value] as const;
  });
  return { ...machineDefaults.tunables, ...Object.fromEntries(given) };
}

async function set(options: SetRuntime): Promise<ExitCode> {
  requireListen(options.listen, "set ", " --memory 12Gi");
  requireChange(options);
  const control = controlOf(options);
  const problem = await setRuntime(`unix://${socketPathOf(options.listen)}`, JSON.stringify(control));
  if (problem === undefined) return exitCodes.good;
  if (!problem.unreachable) throw new UsageError(problem.text);
  throw new UsageError(
    `--listen ${options.listen}: no runtime answers there. Start one with: touchstone runtime --listen ${options.listen}`,
  );
}

function requireChange({
  listen: _listen,
  pod: _pod,
  command: _command,
  action: _action,
  ...changes
}: SetRuntime): void {
  const given = Object.values(changes).filter((each) => each !== undefined && each !== false);
  if (given.some((each) => !Array.isArray(each) || each.length > 0)) return;
  throw new UsageError(
    "runtime set: nothing is to be changed. Say what, such as --memory 12Gi or --not network-ready.",
  );
}

function controlOf(options: SetRuntime): Control {
  const { pod } = options;
  const { memory, cpu, pids, disk, inodes, volumes, imageDisk } = usagesOf(options);
  const said = (what: "runtime-ready" | "network-ready" | "figures"): boolean | undefined =>
    options.not.includes(what) ? false : options.again.includes(what) ? true : undefined;
  const conditions = { runtimeReady: said("runtime-ready"), networkReady: said("network-ready") };
  const figures = said("figures");
  if (options.figures !== undefined && figures !== undefined)
    throw new UsageError(
      "--figures says what figures do, and --not or --again whether they are as they are: give one.",
    );
  const lie = figures === true || options.clear ? null : options.figures;
  const isWell = options.again.includes("calls");
  if (isWell && options.calls.length > 0)
    throw new UsageError("--call and --again calls say the opposite of each other: give one of them.");
  const calls = isWell ? { calls: null } : options.calls.length > 0 ? { calls: [...options.calls] } : {};
  if (pod === undefined) {
    if (volumes !== undefined || options.clear || figures === false) {
      throw new UsageError("--volumes, --clear and --not figures are a pod's: add --pod NAMESPACE/NAME.");
    }
    return {
      ...(lie === undefined ? {} : { figures: { machine: lie } }),
      machine: { memory, cpu, pids, rootBytes: disk, rootInodes: inodes, imageBytes: imageDisk },
      conditions,
      ...calls,
    };
  }
  if (!/^[^/]+\/[^/]+(?:\/[^/]+)?$/.test(pod))
    throw new UsageError(`--pod ${pod}: write NAMESPACE/NAME, or NAMESPACE/NAME/CONTAINER for one container.`);
  if (imageDisk !== undefined) throw new UsageError("--image-disk is the machine's: leave --pod out.");
  const isOne = pod.split("/").length === 3;
  if (isOne && options.figures !== undefined)
    throw new UsageError("--figures is of a whole pod or of the machine: write --pod NAMESPACE/NAME.");
  const figuresOf = lie === undefined || isOne ? {} : { figures: { pods: { [pod]: lie } } };
  if (options.clear) return { pods: { [pod]: null }, conditions, ...calls, ...figuresOf };
  const usage = { memory, cpu, pids, layerBytes: disk, layerInodes: inodes, volumeBytes: volumes };
  return {
    pods: { [pod]: { ...usage, ...(figures === undefined ? {} : { hidden: !figures }) } },
    conditions,
    ...calls,
    ...figuresOf,
  };
}

const usageFlags = {
  memory: "--memory",
  cpu: "--cpu",
  pids: "--pids",
  disk: "--disk",
  inodes: "--inodes",
  volumes: "--volumes",
  imageDisk: "--image-disk",
} as const;

/** With files of usage read. */
function usagesOf(options: SetRuntime): { readonly [K in keyof typeof usageFlags]?: string } {
  const given = Object.entries(usageFlags).flatMap(([name, flag]) => {
    const text = options[name as keyof typeof usageFlags];
    return text === undefined ? [] : [[name, usageText(flag, text)]];
  });
  return Object.fromEntries(given);
}

/** `example`: what stands before and behind the flag in a command that would do. */
function requireListen(listen: string | undefined, before: string, behind: string): asserts listen is string {
  if (listen === undefined) {
    throw new UsageError(
      `runtime ${before}needs --listen, the socket of the runtime: touchstone runtime ${before}--listen unix:///tmp/runtime.sock${behind}`,
    );
  }
}

function socketPathOf(listen: string): string {
  const path = /^unix:(?:\/\/)?(\/[^/].*)$/.exec(listen)?.[1];
  if (path === undefined) throw new UsageError(`--listen ${listen}: write unix:///path/of/the.sock.`);
  if (Buffer.byteLength(path) > 107)
    throw new UsageError(`--listen ${listen}: a socket's path has at most 107 bytes. Choose a shorter one.`);
  return path;
}

function logException(error: unknown): void {
  logText(`touchstone: exception: ${exceptionText(error)}\n`);
}
