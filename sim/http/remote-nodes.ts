/**
 * Nodes of the suite in a cluster at a URL: agents of this process, on real time, that the target knows as it knows any
 * other. Nothing listens for the target: it reaches neither their logs nor their figures.
 */
import type { NodeHost } from "../../wire/node-host.ts";
import { ProgrammedHost } from "../cluster/programmed-host.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { WallDriver } from "../kernel/wall-driver.ts";
import { agentBugsOn } from "../planted/agent-bugs.ts";
import { remoteServer, type RemoteServer, type RemoteServerOptions } from "./remote-server.ts";
import { wallPorts } from "./wall.ts";

export interface RemoteNodesOptions extends Omit<RemoteServerOptions, "turn" | "usesProtobuf"> {
  readonly seed: string;
  /** An event of an agent threw: our bug. */
  readonly onError: (error: unknown) => void;
}

/** Objects go as JSON, which every target speaks: encodings are others' matter. */
export function remoteNodes({ seed, onError, ...reached }: RemoteNodesOptions): NodeHost {
  const { dialect } = reached;
  // The suite's own clock, to which what the agents looked at is held.
  const kernel = new Kernel({ seed, epochUnixMillis: Math.round(performance.timeOrigin + performance.now()) });
  const driver = new WallDriver(kernel, wallPorts, { onError });
  const servers = new Map<Process, RemoteServer>();
  const serverOf = (process: Process): RemoteServer => {
    const known = servers.get(process);
    if (known !== undefined) return known;
    const turn = (work: () => void): void => {
      if (process.alive) driver.enter(process, work);
    };
    const made = remoteServer({ ...reached, usesProtobuf: false, turn });
    servers.set(process, made);
    process.onCrash(() => {
      servers.delete(process);
      made.close();
    });
    return made;
  };
  const process = kernel.process("nodes of the suite");
  const host = new ProgrammedHost({
    kernel,
    enter: (entered, work) => driver.enter(entered, work),
    process,
    server: serverOf,
    headers: {},
    dialect,
    bugs: agentBugsOn(),
  });
  return {
    join: (node) => host.join(node),
    async close() {
      await host.close();
      driver.stop();
      serverOf(process).close();
    },
  };
}
