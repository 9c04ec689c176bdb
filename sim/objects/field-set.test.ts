import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../contract/http-message.ts";
import {
  exclude,
  type FieldSet,
  intersect,
  leaf,
  makeNode,
  readFieldSet,
  stepCountOf,
  subtract,
  unite,
  uniteAll,
} from "./field-set.ts";

const step = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'v:"y"');
const paths = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 });

/** The naive model: a set of joined paths. */
type Model = ReadonlySet<string>;
const modelOf = (list: readonly (readonly string[])[]): Model => new Set(list.map((path) => path.join("|")));

function setOf(model: Model): FieldSet | undefined {
  const lists = [...model].map((path) => (path === "" ? [] : path.split("|")));
  return build(lists);
}

function build(lists: readonly (readonly string[])[]): FieldSet | undefined {
  const self = lists.some((path) => path.length === 0);
  const heads = [...new Set(lists.flatMap((path) => path.slice(0, 1)))];
  const nodes = heads.map((head) => build(lists.filter((path) => path[0] === head).map((path) => path.slice(1))));
  return makeNode(self, heads, nodes as FieldSet[]);
}

function pathsOf(set: FieldSet | undefined, prefix: readonly string[] = []): string[] {
  if (set === undefined) return [];
  const steps = Object.keys(set);
  const own = prefix.length > 0 && (steps.length === 0 || steps.includes(".")) ? [prefix.join("|")] : [];
  return [...own, ...steps.filter((name) => name !== ".").flatMap((name) => pathsOf(set[name], [...prefix, name]))];
}

describe("against sets of paths", () => {
  it("intersect and exclude", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [modelOf(left), modelOf(right)];
        expect(new Set(pathsOf(intersect(setOf(a), setOf(b))))).toEqual(new Set([...a].filter((path) => b.has(path))));
        const isBelow = (path: string): boolean => [...b].some((other) => `${path}|`.startsWith(`${other}|`));
        expect(new Set(pathsOf(exclude(setOf(a), setOf(b))))).toEqual(new Set([...a].filter((path) => !isBelow(path))));
      }),
      { seed: 4, numRuns: 500 },
    );
  });

  it("unite and subtract", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [modelOf(left), modelOf(right)];
        expect(new Set(pathsOf(unite(setOf(a), setOf(b))))).toEqual(new Set([...a, ...b]));
        expect(new Set(pathsOf(subtract(setOf(a), setOf(b))))).toEqual(new Set([...a].filter((path) => !b.has(path))));
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it("unite and subtract nodes of many leaves", () => {
    const some = fc.record({
      first: fc.integer({ min: 0, max: 3 }),
      count: fc.constantFrom(0, 1, 2, 1_100, 1_200),
      more: fc.array(fc.tuple(fc.constantFrom("f:k1", "f:k2", "f:z"), step), { maxLength: 2 }),
      self: fc.boolean(),
    });
    const pathsIn = ({
      first,
      count,
      more,
      self,
    }: {
      first: number;
      count: number;
      more: string[][];
      self: boolean;
    }) => [
      ...Array.from({ length: count }, (_, at) => ["f:m", `f:k${first + at}`]),
      ...more.map((path) => ["f:m", ...path]),
      ...(self ? [["f:m"]] : []),
    ];
    const set = (model: Model): FieldSet | undefined => {
      const below = [...model].filter((path) => path !== "f:m").map((path) => path.split("|").slice(1));
      const heads = new Map<string, string[][]>();
      for (const [head = "", ...rest] of below) heads.set(head, [...(heads.get(head) ?? []), rest]);
      const nodes = [...heads.values()].map((lists) => build(lists) as FieldSet);
      const inner = makeNode(model.has("f:m"), [...heads.keys()], nodes);
      return inner === undefined ? undefined : makeNode(false, ["f:m"], [inner]);
    };
    fc.assert(
      fc.property(some, some, (left, right) => {
        const [a, b] = [modelOf(pathsIn(left)), modelOf(pathsIn(right))];
        const sorted = (paths: Iterable<string>): string[] => [...paths].sort();
        expect(sorted(pathsOf(unite(set(a), set(b))))).toEqual(sorted(new Set([...a, ...b])));
        expect(sorted(pathsOf(subtract(set(a), set(b))))).toEqual(sorted([...a].filter((path) => !b.has(path))));
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it("unite many as one after another, and know how many steps they have", () => {
    fc.assert(
      fc.property(fc.array(paths, { minLength: 1, maxLength: 6 }), (lists) => {
        const sets = lists.map((list) => setOf(modelOf(list)) ?? leaf);
        expect(uniteAll(sets)).toBe(sets.reduce((left, right) => unite(left, right) as FieldSet));
        const steps = (set: FieldSet): number => Object.values(set).reduce((sum, node) => sum + 1 + steps(node), 0);
        expect(sets.map(stepCountOf)).toEqual(sets.map(steps));
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it("equal sets are one frozen object, however they came about", () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(modelOf(list));
        expect(setOf(modelOf([...list].reverse()))).toBe(set);
        if (set === undefined) return;
        expect(readFieldSet(JSON.parse(JSON.stringify(set)) as Json)).toBe(set);
        expect(Object.isFrozen(set)).toBe(true);
        expect(Object.keys(set)).toEqual([...Object.keys(set)].sort());
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});

describe("many leaves", () => {
  const steps = Array.from({ length: 1500 }, (_, index) => `f:${String(index).padStart(5, "0")}`);
  const ofMany = (self: boolean, names: readonly string[]) =>
    makeNode(
      self,
      [...names],
      names.map(() => leaf),
    );

  it("are one object, in whatever order they came, and others when one differs", () => {
    const node = ofMany(false, steps);
    expect(Object.keys(node as object)).toEqual(steps);
    expect(ofMany(false, steps.toReversed())).toBe(node);
    expect(Object.isFrozen(node)).toBe(true);
    for (const other of [ofMany(true, steps), ofMany(false, steps.slice(1)), ofMany(false, [...steps.slice(1), "f:x"])])
      expect(other).not.toEqual(node);
    // Two names are not one with what could stand between them.
    expect(ofMany(false, [...steps, "f:a\0f:b", "f:c"])).not.toEqual(ofMany(false, [...steps, "f:a", "f:b\0f:c"]));
  });
});

describe("reading", () => {
  it("takes what is a set", () => {
    expect(readFieldSet({ "f:data": { ".": {}, "f:k": {} } })).toEqual({ "f:data": { ".": {}, "f:k": {} } });
    expect(readFieldSet({})).toBe(leaf);
  });

  it.each<[Json]>([[null], ["f:a"], [[]], [{ a: {} }], [{ "f:a": 1 }], [{ "f:a": { "k:x": {} } }]])(
    "refuses %j",
    (value) => {
      expect(readFieldSet(value)).toBeUndefined();
    },
  );
});

it("puts a long list in order by few moves, and of children under one step the last stands", () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `v:${5_000 - at}`);
  const last = makeNode(true, ["f:x"], [leaf]) as FieldSet;
  let moves = 0;
  const steps = new Proxy([...names, "v:4000"], {
    set(target, at, value) {
      moves++;
      return Reflect.set(target, at, value);
    },
  });
  const node = makeNode(false, steps, [...names.map(() => leaf), last]) as FieldSet;
  expect(Object.keys(node)).toEqual([...names].sort());
  expect(node["v:4000"]).toBe(last);
  expect(moves).toBeLessThan(5_000);
});
