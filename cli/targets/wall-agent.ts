/** A node agent in real time: what `touchstone agent` runs. */
import { Kernel } from "../../sim/kernel/kernel.ts";
import { WallDriver } from "../../sim/kernel/wall-driver.ts";
import type { EvictionRules } from "../../wire/eviction-thresholds.ts";
import { Agent } from "../../sim/agent/agent.ts";
import { AgentNode } from "../../sim/agent/node/node-side.ts";
import type { AgentOptions } from "../../sim/agent/ports.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { GrpcRuntime } from "../../sim/grpc/cri-client.ts";
import { agentFaultsOn } from "../../sim/planted/agent-faults.ts";
import { machineFiles, urlFetcher } from "../../sim/http/manifests.ts";
import { remoteServer, type RemoteServerOptions } from "../../sim/http/remote-server.ts";
import { wallPorts } from "../../sim/http/wall.ts";

export interface WallAgentOptions {
  readonly profile: Profile;
  readonly options: AgentOptions;
  readonly rules: EvictionRules;
  /** Undefined: standalone, without an API server. */
  readonly server: Omit<RemoteServerOptions, "dialect" | "turn"> | undefined;
  /** Sent with every request: who the agent is. */
  readonly headers: Readonly<Record<string, string>>;
  /** `unix:///path` or `HOST:PORT`. */
  readonly runtimeEndpoint: string;
  readonly agentVersion: string;
  /** A machine with swap is refused. */
  readonly failSwapOn: boolean;
  /** Of everything drawn: agents that begin together do not go in step. */
  readonly seed: string;
  readonly warn: (line: string) => void;
  /** The agent cannot go on as it is configured. */
  readonly fail: (why: string) => void;
  /** An event of the agent threw: our bug. */
  readonly onError: (error: unknown) => void;
}

/** Begins; containers go on when it is closed. */
export function startWallAgent(given: WallAgentOptions): { close(): void } {
  const {
    failSwapOn,
    profile,
    options,
    rules,
    server,
    headers,
    runtimeEndpoint,
    agentVersion,
    seed,
    warn,
    fail,
    onError,
  } = given;
  const kernel = new Kernel({ seed, epochUnixMillis: Date.now() });
  const driver = new WallDriver(kernel, wallPorts, { onError });
  const process = kernel.process(`nodeagent ${options.nodeName}`);
  const turn = (work: () => void): void => {
    if (process.alive) driver.enter(process, work);
  };
  const runtime = new GrpcRuntime(runtimeEndpoint, driver, process);
  const { dialect } = profile;
  const remote = server === undefined ? undefined : remoteServer({ ...server, dialect, turn });
  driver.enter(process, () => {
    const agent = new Agent(
      {
        process,
        dialect,
        server: remote,
        headers,
        runtime,
        readFiles: machineFiles((work) => process.clock.after(0, work)),
        fetchUrl: urlFetcher(turn),
        warn,
        nodeSide: (context) =>
          new AgentNode({
            context,
            runtime,
            rules,
            faults: agentFaultsOn(),
            agentVersion,
            negativeGraceIsPods: profile.name === "svc",
            failSwapOn,
            fail,
          }),
      },
      options,
    );
    agent.start();
  });
  return {
    close() {
      driver.stop();
      remote?.close();
      runtime.close();
    },
  };
}
