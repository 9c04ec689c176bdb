import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../contract/http-message.ts";
import { digestOf, digestParts, knownBytesOf, partsOf } from "./digest.ts";
import { jsonEqual } from "./equality.ts";
import { seal } from "./seal.ts";

const value = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });
const shuffled = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(shuffled);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
};

describe("a digest", () => {
  it("does not depend on the order of keys, nor on what was asked before", () => {
    fc.assert(
      fc.property(value, (json) => {
        const plain = digestOf(json as Json);
        expect(Number.isSafeInteger(plain) && plain >= 0).toBe(true);
        expect(digestOf(shuffled(json) as Json)).toBe(plain);
        const sealed = seal(structuredClone(json)) as Json;
        expect([digestOf(sealed), digestOf(sealed)]).toEqual([plain, plain]);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it("does not depend on what was there before, be it shared, alike or another", () => {
    fc.assert(
      fc.property(value, value, value, (json, kept, other) => {
        const shared = seal(structuredClone(kept)) as Json;
        const now = { json, shared, list: [shared, json] } as Json;
        const plain = digestOf(structuredClone(now));
        const befores = [now, other, { shared, list: [shared] }, { json: kept, shared: json, list: other }, [shared]];
        for (const before of befores) expect(digestOf(now, before as Json)).toBe(plain);
        expect(digestOf(seal(now), { shared, list: [shared] })).toBe(plain);
        expect(digestOf(now, now)).toBe(plain);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it("of an object whose parts were digested before reads none of their members again, metadata's too", () => {
    let reads = 0;
    const counted = (): Json => {
      const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, "v"]));
      const get = (target: Record<string, string>, key: string): unknown => {
        reads++;
        return target[key];
      };
      return new Proxy(Object.freeze(members), { get } as ProxyHandler<object>) as unknown as Json;
    };
    const [labels, data] = [counted(), counted()];
    const object = { metadata: { name: "a", labels }, data } as const;
    for (const _ of digestParts(object));
    const before = reads;
    expect(before).toBeGreaterThanOrEqual(2_000);
    digestOf({ ...object, metadata: { ...object.metadata, uid: "u" } } as Json, partsOf(object));
    expect(reads).toBe(before);
  });

  it("of parts stops between what several managers own, and finds it again", () => {
    const owned = (manager: number): Json =>
      seal({
        manager: `m${manager}`,
        fieldsV1: { "f:data": Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`f:k${at}`, {}])) },
      } as Json);
    const managedFields = seal([owned(1), owned(2), owned(3)] as Json);
    const object = { metadata: { name: "a", managedFields } } as const;
    expect([...digestParts(object)].length).toBeGreaterThanOrEqual(3);
    expect(digestOf({ ...object } as Json, partsOf(object))).toBe(digestOf(structuredClone(object) as Json));
  });

  it("of parts stops within what is wide, and is the same", () => {
    const many = <Value>(count: number, make: (at: number) => Value): Record<string, Value> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, make(at)]));
    const wides = [
      many(60_000, () => "AAAA"),
      many(300, (at) => many(at < 5 ? 5_000 : 3, () => ({}))),
      Object.values(many(60_000, (at) => at)),
      Object.values(many(300, (at) => ({ name: `n${at}`, args: Object.values(many(at < 5 ? 5_000 : 3, String)) }))),
      { ...many(40_000, () => "v"), __proto__x: [many(300, String), {}, []] },
    ];
    for (const wide of wides) {
      const object = { metadata: { name: "a" }, wide: seal(wide as unknown as Json) } as unknown as { wide: Json };
      expect([...digestParts(object as never)].length).toBeGreaterThanOrEqual(2);
      expect(digestOf(object as never, partsOf(object as never))).toBe(digestOf(structuredClone(object) as never));
    }
  });

  it("differs where values differ", () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(digestOf(left as Json) === digestOf(right as Json)).toBe(jsonEqual(left as Json, right as Json));
      }),
      { seed: 6, numRuns: 2000 },
    );
    const alike: Json[] = ["", "1", 1, [1], [[1]], { 1: 1 }, [], {}, null, "null", true, "true", [1, 2], [2, 1]];
    alike.push(
      { a: 1, b: 2 },
      { a: 2, b: 1 },
      { a: { b: 1 } },
      { b: { a: 1 } },
      { a: [] },
      { a: {} },
      ["ab"],
      ["a", "b"],
    );
    expect(new Set(alike.map(digestOf)).size).toBe(alike.length);
  });

  it("has 53 bits that all vary: no two of 100,000 small objects meet", () => {
    const seen = new Set<number>();
    for (let at = 0; at < 100_000; at++)
      seen.add(digestOf({ name: `config-${at % 317}`, value: Math.floor(at / 317) }));
    expect(seen.size).toBe(100_000);
  });
});

it("the bytes of what is large, frozen and digested are known, and exact", () => {
  const large = Object.freeze({ list: Array.from({ length: 2_000 }, (_, at) => ({ [`k${at}`]: `"ü\n${at}` })) });
  expect(knownBytesOf(large)).toBeUndefined();
  digestOf(large);
  expect(knownBytesOf(large)).toBe(Buffer.byteLength(JSON.stringify(large)));
  const open = { ...large };
  digestOf(open);
  expect(knownBytesOf(open)).toBeUndefined(); // may change yet
  expect(knownBytesOf(Object.freeze(open))).toBe(knownBytesOf(large));
});
