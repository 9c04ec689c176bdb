/** Thresholds as an agent's flags have them, so that nodes of the simulator are configured by the same grammar as any other. */
import type { Dialect } from "../../wire/dialect.ts";
import type { EvictionSettings } from "../../wire/eviction-thresholds.ts";
import { readAgentCommand } from "../configuration/agent/command-line.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";

/** Throws for thresholds that no agent takes. */
export function settingsForEviction(eviction: EvictionSettings, dialect: Dialect): AgentSettings {
  const { evictionPressureTransitionPeriod: transition, evictionMaxPodGracePeriod: most } = eviction;
  const args = [
    `--eviction-hard=${joined(eviction.evictionHard, "<")}`,
    `--eviction-soft=${joined(eviction.evictionSoft, "<")}`,
    `--eviction-soft-grace-period=${joined(eviction.evictionSoftGracePeriod, "=")}`,
    `--eviction-minimum-reclaim=${joined(eviction.evictionMinimumReclaim, "=")}`,
    ...(transition === undefined ? [] : [`--eviction-pressure-transition-period=${transition}`]),
    ...(most === undefined ? [] : [`--eviction-max-pod-grace-period=${most}`]),
    // Of whom there is nobody to ask.
    "--svcconfig=given",
    "--registry-qps=0",
  ];
  const files = { read: () => ({ error: "no file" }), list: () => ({ error: "no file" }), environment: {} };
  const command = readAgentCommand(args, dialect, files);
  if (command.is === "settings") return command.settings;
  throw new Error(command.is === "refused" ? command.problems.join("\n") : command.is);
}

function joined(map: Readonly<Record<string, string>> = {}, separator: string): string {
  return Object.entries(map)
    .map(([signal, text]) => `${signal}${separator}${text}`)
    .join(",");
}
