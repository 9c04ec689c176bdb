/**
 * What tolerates what. Source: the API reference of Toleration. A node may have thousands of taints and a pod as many
 * tolerations: those that name a key are found by it.
 */

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Whether any of them tolerates the taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return secondsOf(taint, tolerations) !== undefined;
}

/** How long a pod with these tolerations may stay on a node with these taints: 0 is not at all, Infinity for good. */
export function secondsTolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  let seconds = Infinity;
  for (const taint of taints) {
    const ofThis = secondsOf(taint, tolerations);
    if (ofThis === undefined) return 0;
    seconds = Math.min(seconds, ofThis);
  }
  return seconds;
}

function tolerates({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  // Without a key, only Exists tolerates everything.
  return key !== "" && operator === "Equal" && value === (taint.value ?? "");
}

/** The shortest time for which one of them tolerates the taint; undefined: none does. */
function secondsOf(taint: Taint, tolerations: readonly Toleration[]): number | undefined {
  if (tolerations.length < manyMin) return shortest(taint, tolerations, undefined);
  let table = tables.get(tolerations);
  if (table === undefined) tables.set(tolerations, (table = tableOf(tolerations)));
  return shortest(taint, table.get(taint.key) ?? none, shortest(taint, table.get("") ?? none, undefined));
}

function shortest(taint: Taint, tolerations: readonly Toleration[], known: number | undefined): number | undefined {
  let seconds = known;
  for (const toleration of tolerations) {
    if (!tolerates(toleration, taint)) continue;
    seconds = Math.min(seconds ?? Infinity, Math.max(0, toleration.tolerationSeconds ?? Infinity));
    if (seconds === 0) break;
  }
  return seconds;
}

/** Fewer are looked at one after another. */
const manyMin = 32;

/** By key. Of those without one, the shortest of each effect is enough: nothing else distinguishes them. */
function tableOf(tolerations: readonly Toleration[]): ReadonlyMap<string, readonly Toleration[]> {
  const table = Map.groupBy(tolerations, ({ key = "" }) => key);
  const shortestOf = new Map<string, Toleration>();
  for (const toleration of table.get("") ?? none) {
    const { operator, effect = "", tolerationSeconds = Infinity } = toleration;
    if (operator !== "Exists") continue;
    const known = shortestOf.get(effect);
    if (known === undefined || tolerationSeconds < (known.tolerationSeconds ?? Infinity))
      shortestOf.set(effect, toleration);
  }
  return table.set("", [...shortestOf.values()]);
}

const tables = new WeakMap<readonly Toleration[], ReadonlyMap<string, readonly Toleration[]>>();
const none: readonly Toleration[] = [];
