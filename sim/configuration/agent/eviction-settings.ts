/** The eviction fields of an agent's settings, as the grammar of thresholds takes them. */
import type { EvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { durationText } from "./checks.ts";
import type { AgentSettings } from "./settings.ts";

export function evictionSettingsOf(settings: AgentSettings): EvictionSettings {
  return {
    evictionHard: settings.map("eviction-hard"),
    evictionSoft: settings.map("eviction-soft"),
    evictionSoftGracePeriod: settings.map("eviction-soft-grace-period"),
    evictionMinimumReclaim: settings.map("eviction-minimum-reclaim"),
    evictionPressureTransitionPeriod: durationText(settings.number("eviction-pressure-transition-period")),
    evictionMaxPodGracePeriod: settings.number("eviction-max-pod-grace-period"),
  };
}
