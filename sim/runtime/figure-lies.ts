/**
 * Figures that are not as things are: what a runtime tells of a pod's usage, or of its machine's, while what is really used (and
 * what is killed for it) stays.
 */
import type { FigureLie, FigurePart } from "../../wire/figure-lie.ts";

/** Fields of messages that tell of each. */
const parts: Readonly<Record<FigurePart, ReadonlySet<string>>> = {
  memory: new Set(["memory", "podsMemory"]),
  cpu: new Set(["cpu"]),
  disk: new Set(["writableLayer", "rootFilesystem", "imageFilesystem"]),
  processes: new Set(["process", "pids"]),
};

interface Told {
  readonly lie: FigureLie;
  /** What stands still, as it was told first. */
  readonly kept: Map<string, object>;
}

export interface KeptLie {
  readonly about: string;
  readonly lie: FigureLie;
  readonly told: readonly (readonly [string, object])[];
}

/** What a machine's figures are called; a pod's go by `namespace/name`. */
export const machineFigures = "";

export class FigureLies {
  private readonly told = new Map<string, Told>();

  get isAny(): boolean {
    return this.told.size > 0;
  }

  /** From now on; undefined: they are as things are. */
  set(about: string, lie: FigureLie | undefined): void {
    if (lie === undefined) this.told.delete(about);
    else this.told.set(about, { lie, kept: new Map() });
  }

  get kept(): readonly KeptLie[] {
    return [...this.told].map(([about, { lie, kept }]) => ({ about, lie, told: [...kept] }));
  }

  putBack(kept: readonly KeptLie[]): void {
    this.told.clear();
    for (const { about, lie, told } of kept) this.told.set(about, { lie, kept: new Map(told) });
  }

  /** `key`: what exactly is told, such as a container's id. */
  of<Figures extends object>(about: string, key: string, figures: Figures): Figures {
    const told = this.told.get(about);
    if (told === undefined) return figures;
    const { lie, kept } = told;
    if (lie.is !== "still") return changed(figures, lie) as Figures;
    const before = kept.get(key);
    if (before === undefined) kept.set(key, figures);
    return (before ?? figures) as Figures;
  }
}

/** Amounts in messages that are of what is used. */
const used = new Set([
  "usageCoreNanoSeconds",
  "usageNanoCores",
  "workingSetBytes",
  "usageBytes",
  "rssBytes",
  "usedBytes",
  "inodesUsed",
  "processCount",
  "running",
  "swapUsageBytes",
]);

/** What is left of what: the amount, what it comes from, and how much there is of both. */
const leftOver = [
  ["availableBytes", "workingSetBytes"],
  ["availableBytes", "usedBytes"],
  ["inodesFree", "inodesUsed"],
] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Messages are trees of a few levels, made by this runtime. */
function changed(value: unknown, lie: Exclude<FigureLie, { is: "still" }>): unknown {
  if (Array.isArray(value)) return value.map((each) => changed(each, lie));
  if (typeof value !== "object" || value === null) return value;
  const next: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value as Fields)) {
    if (name === "attributes") next[name] = field;
    else if (lie.is === "lack" && parts[lie.part].has(name)) continue;
    else if (lie.is === "old" && name === "timestamp") next[name] = (field as number) - lie.micros * 1000;
    else if (lie.is === "times" && used.has(name)) next[name] = scaled(field, lie.factor);
    else next[name] = changed(field, lie);
  }
  if (lie.is === "times") for (const [left, taken] of leftOver) leave(value as Fields, next, left, taken);
  return next;
}

/** A number, or a message around one. */
function scaled(field: unknown, factor: number): unknown {
  return typeof field === "number" ? Math.round(field * factor) : { value: Math.round(amountOf(field) * factor) };
}

const amountOf = (field: unknown): number =>
  typeof field === "number" ? field : ((field as { readonly value?: number } | undefined)?.value ?? 0);

/** No more is used than there is; the rest is left. */
function leave(before: Fields, next: Record<string, unknown>, left: string, taken: string): void {
  if (typeof before[left] !== "number" || typeof before[taken] !== "number") return;
  const all = before[left] + before[taken];
  next[taken] = Math.min(all, next[taken] as number);
  next[left] = all - (next[taken] as number);
}
