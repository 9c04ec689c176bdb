import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { trackManagedFields } from "../managed-fields.ts";
import { endpoint } from "../objects.fixture.ts";
import { seal } from "../seal.ts";
import { type Draft, type ManagedFieldsEntry, metadataOf } from "../../contract/objects.ts";
import { drained } from "../../../wire/steps.ts";
import { applySteps } from "./apply.ts";
import { ApplyConflict } from "./conflicts.ts";

/**
 * A naive model of a part of a pod, with the rules of each field by heart and nothing from the code under test: an
 * object is a set of paths with values, ownership a set of paths for each manager.
 */
type Paths = ReadonlyMap<string, string>;

interface Parts {
  readonly labels: Readonly<Record<string, string>>; // a map: an owner for each key
  readonly finalizers: readonly string[]; // a set: an owner for each element
  readonly nodeSelector?: Readonly<Record<string, string>>; // one value
  readonly hostname?: string;
  readonly containers: Readonly<Record<string, Container>>; // a list with keys
}

interface Container {
  readonly image?: string;
  readonly args?: readonly string[]; // one value
}

function pathsOf(parts: Parts): Paths {
  const paths = new Map<string, string>();
  for (const [key, value] of Object.entries(parts.labels)) paths.set(`metadata/labels/${key}`, value);
  for (const each of parts.finalizers) paths.set(`metadata/finalizers/${each}`, "");
  if (parts.nodeSelector !== undefined)
    paths.set(
      "spec/nodeSelector",
      JSON.stringify(Object.entries(parts.nodeSelector).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
  if (parts.hostname !== undefined) paths.set("spec/hostname", parts.hostname);
  for (const [name, { image, args }] of Object.entries(parts.containers)) {
    paths.set(`spec/containers/${name}`, "");
    paths.set(`spec/containers/${name}/name`, name);
    if (image !== undefined) paths.set(`spec/containers/${name}/image`, image);
    if (args !== undefined) paths.set(`spec/containers/${name}/args`, JSON.stringify(args));
  }
  return paths;
}

function objectOf(parts: Parts): JsonObject {
  const { labels, finalizers, nodeSelector, hostname, containers } = parts;
  const list = Object.entries(containers).map(([name, rest]) => ({ name, ...rest }));
  const spec = {
    ...(list.length > 0 && { containers: list as unknown as Json }),
    ...(nodeSelector !== undefined && { nodeSelector }),
    ...(hostname !== undefined && { hostname }),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(finalizers.length > 0 && { finalizers }),
    },
    ...(Object.keys(spec).length > 0 && { spec: spec as JsonObject }),
  };
}

function partsOf(object: JsonObject): Parts {
  const { labels = {}, finalizers = [] } = metadataOf(object);
  const spec = object["spec"] as unknown as { containers?: ({ name: string } & Container)[] } & Parts;
  return {
    labels,
    finalizers,
    ...(spec.nodeSelector != null && { nodeSelector: spec.nodeSelector }),
    ...(spec.hostname != null && { hostname: spec.hostname }),
    containers: Object.fromEntries((spec.containers ?? []).map(({ name, ...rest }) => [name, rest])),
  };
}

class Model {
  values: Paths;
  readonly owners = new Map<string, ReadonlySet<string>>();

  constructor(values: Paths) {
    this.values = values;
    this.owners.set("Update creator", new Set(values.keys()));
  }

  update(manager: string, after: Paths): void {
    const { changed, removed } = this.difference(after);
    for (const [owner, owned] of this.owners) this.own(owner, without(without(owned, changed), removed));
    const key = `Update ${manager}`;
    this.own(key, new Set([...(this.owners.get(key) ?? []), ...changed]));
    this.values = after;
  }

  /** The owners in the way; empty when the configuration went through. */
  apply(manager: string, config: Paths, force: boolean): string[] {
    const key = `Apply ${manager}`;
    const last = this.owners.get(key) ?? new Set<string>();
    const others = [...this.owners].filter(([owner]) => owner !== key);
    const isOthers = (path: string): boolean => others.some(([, owned]) => owned.has(path));
    const gone = [...last].filter((path) => !config.has(path) && !isOthers(path));
    const after = new Map([...this.values, ...config]);
    for (const path of after.keys())
      if (gone.some((other) => path === other || path.startsWith(`${other}/`))) after.delete(path);
    const { changed, removed } = this.difference(after);
    const conflicts = others
      .filter(([, owned]) => [...owned].some((path) => changed.has(path)))
      .map(([owner]) => owner);
    if (conflicts.length > 0 && !force) return conflicts;
    for (const [owner, owned] of others) this.own(owner, without(without(owned, changed), removed));
    this.own(key, new Set(config.keys()));
    this.values = after;
    return [];
  }

  private difference(after: Paths): { readonly changed: ReadonlySet<string>; readonly removed: ReadonlySet<string> } {
    return {
      changed: new Set([...after].filter(([path, value]) => this.values.get(path) !== value).map(([path]) => path)),
      removed: new Set([...this.values.keys()].filter((path) => !after.has(path))),
    };
  }

  private own(owner: string, owned: ReadonlySet<string>): void {
    if (owned.size === 0) this.owners.delete(owner);
    else this.owners.set(owner, owned);
  }
}

const without = (paths: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...paths].filter((path) => !others.has(path)));

/** Owned paths in the model's words. Maps and lists themselves are left out: the model does not have them. */
function ownersOf(entries: readonly ManagedFieldsEntry[]): Map<string, ReadonlySet<string>> {
  return new Map(
    entries.map((entry) => {
      const paths = flat(entry.fieldsV1 as JsonObject, []).filter((path) => !containers.has(path));
      return [`${entry.operation} ${entry.manager}`, new Set(paths)] as const;
    }),
  );
}

const containers = new Set(["metadata/labels", "metadata/finalizers", "spec", "spec/containers"]);

function flat(set: JsonObject, above: readonly string[]): string[] {
  const steps = Object.keys(set);
  const own = above.length > 0 && (steps.length === 0 || steps.includes(".")) ? [above.join("/")] : [];
  return [
    ...own,
    ...steps.filter((step) => step !== ".").flatMap((step) => flat(set[step] as JsonObject, [...above, word(step)])),
  ];
}

function word(step: string): string {
  if (step.startsWith("f:")) return step.slice(2);
  const value = JSON.parse(step.slice(2)) as string | { name: string };
  return typeof value === "string" ? value : value.name;
}

const key = fc.constantFrom("a", "b", "c");
const value = fc.constantFrom("1", "2", "3");
const anyParts: fc.Arbitrary<Parts> = fc.record(
  {
    labels: fc.dictionary(key, value, { maxKeys: 3 }),
    finalizers: fc.uniqueArray(key, { maxLength: 3 }),
    nodeSelector: fc.dictionary(key, value, { minKeys: 1, maxKeys: 2 }),
    hostname: value,
    containers: fc.dictionary(
      key,
      fc.record({ image: value, args: fc.array(value, { minLength: 1, maxLength: 2 }) }, { requiredKeys: [] }),
      { maxKeys: 3 },
    ),
  },
  { requiredKeys: ["labels", "finalizers", "containers"] },
);

const anyStep = fc.record({
  manager: fc.constantFrom("x", "y", "z"),
  kind: fc.constantFrom("apply", "apply", "force", "update"),
  parts: anyParts,
});

/** What is always there, and what nobody but its creator touches: no map or list is ever empty. */
const base: Parts = { labels: { base: "1" }, finalizers: ["base"], containers: { base: { image: "1" } } };
const withBase = (parts: Parts): Parts => ({
  ...parts,
  labels: { ...base.labels, ...parts.labels },
  finalizers: [...base.finalizers, ...parts.finalizers],
  containers: { ...base.containers, ...parts.containers },
});

const { strategy } = endpoint("v1/pods");
const options = (manager: string, force: boolean) => ({ manager, force, apiVersion: "v1", subresource: "", now: "t" });

function withOwners(object: JsonObject, managedFields: readonly ManagedFieldsEntry[]): JsonObject {
  const metadata = { ...metadataOf(object), managedFields } as unknown as JsonObject;
  return seal({ ...object, metadata });
}

function created(): JsonObject {
  const draft = { ...objectOf(base) } as Draft;
  trackManagedFields(draft, undefined, strategy, options("creator", false));
  return seal(draft as JsonObject);
}

function updated(live: JsonObject, parts: Parts, manager: string): JsonObject {
  const draft = { ...objectOf(withBase(parts)) } as Draft;
  trackManagedFields(draft, live, strategy, options(manager, false));
  return seal(draft as JsonObject);
}

/** The owners in the way, or the new object. */
function applied(live: JsonObject, parts: Parts, manager: string, force: boolean): JsonObject | string[] {
  try {
    const { object, managedFields } = drained(
      applySteps(live, seal(objectOf(parts)), strategy, options(manager, force)),
    );
    return withOwners(object, managedFields);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    return error.conflicts.map(({ entry }) => `${entry.operation} ${entry.manager}`);
  }
}

describe("appliers and updaters at random, against the model", () => {
  it("leave the model's object and owners, and meet the model's conflicts", () => {
    let conflictCount = 0;
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 12 }), (steps) => {
        const model = new Model(pathsOf(base));
        let live = created();
        for (const { manager, kind, parts } of steps) {
          if (kind === "update") {
            model.update(manager, pathsOf(withBase(parts)));
            live = updated(live, parts, manager);
          } else {
            const expected = model.apply(manager, pathsOf(parts), kind === "force");
            const outcome = applied(live, parts, manager, kind === "force");
            if (Array.isArray(outcome)) {
              conflictCount++;
              expect(outcome.toSorted()).toEqual(expected.toSorted());
            } else {
              expect(expected).toEqual([]);
              live = outcome as JsonObject;
            }
          }
          expect(Object.fromEntries(pathsOf(partsOf(live)))).toEqual(Object.fromEntries(model.values));
          expect(ownersOf(metadataOf(live).managedFields ?? [])).toEqual(model.owners);
        }
      }),
      { seed: 11, numRuns: 600 },
    );
    expect(conflictCount).toBeGreaterThan(200);
  });

  it("change nothing by applying again", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 6 }), anyParts, (steps, last) => {
        let live = created();
        for (const { manager, kind, parts } of steps) {
          live =
            kind === "update" ? updated(live, parts, manager) : (applied(live, parts, manager, true) as JsonObject);
        }
        live = applied(live, last, "x", true) as JsonObject;
        const { object, managedFields } = drained(
          applySteps(live, objectOf(last), strategy, {
            ...options("x", false),
            now: "later",
          }),
        );
        expect(object).toBe(live);
        expect(managedFields).toEqual(metadataOf(live).managedFields);
      }),
      { seed: 12, numRuns: 250 },
    );
  });
});
