/** For tests: an agent's half that answers for its node, as agents of version 1.33 have it. */
import { type EvictionRules, type EvictionSettings, parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { agentBugsOn } from "../../planted/agent-bugs.ts";
import type { AgentContext } from "../ports.ts";
import { AgentNode } from "./node-side.ts";

export const agentNode =
  (runtime: CriRuntime, eviction: EvictionSettings = {}) =>
  (context: AgentContext): AgentNode =>
    new AgentNode({
      context,
      runtime,
      rules: parseEvictionSettings(eviction) as EvictionRules,
      bugs: agentBugsOn(),
      agentVersion: "v1.33.3",
      negativeGraceIsPods: false,
      start: { failSwapOn: false, failCgroupV1: false, protectKernelDefaults: false },
      fail: (why) => {
        throw new Error(why);
      },
    });
