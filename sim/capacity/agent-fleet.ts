/** The nodes of an experiment, each the real node agent on a simulated runtime, in two processes: what runs goes on while its agent restarts. */
import type { NodePool } from "../../scenarios/node-file.ts";
import type { Experiment } from "../../scenarios/capacity/schema.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { type EvictionRules, parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { Agent } from "../agent/agent.ts";
import { AgentNode } from "../agent/node/node-side.ts";
import { agentOptionsOf } from "../agent/options-of-settings.ts";
import { readAgentCommand } from "../configuration/agent/command-line.ts";
import { evictionSettingsOf } from "../configuration/agent/eviction-settings.ts";
import { agentVersion } from "../configuration/agent/flag-values.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import { nodesOf } from "../cluster/node-pools.ts";
import type { Process } from "../kernel/types.ts";
import { agentBugsOn } from "../planted/agent-bugs.ts";
import type { ImageRow } from "../runtime/images.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { ExperimentError, type Fleet, type FleetNode } from "./fleet.ts";

interface Held extends FleetNode {
  readonly machine: Member<SimulatedRuntime>;
  readonly agent: Member<void>;
}

export function startAgents(
  cluster: Cluster,
  { cluster: shape }: Experiment,
  dialect: Dialect,
  images: readonly ImageRow[],
): Fleet {
  const settings = settingsOf(shape.agents.flags, dialect);
  const rules = rulesOf(settings);
  const held = shapesOf(shape, dialect).map((node, index): Held => {
    const { name, labels, capacity, taints } = node;
    const machine = cluster.add(
      `machine ${name}`,
      (process) =>
        new SimulatedRuntime(process, { machine: machineOf(capacity), images, podNetwork: podNetwork(index) }),
    );
    const agent = cluster.add(`agent ${name}`, (process) => {
      const options = agentOptionsOf(settings, { hostname: name, addresses: [addressOf(index)] });
      startAgent(cluster, process, machine.made, dialect, rules, settings, {
        ...options,
        node: {
          ...options.node,
          labels,
          taints,
          podsMax: Number(capacity["pods"]),
          extendedResources: extendedOf(capacity),
        },
      });
    });
    return { name, zone: labels[`topology.${dialect.labelSuffix}/zone`] ?? "", machine, agent };
  });
  return {
    nodes: held,
    crashAgent: ({ name }) => find(held, name).agent.crash(),
    startAgent: ({ name }) => startIfDown(find(held, name).agent),
    fail({ name }) {
      const { agent, machine } = find(held, name);
      agent.crash();
      machine.crash();
    },
    recover({ name }) {
      const { agent, machine } = find(held, name);
      startIfDown(machine);
      startIfDown(agent);
    },
  };
}

const find = (held: readonly Held[], name: string): Held => held.find((one) => one.name === name) as Held;

function startIfDown(member: Member<unknown>): void {
  if (!member.isAlive) member.start();
}

function startAgent(
  cluster: Cluster,
  process: Process,
  runtime: SimulatedRuntime,
  dialect: Dialect,
  rules: EvictionRules,
  settings: AgentSettings,
  options: ReturnType<typeof agentOptionsOf>,
): void {
  const agent = new Agent(
    {
      process,
      dialect,
      server: cluster.api(process),
      headers: { "user-agent": "agent", accept: "application/json" },
      identity: { commonName: `system:node:${options.nodeName}`, organizations: ["system:nodes"] },
      runtime,
      nodeSide: (context) =>
        new AgentNode({
          context,
          runtime,
          rules,
          bugs: agentBugsOn(),
          agentVersion,
          negativeGraceIsPods: settings.rules.negativeGraceIsPods,
          start: { failSwapOn: false, failCgroupV1: false, protectKernelDefaults: false },
          fail: (why) => {
            throw new ExperimentError("cluster.agents.flags", `an agent cannot run so: ${why}`);
          },
        }),
    },
    options,
  );
  agent.start();
}

/** As published agents have them where nothing else is said. */
const usualThresholds = "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%";

/** Flags are judged by the grammar of the agent's own command line. Throws `ExperimentError`. */
function settingsOf(flags: Experiment["cluster"]["agents"]["flags"], dialect: Dialect): AgentSettings {
  const args = [
    ...Object.entries({ "eviction-hard": usualThresholds, ...flags }).map(
      ([name, value]) => `--${name}=${String(value)}`,
    ),
    "--svcconfig=given",
  ];
  const files = {
    read: () => ({ error: "an experiment's agents read no files" }),
    list: () => ({ error: "no files" }),
    environment: {},
  };
  const command = readAgentCommand(args, dialect, files);
  if (command.is === "settings") return command.settings;
  const problems = command.is === "refused" ? command.problems.join("; ") : `this asks for ${command.is}`;
  throw new ExperimentError("cluster.agents.flags", problems);
}

/** The command line has judged them already. */
function rulesOf(settings: AgentSettings): EvictionRules {
  const rules = parseEvictionSettings(evictionSettingsOf(settings));
  if ("error" in rules) throw new ExperimentError("cluster.agents.flags", rules.error);
  return rules;
}

const addressOf = (index: number): string => `172.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
const podNetwork = (index: number): string => `10.${(index >> 8) & 255}.${index & 255}`;

/** Of the nodes: pools as they are, or so many that are alike. */
export function shapesOf(cluster: Experiment["cluster"], dialect: Dialect): ReturnType<typeof nodesOf> {
  const { nodes, zones, cpu, memory, podsMax, pools } = cluster;
  const alike: NodePool = {
    name: "node",
    count: nodes,
    cpu,
    memory,
    storage: "100Gi",
    pods: podsMax,
    resources: {},
    region: undefined,
    zones: Array.from({ length: zones }, (_, index) => `zone-${index + 1}`),
    labels: {},
    taints: [],
    usage: { start: { min: 0, max: 0 }, stop: { min: 0, max: 0 }, run: { min: 0, max: 0 } },
  };
  return nodesOf(pools.length > 0 ? pools : [alike], dialect);
}

const ownResources = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

const extendedOf = (capacity: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(capacity).filter(([resource]) => !ownResources.has(resource)));

function machineOf(capacity: Readonly<Record<string, string>>) {
  return { milliCpu: amount(capacity["cpu"], -3), memoryBytes: amount(capacity["memory"], 0) };
}

export function amount(text = "0", scale = 0): number {
  const quantity = parseQuantity(text);
  return "error" in quantity ? 0 : Number(quantityAt(quantity, scale));
}
