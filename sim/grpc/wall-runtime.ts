/** A simulated container runtime in real time, on a unix socket, with containers that outlive the process. */
import { rmSync } from "node:fs";
import { connect } from "node:net";
import type { CriRequest } from "../../wire/cri.ts";
import { LoopShare } from "../kernel/loop-share.ts";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver, type WallPorts } from "../kernel/wall-driver.ts";
import { applyControl } from "../runtime/control.ts";
import type { RuntimeOptions, RuntimeState, StreamAddresses } from "../runtime/runtime-state.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { serveCri } from "./cri-server.ts";
import { Journal, KeptCalls } from "./journal.ts";

export interface WallRuntimeOptions {
  /** A path on this machine. */
  readonly socketPath: string;
  readonly statePath: string;
  readonly seed: string;
  readonly name: string;
  readonly runtime: RuntimeOptions;
  /** Where commands and ports are streamed; without it they are unimplemented. */
  readonly streams?: StreamAddresses;
  readonly ports: WallPorts;
  readonly nowUnixMillis: number;
  readonly onError: (error: unknown) => void;
}

/** The state was made from other options: its containers would not come out as they were. */
export class OtherState extends Error {}

/** Another process listens on the socket. */
export class SocketTaken extends Error {}

export interface WallRuntime {
  /** Calls that were played again. */
  readonly restored: number;
  readonly state: RuntimeState;
  /** Runs what comes from outside as an event of the machine. */
  turn(work: () => void): void;
  close(): void;
}

export async function startWallRuntime(options: WallRuntimeOptions): Promise<WallRuntime> {
  await freeSocket(options.socketPath);
  const { runtime: runtimeOptions, seed, name } = options;
  const head = {
    version: 1,
    seed,
    epochUnixMillis: options.nowUnixMillis,
    options: { name, runtime: runtimeOptions },
  } as const;
  const { journal, entries } = Journal.open(options.statePath, head);
  const made = journal.head;
  if (made.seed !== seed || JSON.stringify(made.options) !== JSON.stringify(head.options)) {
    throw new OtherState("it was made with other options");
  }
  const kernel = new Kernel({ seed, epochUnixMillis: made.epochUnixMillis });
  const process = kernel.process(name);
  const runtime = new SimulatedRuntime(process, {
    ...runtimeOptions,
    ...(options.streams === undefined ? {} : { streams: options.streams }),
  });
  const calls = new KeptCalls(runtime);
  for (const entry of entries) {
    kernel.run(Math.max(kernel.nowMicros(), entry.atMicros));
    kernel.enter(process, () => {
      if ("control" in entry) applyControl(runtime, entry.control);
      else calls.replay(entry);
    });
  }
  kernel.run(Math.max(kernel.nowMicros(), (options.nowUnixMillis - made.epochUnixMillis) * 1000));
  let isClosed = false;
  const write = (
    what: { readonly call: CriRequest } | { readonly gone: number } | { readonly control: string },
  ): void => {
    if (!isClosed) journal.append({ atMicros: kernel.nowMicros(), ...what });
  };
  kernel.enter(process, () => calls.abandon((gone) => write({ gone })));
  const driver = new WallDriver(kernel, options.ports, { onError: options.onError });
  const server = await serveCri({
    address: `unix://${options.socketPath}`,
    driver,
    share: new LoopShare(options.ports),
    process,
    runtime: calls.writing(write),
    onControl: (control) => {
      applyControl(runtime, control);
      write({ control });
    },
  });
  driver.enter(process, () => {}); // what was played again may wait for a moment of its own
  return {
    restored: entries.filter((entry) => !("gone" in entry)).length,
    state: runtime.state,
    turn: (work) => driver.enter(process, work),
    close: () => {
      isClosed = true;
      driver.stop();
      server.close();
      rmSync(options.socketPath, { force: true });
    },
  };
}

/** Takes away the socket of a process that was killed; one that answers stays. */
async function freeSocket(path: string): Promise<void> {
  const taken = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
  if (taken) throw new SocketTaken(`another process listens on ${path}`);
  rmSync(path, { force: true });
}
