/** What no single field of an experiment shows: names that must exist, times that must fit, verbs that need what is not there. */
import type { z } from "zod";
import { type CollectionVerb, collectionProblem } from "../../wire/collection-paths.ts";
import { type Dialect, dialects } from "../../wire/dialect.ts";
import { didYouMean } from "../../wire/near-names.ts";
import { placesProblem, type StandingRow } from "./standing-rows.ts";
import type { WorkloadRow } from "./workload-rows.ts";

interface Draft {
  readonly question: string;
  readonly profile: Dialect["name"];
  readonly until: number;
  readonly cluster: {
    readonly nodes: number;
    readonly zones: number;
    readonly pools: readonly { readonly name: string; readonly count: number; readonly zones: readonly string[] }[];
    readonly deployments: readonly { readonly name: string }[];
    readonly standing: readonly StandingRow[];
    readonly objects: readonly Readonly<Record<string, unknown>>[];
    readonly agents: { readonly kind: "real" | "silent" };
  };
  readonly workload: readonly WorkloadRow[];
  readonly sweep: readonly { readonly set: string; readonly to: readonly unknown[] }[];
  readonly arms: readonly { readonly name: string; readonly set: Readonly<Record<string, unknown>> }[];
  readonly find?: { readonly set: string; readonly from: number; readonly to: number } | undefined;
}

type Path = readonly (string | number)[];
type Add = (path: Path, message: string) => void;

export function checkExperiment(draft: Draft, context: z.RefinementCtx): void {
  const add: Add = (path, message) => context.addIssue({ code: "custom", path: [...path], message });
  for (const [index, row] of draft.workload.entries()) {
    const path = ["workload", index];
    if (row.at >= draft.until) add([...path, "at"], "the measurement is over by then");
    checkRow(row, draft, path, add);
  }
  for (const [, field = ""] of draft.question.matchAll(fieldInQuestion)) {
    if (typeof valueAt(draft, field.split(".")) !== "number")
      add(
        ["question"],
        `{${field}} is no number of this experiment: write the path of a field, such as {cluster.nodes}`,
      );
  }
  const nodeCounts = new Map(draft.cluster.pools.map(({ name, count }) => [name, count]));
  for (const [index, { on }] of draft.cluster.standing.entries()) {
    const problem = placesProblem(on, nodeCounts);
    if (problem !== undefined) add(["cluster", "standing", index, "on"], problem);
  }
  for (const [index, { name, set }] of draft.arms.entries()) {
    if (draft.arms.findIndex((other) => other.name === name) < index)
      add(["arms", index, "name"], `the name ${name} is taken`);
    for (const path of Object.keys(set)) addIdle(["arms", index, "set", path], path, add);
  }
  for (const [index, { set, to }] of draft.sweep.entries()) {
    const names = to.map(valueInName);
    for (const [at, name] of names.entries())
      if (names.indexOf(name) < at) add(["sweep", index, "to", at], `${set}=${name} is there already`);
    if (draft.sweep.findIndex((other) => other.set === set) < index)
      add(["sweep", index, "set"], `${set} is varied already`);
    addIdle(["sweep", index, "set"], set, add);
  }
  if (draft.find !== undefined) addIdle(["find", "set"], draft.find.set, add);
  if (draft.find !== undefined && draft.find.from >= draft.find.to)
    add(["find", "from"], "nothing lies between `from` and `to`: `from` is the smaller one");
}

type Shape = Pick<Draft, "cluster" | "workload">;

/** What is wrong only where it is played: arms, a sweep and flags may yet change how many nodes there are. */
export function playedProblems({ cluster, workload }: Shape): readonly (readonly [path: Path, message: string])[] {
  const there = cluster.pools.length > 0 ? cluster.pools.reduce((sum, { count }) => sum + count, 0) : cluster.nodes;
  const most = `there ${there === 1 ? "is one" : `are ${there}`}, and that is the most`;
  return workload.flatMap((row, index) =>
    (row.do === "drain" || row.do === "fail") && (row.nodes ?? 0) > there
      ? [
          [
            ["workload", index, "nodes"],
            `${row.nodes} nodes cannot ${row.do === "fail" ? "fail" : "be drained"}: ${most}`,
          ] as const,
        ]
      : [],
  );
}

export function checkPlayed(draft: Shape, context: z.RefinementCtx): void {
  for (const [path, message] of playedProblems(draft)) context.addIssue({ code: "custom", path: [...path], message });
}

/** What says which runs there are: no run reads it. */
const planFields: readonly string[] = ["quick", "tiny", "arms", "sweep", "repetitions", "find"];

/** Why a parameter cannot be varied: no run would differ. */
export function idleProblem(path: string): string | undefined {
  const [field = ""] = path.split(".");
  if (!planFields.includes(field)) return undefined;
  return `${field} says which runs there are, and changing it from run to run does nothing: name what a run has, such as cluster.nodes`;
}

function addIdle(place: Path, path: string, add: Add): void {
  const problem = idleProblem(path);
  if (problem !== undefined) add(place, problem);
}

/** As the name of an arm says it that has this value of what is varied. */
export const valueInName = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** `{cluster.nodes}` in a question: forms and flags change what is played. */
export const fieldInQuestion = /\{([\w.]+)\}/g;

export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let at = root;
  for (const key of path)
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string | number, unknown>)[key]
        : undefined;
  return at;
}

function checkRow(row: WorkloadRow, { cluster, profile, workload }: Draft, path: Path, add: Add): void {
  const isSilent = cluster.agents.kind === "silent";
  if (row.do === "pull" && isSilent) add([...path, "do"], "silent nodes pull nothing: set cluster.agents.kind to real");
  if (row.do === "restart" && row.who === "agents" && isSilent)
    add([...path, "who"], "silent nodes have no agents to restart: set cluster.agents.kind to real");
  if (row.do === "ready" && !isSilent)
    add([...path, "do"], "the agents say themselves what is ready: this is for silent nodes");
  if (row.do === "list" || row.do === "watch" || row.do === "change") {
    const ownGroups = cluster.objects.flatMap(({ spec }) => groupIn(spec));
    const problem = verbsOf[row.do]
      .map((verb) => collectionProblem(row.path, verb, dialects[profile], ownGroups))
      .find((each) => each !== undefined);
    if (problem !== undefined) add([...path, "path"], problem);
  }
  if (row.do === "fail") checkFail(row, cluster, path, add);
  if (row.do === "scale" || row.do === "rollout" || row.do === "ready") {
    const known = [
      ...cluster.deployments.map(({ name }) => name),
      ...cluster.standing.flatMap(({ name, owner }) => (owner === "Deployment" ? [name] : [])),
      ...workload.flatMap((other) => (other.do === "burst" ? namesOfBurst(other) : [])),
      ...cluster.objects.flatMap((object) => deploymentName(object)),
    ];
    if (!known.includes(row.name))
      add([...path, "name"], `no Deployment is called ${row.name}${didYouMean(row.name, known)}`);
  }
}

/** What is asked of a collection by each verb of the workload. */
const verbsOf: Readonly<Record<"list" | "watch" | "change", readonly CollectionVerb[]>> = {
  list: ["list"],
  watch: ["watch"],
  change: ["list", "patch"],
};

/** Of a definition of custom resources, or of an API that somebody else serves. */
function groupIn(spec: unknown): readonly string[] {
  const { group } = (typeof spec === "object" && spec !== null ? spec : {}) as { readonly group?: unknown };
  return typeof group === "string" ? [group] : [];
}

function checkFail(
  { zone, nodes }: Extract<WorkloadRow, { readonly do: "fail" }>,
  cluster: Draft["cluster"],
  path: Path,
  add: Add,
): void {
  if ((zone === undefined) === (nodes === undefined)) add(path, "say either which zone fails, or how many nodes");
  const zones =
    cluster.pools.length > 0
      ? cluster.pools.flatMap((each) => each.zones)
      : Array.from({ length: cluster.zones }, (_, index) => `zone-${index + 1}`);
  if (zone !== undefined && !zones.includes(zone))
    add([...path, "zone"], `no zone is called ${zone}; there are ${[...new Set(zones)].join(", ")}`);
}

/** The Deployments that a burst makes: one has the name itself, several have numbers. */
export const namesOfBurst = ({ name, count }: { readonly name: string; readonly count: number }): readonly string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index}`);

function deploymentName({ kind, metadata }: Readonly<Record<string, unknown>>): readonly string[] {
  const { name } = (metadata ?? {}) as { readonly name?: unknown };
  return kind === "Deployment" && typeof name === "string" ? [name] : [];
}
