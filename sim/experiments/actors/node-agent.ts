/** A whole node: the real agent, on a machine that outlives it. */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { softSettings } from "../../../scenarios/clients.ts";
import {
  amountOf,
  type EvictionRules,
  type EvictionSignal,
  evictionSignals,
  parseEvictionSettings,
} from "../../../wire/eviction-thresholds.ts";
import { Agent } from "../../agent/agent.ts";
import { defaultAgentOptions } from "../../agent/agent-options.ts";
import type { Candidate, PassOutcome, UsageSeen } from "../../agent/eviction/eviction-manager.ts";
import { withAllocatable } from "../../agent/eviction/threshold-list.ts";
import { AgentNode } from "../../agent/node/node-side.ts";
import type { ActivePod, AgentOptions } from "../../agent/ports.ts";
import type { RankedPod, SignalSeen } from "../../checkers/judge.ts";
import { agentVersion } from "../../configuration/agent/flag-values.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invariant } from "../../kernel/invariant.ts";
import { agentBugsOn } from "../../planted/agent-bugs.ts";
import type { NodeHost } from "../node-host.ts";
import type { Actor, ActorParts } from "./actor.ts";

const manifestPath = "/etc/manifests";

export class NodeAgent implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"agent">;
  private readonly host: NodeHost;
  private agent: Agent | undefined;
  private side: AgentNode | undefined;
  private evictions = 0;

  constructor(parts: ActorParts, options: ClientOf<"agent">) {
    this.parts = parts;
    this.options = options;
    invariant(parts.host !== undefined, "an agent has a machine", options.name);
    this.host = parts.host;
  }

  start(): void {
    const { process, handler, dialect, agentBugs, tell } = this.parts;
    const { name } = this.options;
    const bugs = agentBugsOn(agentBugs);
    const eviction = evictionOf(this.options);
    const rules = parseEvictionSettings(eviction) as EvictionRules;
    const all = withAllocatable(rules, { enforcesPods: true, ignoresEviction: false });
    const fail = (why: string): never => {
      throw new Error(`${name}: ${why}`);
    };
    const agent = new Agent(
      {
        process,
        dialect,
        server: handler,
        headers: {
          accept: "application/json",
          authorization: `Bearer ${name}`,
          "user-agent": `nodeagent/${agentVersion}`,
        },
        runtime: this.host.port,
        bugs,
        readFiles: (_path, done) => void process.clock.after(1000, () => done(this.manifests())),
        nodeSide: (context) => {
          this.side = new AgentNode({
            context,
            runtime: this.host.port,
            rules,
            bugs,
            agentVersion,
            negativeGraceIsPods: dialect.name === "svc",
            start: { failSwapOn: false, failCgroupV1: false, protectKernelDefaults: false },
            watcher: {
              looked: (seen) =>
                tell({
                  kind: "usage-seen",
                  client: name,
                  atMicros: seen.atMicros,
                  signals: signalsOf(all, seen),
                  conditions: seen.conditions,
                  transitionMicros: rules.transitionMillis * 1000,
                }),
              passed: (outcome) => {
                tell({ kind: "pass-ended", client: name, cameTo: comesToNothing(outcome) ? "nothing" : "something" });
                if (outcome.is !== "evicted") return;
                this.evictions += outcome.pods.length;
                tell({
                  kind: "evicted",
                  client: name,
                  threshold: outcome.threshold && {
                    signal: outcome.threshold.signal,
                    graceMicros: outcome.threshold.graceMillis * 1000,
                  },
                  pods: outcome.pods.map((pod) => ({ pod: nameOf(pod), isExempt: pod.isCritical })),
                  among:
                    outcome.threshold === undefined
                      ? []
                      : outcome.among.map((each) => rankedOf(each, outcome.threshold.signal)),
                });
              },
            },
            fail,
          });
          return this.side;
        },
        fail,
      },
      agentOptions(this.options, eviction),
    );
    this.agent = agent;
    agent.start();
  }

  pending(): string | undefined {
    const { agent, side, host } = this;
    const ready = conditionsOf(side?.node()).find(({ type }) => type === "Ready");
    if (agent === undefined || ready === undefined) return "its node is not there";
    if (ready.status !== "True") return `its node is not ready: ${ready.message}`;
    const held = [...agent.pods.held.values()];
    for (const { name, namespace, uid, pod, isTerminating, isRejected, isStatic, mirror } of held) {
      if (isTerminating || isRejected) continue;
      const still = pod.spec.containers.find((container) => host.running(uid, container.name).length === 0);
      if (still !== undefined) return `${still.name} of ${namespace}/${name} does not run`;
      if (isStatic && mirror === undefined) return `no server shows its static pod ${namespace}/${name}`;
    }
    const statics = held.filter(({ isStatic }) => isStatic).length;
    const { length } = this.options.manifests;
    return statics === length ? undefined : `${statics} of its ${length} static pods are there`;
  }

  counts(): Readonly<Record<string, number>> {
    return { pods: this.agent?.pods.held.size ?? 0, evictions: this.evictions };
  }

  private manifests() {
    const files = this.options.manifests.map((manifest, index) => ({
      name: `${index}.json`,
      content: new TextEncoder().encode(JSON.stringify(manifest)),
    }));
    return { is: "directory", files } as const;
  }
}

/** What cannot be read is no reason, and neither is having found nobody who may go. */
const comesToNothing = (outcome: PassOutcome): boolean =>
  outcome.is === "calm" || (outcome.is === "nobody" && outcome.why === "the figures are old");

const evictionOf = ({ thresholds, soft, reclaim, transition }: ClientOf<"agent">): AgentOptions["eviction"] => ({
  evictionHard: thresholds,
  ...softSettings(soft),
  evictionMinimumReclaim: reclaim,
  evictionPressureTransitionPeriod: `${Math.ceil(transition / 1_000_000)}s`,
});

function agentOptions(
  { name, capacity, manifests }: ClientOf<"agent">,
  eviction: AgentOptions["eviction"],
): AgentOptions {
  const standard = defaultAgentOptions(name);
  return {
    ...standard,
    eviction,
    node: { ...standard.node, podsMax: capacity.pods },
    pods: { ...standard.pods, clusterDns: ["10.96.0.10"] },
    sources: { ...standard.sources, ...(manifests.length === 0 ? {} : { manifestPath }) },
  };
}

/** The figures of a look against the thresholds as they were configured. */
function signalsOf({ thresholds }: EvictionRules, { observations }: UsageSeen): readonly SignalSeen[] {
  return thresholds.flatMap(({ signal, value, minimumReclaim, graceMillis }) => {
    const seen = observations[signal];
    if (seen === undefined) return [];
    const [threshold, reclaim] = [amountOf(value, seen.capacity), amountOf(minimumReclaim, seen.capacity)];
    const { condition } = evictionSignals[signal];
    const { available, takenMicros } = seen;
    return [{ signal, condition, available, threshold, reclaim, graceMicros: graceMillis * 1000, takenMicros }];
  });
}

const nameOf = ({ namespace, name }: ActivePod): string => `${namespace}/${name}`;

function rankedOf({ pod, used }: Candidate, signal: EvictionSignal): RankedPod {
  const { memoryBytes, ephemeralStorageBytes } = pod.requests;
  const requested =
    { memory: memoryBytes, pids: 0 }[evictionSignals[signal].resource as string] ?? ephemeralStorageBytes;
  return { pod: nameOf(pod), isExempt: pod.isCritical, priority: pod.priority, used, requested };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

const conditionsOf = (node: JsonObject | undefined): readonly Condition[] =>
  (node?.["status"] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
