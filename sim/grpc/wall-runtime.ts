/** A simulated container runtime in real time, on a unix socket, with containers that outlive the process. */
import { lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { LoopShare } from "../kernel/loop-share.ts";
import { PacedSessions } from "../kernel/paced-sessions.ts";
import { WallDriver, type WallPorts } from "../kernel/wall-driver.ts";
import type { RuntimeState } from "../runtime/runtime-state.ts";
import { serveCri } from "./cri-server.ts";
import type { Configurations } from "./kept-configurations.ts";
import { KeptRuntime, type KeptRuntimeOptions } from "./kept-runtime.ts";

export interface WallRuntimeOptions extends KeptRuntimeOptions {
  /** A path on this machine. */
  readonly socketPath: string;
  readonly ports: WallPorts;
  readonly onError: (error: unknown) => void;
}

/** A call takes the library a tenth of a millisecond, of which a turn of the loop has time for a hundred. */
const piecesMax = 500;

/** Another process listens on the socket. */
export class SocketTaken extends Error {}

export interface WallRuntime {
  /** Calls that were played again, and containers that are as they were. */
  readonly restored: number;
  readonly state: RuntimeState;
  /** Runs what comes from outside as an event of the machine. */
  turn(work: () => void): void;
  close(): void;
}

export async function startWallRuntime(options: WallRuntimeOptions): Promise<WallRuntime> {
  await freeSocket(options.socketPath);
  const kept = new KeptRuntime(options);
  const { kernel, process, runtime } = kept;
  const driver = new WallDriver(kernel, options.ports, { onError: options.onError });
  const server = await serveCri({
    address: `unix://${options.socketPath}`,
    driver,
    share: new LoopShare(options.ports),
    sessions: new PacedSessions(options.ports, piecesMax),
    process,
    runtime: kept.port,
    configurations: configurationsOf(() => runtime.state),
    onControl: (control) => kept.control(control),
  });
  driver.enter(process, () => {}); // what was played again may wait for a moment of its own
  return {
    restored: kept.restored,
    state: runtime.state,
    turn: (work) => driver.enter(process, work),
    close: () => {
      kept.close();
      driver.stop();
      server.close();
      rmSync(options.socketPath, { force: true });
    },
  };
}

/** Of the state that there is now: a restart makes another. */
const configurationsOf = (state: () => RuntimeState): Configurations => ({
  count: () => state().sandboxes.size + state().containers.size,
  *all() {
    const { sandboxes, containers } = state();
    for (const records of [sandboxes, containers]) for (const { config } of records.values()) yield config;
  },
});

/** Takes away the socket of a process that was killed; one that answers stays, and so does whatever is no socket. */
async function freeSocket(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isSocket()) throw new SocketTaken(`${path} is there, and is no socket`);
  const refusal = await new Promise<string | undefined>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(undefined);
    });
    probe.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? "unknown"));
  });
  if (refusal === undefined) throw new SocketTaken(`another process listens on ${path}`);
  // Only this says that nobody listens any more.
  if (refusal !== "ECONNREFUSED")
    throw new SocketTaken(`${path} cannot be asked whether somebody listens (${refusal})`);
  rmSync(path, { force: true });
}
