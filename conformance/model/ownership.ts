/**
 * The model of server-side apply: an object is a map from paths to values, and every path has owners. It knows nothing
 * of types. Whoever uses it says what is one path: a map's key, an element of a list with keys, a whole atomic list.
 * Source: document 1, Updates 3; the observed rules that the requirements of `apply` name.
 */
import type { Violation } from "../client/findings.ts";
import type { Owners } from "./managed-fields.ts";

/** Values by path; an element of a list has a path of its own, with an empty value. */
export type Fields = ReadonlyMap<string, string>;

export interface Owned {
  readonly live: Fields;
  readonly owners: Owners;
}

export const nothingOwned: Owned = { live: new Map(), owners: new Map() };

export interface Conflict {
  readonly owner: string;
  readonly path: string;
}

export interface Applied {
  /** Fields of others that the apply would change; without force it is refused for them. */
  readonly conflicts: readonly Conflict[];
  /** Paths that go because nobody applies them any more. */
  readonly removed: readonly string[];
  /** Paths that the applier now owns together with others. */
  readonly shared: readonly string[];
  /** The state after it, if it is not refused. */
  readonly next: Owned;
}

export function applied(before: Owned, owner: string, configuration: Fields): Applied {
  const others = [...before.owners].filter(([name]) => name !== owner);
  const isChange = (path: string) => configuration.has(path) && configuration.get(path) !== before.live.get(path);
  const conflicts = others.flatMap(([name, paths]) =>
    [...paths].filter(isChange).map((path) => ({ owner: name, path })),
  );
  const removed = [...(before.owners.get(owner) ?? [])].filter(
    (path) => !configuration.has(path) && !others.some(([, paths]) => paths.has(path)),
  );
  const shared = [...configuration.keys()].filter(
    (path) => !isChange(path) && others.some(([, paths]) => paths.has(path)),
  );
  const live = new Map([...before.live, ...configuration]);
  for (const path of removed) live.delete(path);
  const kept = others.map(([name, paths]) => [name, new Set([...paths].filter((path) => !isChange(path)))] as const);
  const owners = new Map([...kept, [owner, new Set(configuration.keys())] as const]);
  return { conflicts, removed, shared, next: { live, owners } };
}

/** Any other write: what it changes it owns alone, what it removes nobody owns, and what it leaves keeps its owners. */
export function updated(before: Owned, owner: string, live: Fields): Owned {
  const changed = [...live].filter(([path, value]) => before.live.get(path) !== value).map(([path]) => path);
  const isTouched = (path: string) => !live.has(path) || changed.includes(path);
  const owners = new Map<string, ReadonlySet<string>>();
  for (const [name, paths] of before.owners) owners.set(name, new Set([...paths].filter((path) => !isTouched(path))));
  owners.set(owner, new Set([...(owners.get(owner) ?? []), ...changed]));
  return { live, owners };
}

/** Whether two states are one; then nothing is written. */
export function isSameState(left: Owned, right: Owned): boolean {
  return stateText(left) === stateText(right);
}

function stateText({ live, owners }: Owned): string {
  const held = [...owners].flatMap(([owner, paths]) => [...paths].map((path) => `${owner} ${path}`));
  return JSON.stringify([[...live].sort(([a], [b]) => (a < b ? -1 : 1)), held.sort()]);
}

export function judgeFields(expected: Fields, actual: Fields): Violation | undefined {
  const known = [expected, actual].map((fields) =>
    [...fields]
      .map(([path, value]) => `${path}=${value}`)
      .sort()
      .join(" "),
  );
  return known[0] === known[1] ? undefined : { expected: known[0] as string, actual: known[1] as string };
}

/** The causes of a refusal name every field in conflict once for each manager that owns it, and nothing else. */
export function judgeConflicts(
  expected: readonly Conflict[],
  causes: readonly { readonly [name: string]: unknown }[],
): Violation | undefined {
  const named = (conflict: Conflict) => `${managerOf(conflict.owner)} ${conflict.path}`;
  const wanted = expected.map(named).sort();
  const told = causes
    .map(({ reason, message, field }) =>
      reason === "FieldManagerConflict"
        ? `${/"([^"]*)"/.exec(String(message))?.[1]} ${String(field)}`
        : `no conflict: ${String(reason)}`,
    )
    .sort();
  if (JSON.stringify(wanted) === JSON.stringify(told)) return undefined;
  return { expected: `a cause for each of: ${wanted.join(", ")}`, actual: told.join(", ") || "no causes" };
}

function managerOf(owner: string): string {
  return owner.split(" ")[0] as string;
}
