import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { structOfKind, type TypeRow } from "../../../wire/schema.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { inTurns } from "../../expressions/pace.ts";
import { seal } from "../seal.ts";
import { mergeTyped } from "./typed-merge.ts";
import { typedOf } from "./typed.ts";

const pod = typedOf(structOfKind("v1", "Pod") as TypeRow);
const merge = (live: Json, config: Json): JsonObject => mergeTyped(pod, seal(live), seal(config)) as JsonObject;

const withContainers = (names: readonly string[]): Json => ({ spec: { containers: names.map((name) => ({ name })) } });
const namesOf = (merged: JsonObject): string[] =>
  (((merged["spec"] as JsonObject)["containers"] ?? []) as readonly { name: string }[]).map(({ name }) => name);

const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f"), { minLength: 1 });
const among = (list: readonly string[], others: readonly string[]): string[] =>
  list.filter((each) => others.includes(each));

describe("the order of a merged list", () => {
  it("is the configuration's among its elements, and the stored one among the others", () => {
    fc.assert(
      fc.property(names, names, (live, config) => {
        const merged = namesOf(merge(withContainers(live), withContainers(config)));
        expect(merged.toSorted()).toEqual([...new Set([...live, ...config])].toSorted());
        expect(among(merged, config)).toEqual(config);
        const others = live.filter((name) => !config.includes(name));
        expect(among(merged, others)).toEqual(others);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it("leaves the stored elements where they are when the configuration has them in their order", () => {
    fc.assert(
      fc.property(names, names, (live, wanted) => {
        const shared = among(live, wanted);
        const merged = namesOf(merge(withContainers(live), withContainers(shared.length > 0 ? shared : live)));
        expect(merged).toEqual(live);
      }),
      { seed: 6, numRuns: 300 },
    );
  });
});

describe("a merge", () => {
  it("is the stored object itself when nothing is new", () => {
    const live = seal({ metadata: { labels: { a: "1" } }, spec: { containers: [{ name: "a", args: ["x"] }] } }) as Json;
    expect(mergeTyped(pod, live, { spec: { containers: [{ name: "a", args: ["x"] }] } })).toBe(live);
    expect(mergeTyped(pod, live, { metadata: { labels: null }, spec: { containers: [] } })).toBe(live);
  });

  it("takes a null for what has no type, but no fields with it", () => {
    const open = typedOf({ ...structOfKind("v1", "ConfigMap"), open: true } as TypeRow);
    expect(mergeTyped(open, { spec: { a: 2, b: { c: 1 } } }, { spec: { a: null, b: null } })).toEqual({
      spec: { a: null, b: { c: 1 } },
    });
  });

  it("replaces atomic values as a whole, and scalars", () => {
    const live = {
      spec: { nodeSelector: { a: "1", b: "1" }, hostname: "x", containers: [{ name: "a", args: ["x", "y"] }] },
    };
    const config = { spec: { nodeSelector: { c: "1" }, hostname: "y", containers: [{ name: "a", args: ["z"] }] } };
    expect(merge(live, config)).toEqual(config);
  });

  it("merges into neither of two stored elements of one key", () => {
    const live = { spec: { containers: [{ name: "a", image: "1" }, { name: "b" }, { name: "a", image: "2" }] } };
    const merged = merge(live, { spec: { containers: [{ name: "a", tty: true }] } });
    expect(merged).toEqual({ spec: { containers: [{ name: "a", tty: true }, { name: "b" }] } });
    expect(merge(live, { spec: { containers: [{ name: "c" }] } })).toEqual({
      spec: { containers: [...live.spec.containers, { name: "c" }] },
    });
  });

  it.each(["__proto__", "constructor"])("has no special key: %s", (key) => {
    const config = JSON.parse(`{"metadata":{"labels":{${JSON.stringify(key)}:"x"}}}`) as JsonObject;
    const merged = merge({ metadata: { labels: { a: "1" } } }, config) as { metadata: { labels: object } };
    expect(Object.entries(merged.metadata.labels)).toEqual([
      ["a", "1"],
      [key, "x"],
    ]);
    expect(Object.getPrototypeOf(merged.metadata.labels)).toBe(Object.prototype);
  });
});

describe("a long list", () => {
  it("is merged in turns", () => {
    const some = (first: number, step: number): Json =>
      withContainers(Array.from({ length: 6_000 }, (_, at) => `c${first + at * step}`));
    const [live, config] = [seal(some(0, 1)), seal(some(1_000, 2))];
    const turns = inTurns(() => mergeTyped(pod, live, config));
    let count = 1;
    let step = turns.next();
    for (; step.done !== true; step = turns.next()) count++;
    expect(count).toBeGreaterThanOrEqual(5);
    const names = namesOf(step.value as JsonObject);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(namesOf(merge(live, config)));
    expect(names).toHaveLength(9_500);
  });

  it("is merged in turns by what its elements hold, also where they are few", () => {
    const args = Array.from({ length: 100 }, (_, at) => `a${at}`);
    const containers = (more: object): Json =>
      seal({ spec: { containers: Array.from({ length: 2_000 }, (_, at) => ({ name: `c${at}`, args, ...more })) } });
    const turns = inTurns(() => mergeTyped(pod, containers({}), containers({ image: "i" })));
    let count = 1;
    let step = turns.next();
    for (; step.done !== true; step = turns.next()) count++;
    expect(count).toBeGreaterThanOrEqual(3);
    expect(step.value).toEqual(containers({ image: "i" }));
  });

  it("of texts is merged as a short one", () => {
    const set = (texts: readonly string[]): Json => ({ metadata: { finalizers: texts } });
    const merged = merge(set(["a/1", "a/2", "a/3"]), set(["a/3", "a/4", "a/1"])) as {
      readonly metadata: { readonly finalizers: readonly string[] };
    };
    expect(merged.metadata.finalizers.toSorted()).toEqual(["a/1", "a/2", "a/3", "a/4"]);
  });
});
