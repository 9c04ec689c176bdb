/** What tolerates what. Source: the API reference of Toleration. */
import type { Taint, Toleration } from "../shared/stored.ts";

function tolerates({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  // Without a key, only Exists tolerates everything.
  return key !== "" && operator === "Equal" && value === (taint.value ?? "");
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** How long a pod with these tolerations may stay on a node with these taints: 0 is not at all, Infinity for good. */
export function secondsTolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  let seconds = Infinity;
  for (const taint of taints) {
    const tolerating = tolerations.filter((toleration) => tolerates(toleration, taint));
    if (tolerating.length === 0) return 0;
    for (const { tolerationSeconds = Infinity } of tolerating)
      seconds = Math.min(seconds, Math.max(0, tolerationSeconds));
  }
  return seconds;
}
