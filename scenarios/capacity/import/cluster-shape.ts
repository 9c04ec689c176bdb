/**
 * A cluster that was seen elsewhere, as an experiment that begins with its shape: nodes, pods where they are, who makes them
 * anew, budgets and priorities. Objects are taken one by one, so that a cluster need not be held as a whole.
 */
import { stringify } from "yaml";
import type { z } from "zod";
import { inPlainWords } from "../../../wire/plain-words.ts";
import { anonymousNames, type Names, ownNames } from "./names.ts";
import { isLabel, poolsMax, poolsOf } from "./node-pools.ts";
import { type ImportedRow, PodGroups } from "./pod-groups.ts";
import {
  seenBudget,
  type SeenBudget,
  type SeenNode,
  seenNode,
  seenPod,
  seenPodState,
  seenPriority,
  type SeenPriority,
} from "./seen-objects.ts";

/** Why no experiment can be made. */
export class ImportError extends Error {
  override readonly name: string = "ImportError";
}

/** What is wrong with an object, and where in it. */
export class WrongObjectError extends ImportError {
  override readonly name = "WrongObjectError";
}

export interface ImportedCounts {
  readonly nodes: number;
  readonly pools: number;
  readonly pods: number;
  readonly rows: number;
  readonly budgets: number;
  readonly priorities: number;
}

export interface Imported {
  /** An experiment's file. */
  readonly text: string;
  readonly counts: ImportedCounts;
  /** What of the cluster is not in the experiment, a sentence each. */
  readonly notes: readonly string[];
}

export interface ImportOptions {
  readonly isAnonymous: boolean;
  /** A DNS label. */
  readonly name: string;
  /** An audit log to be replayed: how the experiment's file calls it, and how long it is. */
  readonly log?: { readonly path: string; readonly seconds: number };
}

const objectsMax = 5_000_000;
const namespacesMax = 10_000;
const rowsMax = 100_000;

export class ClusterShape {
  private readonly nodes = new Map<string, SeenNode>();
  private readonly pods = new PodGroups();
  private readonly budgets: SeenBudget[] = [];
  private readonly priorities = new Map<string, SeenPriority>();
  private readonly seen = new Set<string>();
  private readonly passedOver = new Map<string, number>();
  private podCount = 0;
  private endedCount = 0;
  private leavingCount = 0;
  private cordonedCount = 0;

  /** Any object; of kinds that have no part in the shape only their number is kept. The same one twice counts once. Throws `ImportError`. */
  add(kind: string, object: unknown): void {
    if (kind === "Node") this.addNode(read(seenNode, kind, object));
    else if (kind === "Pod") this.addPod(object);
    else if (kind === "PodDisruptionBudget") {
      const budget = read(seenBudget, kind, object);
      if (this.isNew(`budget ${budget.metadata.namespace}/${budget.metadata.name}`)) this.budgets.push(budget);
    } else if (kind === "PriorityClass") {
      const priority = read(seenPriority, kind, object);
      this.priorities.set(priority.metadata.name, priority);
    } else this.passedOver.set(kind, (this.passedOver.get(kind) ?? 0) + 1);
  }

  get hasNodes(): boolean {
    return this.nodes.size > 0;
  }

  /** Throws `ImportError` when there is nothing to begin with. */
  experiment(options: ImportOptions): Imported {
    if (this.nodes.size === 0) throw new ImportError("no nodes were found, with which an experiment begins");
    const names = options.isAnonymous ? anonymousNames() : ownNames();
    const nodes = poolsOf([...this.nodes.values()], this.pods.askedKeys, names);
    if (nodes.pools.length > poolsMax)
      throw new ImportError(
        `nodes are of ${nodes.pools.length} kinds, and an experiment has ${poolsMax} pools at most: pods choose nodes by labels of which nearly every node has its own value`,
      );
    const { rows, lostCount } = this.pods.rows(nodes, names);
    if (rows.length > rowsMax)
      throw new ImportError(`pods are of ${rows.length} kinds, and an experiment has ${rowsMax} rows at most`);
    const priorities = this.priorityObjects(names);
    const budgets = this.budgets.map((budget) => budgetObject(budget, names));
    const spaces = [...new Set([...this.pods.namespaces, ...this.budgets.map((budget) => budget.metadata.namespace)])]
      .filter((name) => name !== "default")
      .sort();
    if (spaces.length > namespacesMax)
      throw new ImportError(`there are ${spaces.length} namespaces, and an experiment has ${namespacesMax} at most`);
    const counts = {
      nodes: this.nodes.size,
      pools: nodes.pools.length,
      pods: this.podCount - lostCount,
      rows: rows.length,
      budgets: budgets.length,
      priorities: priorities.length,
    };
    const notes = this.notes(lostCount, options.isAnonymous);
    const parts = {
      pools: nodes.pools,
      namespaces: spaces.map(names.namespace),
      objects: [...priorities, ...budgets],
      rows,
    };
    return { text: textOf(options, counts, notes, parts), counts, notes };
  }

  private addNode(node: SeenNode): void {
    if (this.nodes.size >= 100_000) throw new ImportError("there are more than 100000 nodes");
    if (node.spec?.unschedulable === true && !this.nodes.has(node.metadata.name)) this.cordonedCount++;
    this.nodes.set(node.metadata.name, node);
  }

  private addPod(object: unknown): void {
    const { metadata, status } = read(seenPodState, "Pod", object);
    const hasEnded = status?.phase === "Succeeded" || status?.phase === "Failed";
    const isLeaving = metadata.deletionTimestamp != null;
    const pod = hasEnded || isLeaving ? undefined : read(seenPod, "Pod", object);
    if (!this.isNew(`pod ${metadata.namespace}/${metadata.name}`)) return;
    if (hasEnded) this.endedCount++;
    else if (isLeaving) this.leavingCount++;
    if (pod === undefined) return;
    this.podCount++;
    this.pods.add(pod, sizeOf(object as object));
  }

  private isNew(key: string): boolean {
    if (this.seen.size >= objectsMax) throw new ImportError(`there are more than ${objectsMax} objects`);
    const before = this.seen.size;
    this.seen.add(key);
    return this.seen.size > before;
  }

  /** Those of the cluster, and those that pods name and that were not among them. */
  private priorityObjects(names: Names): readonly object[] {
    const named = [...this.pods.priorities].flatMap(([name, value]): readonly SeenPriority[] =>
      this.priorities.has(name) ? [] : [{ metadata: { name }, value }],
    );
    return [...this.priorities.values(), ...named]
      .filter(({ metadata }) => !metadata.name.startsWith("system-"))
      .map(({ metadata, value, globalDefault, preemptionPolicy }) => ({
        apiVersion: "scheduling.k8s.io/v1",
        kind: "PriorityClass",
        metadata: { name: names.priority(metadata.name) },
        value,
        ...(globalDefault === true ? { globalDefault } : {}),
        ...(preemptionPolicy === "Never" ? { preemptionPolicy } : {}),
      }));
  }

  /** Kinds are names, too. */
  private notes(lostCount: number, isAnonymous: boolean): readonly string[] {
    const others = [...this.passedOver].sort(([one], [other]) => (one < other ? -1 : 1));
    const otherCount = others.reduce((sum, [, count]) => sum + count, 0);
    const kinds = others
      .slice(0, 8)
      .map(([kind, count]) => `${count} ${kind.replaceAll(/[^\w.-]/g, "?").slice(0, 60)}`);
    const shown = isAnonymous && otherCount > 0 ? [`${otherCount} objects`] : kinds;
    return [
      ...some(this.endedCount, "pods have ended and are left out"),
      ...some(this.leavingCount, "pods were being deleted and are left out"),
      ...some(lostCount, "pods are on nodes that were not given and are left out"),
      ...some(this.cordonedCount, "nodes are cordoned and take pods here"),
      ...some(
        this.pods.withAffinityCount,
        "pods have affinities or are to be spread: they stand where they are, and their successors go anywhere",
      ),
      ...(shown.length === 0
        ? []
        : [
            `of other kinds and left out: ${shown.join(", ")}${!isAnonymous && others.length > shown.length ? " …" : ""}`,
          ]),
    ];
  }
}

const some = (count: number, text: string): readonly string[] => (count === 0 ? [] : [`${count} ${text}`]);

function read<T>(schema: z.ZodType<T>, kind: string, object: unknown): T {
  const parsed = schema.safeParse(object, { error: inPlainWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { name } = ((object as { metadata?: unknown } | null)?.metadata ?? {}) as { name?: unknown };
  const which = typeof name === "string" ? ` ${name.slice(0, 100)}` : "";
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  throw new WrongObjectError(`${kind}${which}: ${where}${issue?.message ?? "is wrong"}`);
}

/** As JSON and without what programs keep of who wrote which field: dumps leave that out, too. */
function sizeOf(pod: object): number {
  const { metadata, ...rest } = pod as { readonly metadata: object };
  return JSON.stringify({ ...rest, metadata: { ...metadata, managedFields: undefined } }).length;
}

function budgetObject({ metadata, spec }: SeenBudget, names: Names): object {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy, selector } = spec;
  const matchLabels = Object.entries(selector?.matchLabels ?? {}).filter(([key, value]) => isLabel(key, value));
  const matchExpressions = (selector?.matchExpressions ?? []).map(({ key, operator, values }) => ({
    key: names.labelKey(key),
    operator,
    ...(values === undefined || values === null || values.length === 0
      ? {}
      : { values: values.map((value) => names.labelValue(key, value)) }),
  }));
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: {
      name: names.workload(`budgets of ${metadata.namespace}`, metadata.name),
      namespace: names.namespace(metadata.namespace),
    },
    spec: {
      ...(minAvailable === undefined || minAvailable === null ? {} : { minAvailable }),
      ...(maxUnavailable === undefined || maxUnavailable === null ? {} : { maxUnavailable }),
      ...(unhealthyPodEvictionPolicy === "AlwaysAllow" ? { unhealthyPodEvictionPolicy } : {}),
      ...(selector === undefined || selector === null
        ? {}
        : {
            selector: {
              ...(matchLabels.length === 0
                ? {}
                : {
                    matchLabels: Object.fromEntries(
                      matchLabels.map(([key, value]) => [names.labelKey(key), names.labelValue(key, value)]),
                    ),
                  }),
              ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
            },
          }),
    },
  };
}

interface Parts {
  readonly pools: readonly object[];
  readonly namespaces: readonly string[];
  readonly objects: readonly object[];
  readonly rows: readonly ImportedRow[];
}

/** Rows on a line each: as JSON, which is YAML too, and short. */
function textOf({ name, log }: ImportOptions, counts: ImportedCounts, notes: readonly string[], parts: Parts): string {
  const { nodes, pods, rows } = counts;
  const list = (title: string, items: readonly unknown[]): readonly string[] =>
    items.length === 0 ? [] : [`  ${title}:`, ...items.map((item) => `    - ${JSON.stringify(item)}`)];
  // Statuses of owners are written at a rate of 20 a second once their controllers start.
  const settleSeconds = 120 + Math.ceil(rows / 10);
  const head = stringify({
    apiVersion: "capacity/v1",
    name,
    question:
      log === undefined
        ? "What does this cluster ask of its server at rest?"
        : "What does this cluster ask of its server while the log is replayed?",
    settle: `${settleSeconds}s`,
    until: log === undefined ? "5m" : `${Math.max(60, log.seconds + 30)}s`,
  });
  return [
    `# ${nodes} nodes and ${pods} pods, as they were seen.`,
    ...notes.map((note) => `# ${note}.`.replaceAll(/\s+/g, " ")),
    `${head}cluster:`,
    ...list("pools", parts.pools),
    ...list("namespaces", parts.namespaces),
    ...list("objects", parts.objects),
    ...list("standing", parts.rows),
    "# What is done to it: burst, drain, restart, fail and others; see the guide.",
    ...(log === undefined ? ["workload: []"] : ["workload:", `  - ${JSON.stringify({ do: "replay", log: log.path })}`]),
    "",
  ].join("\n");
}
