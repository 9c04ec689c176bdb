/**
 * A node of known usage: an agent and its simulated runtime, each a process of its own, whose machine and pods use what
 * somebody says. It is configured as any agent is, and answers for itself what an agent is asked through its server.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import type { NodeDeclaration, UsageReading } from "../../wire/node-host.ts";
import { Agent } from "../agent/agent.ts";
import { AgentListener, RequestCounts } from "../agent/listener/agent-listener.ts";
import { AgentNode } from "../agent/node/node-side.ts";
import { logsWith } from "../agent/planted/log-bugs.ts";
import { agentOptionsOf } from "../agent/options-of-settings.ts";
import type { AgentOptions } from "../agent/ports.ts";
import { configzOf } from "../configuration/agent/configz.ts";
import { agentVersion } from "../configuration/agent/flag-values.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import type { AgentBugs } from "../planted/agent-bugs.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { settingsForEviction } from "./eviction-flags.ts";
import { ProgrammedUsage, type Taken } from "./programmed-usage.ts";

export interface ProgrammedNodeOptions {
  readonly kernel: Kernel;
  /** As the agent reaches it, and how the agent says who it is. */
  readonly server: (agent: Process) => ApiHandler;
  readonly headers: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  readonly bugs: AgentBugs;
  readonly declaration: NodeDeclaration;
  /** Of the node; nobody else has it. */
  readonly address: string;
}

export class ProgrammedNode {
  readonly usage: ProgrammedUsage;
  private readonly options: ProgrammedNodeOptions;
  private readonly settings: AgentSettings;
  private readonly machine: Process;
  private process: Process;
  private readonly runtime: SimulatedRuntime;
  private side: AgentNode | undefined;
  private listener: ApiHandler | undefined;
  private starts = 0;
  private readonly looks: (Taken & { readonly atMicros: number })[] = [];

  /** Throws for thresholds that no agent takes. */
  constructor(options: ProgrammedNodeOptions) {
    const { kernel, declaration, dialect } = options;
    this.options = options;
    this.settings = settingsForEviction(declaration.eviction, dialect);
    const { capacity, name } = declaration;
    this.machine = kernel.process(`${name} machine`);
    this.process = this.machine;
    // Its disks have room for real files, whatever figures are told of them.
    const machine = { milliCpu: capacity.milliCpu, memoryBytes: capacity.memoryBytes, pids: capacity.pids };
    const usage = { memory: unused, pids: unused };
    this.runtime = kernel.enter(this.machine, () => new SimulatedRuntime(this.machine, { machine, usage, images }));
    this.usage = new ProgrammedUsage(this.runtime, declaration, this.machine.clock);
  }

  startAgent(): void {
    const { kernel, server, headers, dialect, bugs } = this.options;
    const { settings } = this;
    this.starts += 1;
    const { name } = this.options.declaration;
    const process = kernel.process(this.starts === 1 ? `${name} agent` : `${name} agent ${this.starts}`);
    this.process = process;
    const rules = parseEvictionSettings(this.options.declaration.eviction);
    if ("error" in rules) throw new Error(rules.error);
    kernel.enter(process, () => {
      const agent = new Agent(
        {
          process,
          dialect,
          server: server(process),
          headers,
          runtime: this.usage,
          bugs,
          nodeSide: (context) => {
            this.side = new AgentNode({
              context,
              runtime: this.usage,
              rules,
              bugs,
              agentVersion,
              negativeGraceIsPods: settings.rules.negativeGraceIsPods,
              start: { failSwapOn: false, failCgroupV1: false, protectKernelDefaults: false },
              watcher: { looked: ({ atMicros }) => void this.looks.push({ ...this.usage.take(), atMicros }) },
              fail: (why) => {
                throw new Error(why);
              },
            });
            return this.side;
          },
        },
        this.agentOptions(),
      );
      agent.start();
      if (this.side !== undefined) this.listener = logsWith(bugs, this.listenerOf(agent, this.side));
    });
  }

  /** Its containers go on. */
  stopAgent(): void {
    this.listener = undefined;
    this.process.crash();
  }

  /** What its agent serves, to everybody; undefined while it is away. Callers enter its process. */
  get serving(): { readonly process: Process; readonly handler: ApiHandler } | undefined {
    const { process, listener } = this;
    return listener === undefined || !process.alive ? undefined : { process, handler: listener };
  }

  private listenerOf(agent: Agent, side: AgentNode): AgentListener {
    return new AgentListener({
      kind: "serving",
      agent: agent.view,
      node: side,
      configz: () => configzOf(this.settings),
      hasDebugging: true,
      idleMillisMax: 0,
      syncFrequencyMicros: this.agentOptions().pods.syncFrequencyMicros,
      counts: new RequestCounts(),
    });
  }

  /** Every look of the agent at usage, on the clock of the run's epoch. */
  readings(): readonly UsageReading[] {
    const { epochUnixMillis } = this.process.clock;
    return this.looks.map(({ atMicros, takenMicros, signals, pods }) => ({
      atMillis: epochUnixMillis + atMicros / 1000,
      takenMillis: epochUnixMillis + takenMicros / 1000,
      signals,
      pods,
    }));
  }

  stop(): void {
    this.stopAgent();
    this.machine.crash();
  }

  private agentOptions(): AgentOptions {
    const { name, labels, taints, monitoringMillis } = this.options.declaration;
    const host = { hostname: name, addresses: [this.options.address] };
    const options = agentOptionsOf(this.settings, host);
    return {
      ...options,
      node: { ...options.node, labels, taints },
      evictionMonitoringMicros: monitoringMillis * 1000,
    };
  }
}

/**
 * Small, and there at once: how long a pull takes is not what such a node is for. Containers take no notice of TERM, so
 * that they live as long as the grace that they are left.
 */
const images = [{ name: "*", sizeBytes: 1024, pullMicros: 1000, runs: { stopMicros: null } }];

const unused = { is: "constant", amount: 0 } as const;
