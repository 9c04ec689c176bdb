import { describe, expect, it } from "vitest";
import {
  bodyValuesMax,
  hasMoreValues,
  isLargeObject,
  noteLarge,
  requireFewInJson,
  requireFewOwned,
  requireFewValues,
  valuesMax,
} from "./value-limit.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** What may be and what may not, by one value. */
const shapes: Readonly<Record<string, (count: number) => unknown>> = {
  items: (count) => times(count, () => 1),
  members: (count) => Object.fromEntries(times(count, (at) => [`k${at}`, ""])),
  "empty objects": (count) => times(count, () => ({})),
  "small lists": (count) => [...times(count / 5, () => [1, [], 'a,"{', null]), ...times(count % 5, () => 1)],
  texts: (count) => times(count, () => ',[{"\\'),
  depth: nested,
};

describe("the limit of values", () => {
  it.each(Object.keys(shapes))("of %s is exact in a text and in what was read from it", (name) => {
    for (const [max, isRefused] of [
      [0, false],
      [1, true],
    ] as const) {
      const made = (count: number): unknown => shapes[name]?.(count + max);
      const text =
        name === "depth"
          ? `${"[".repeat(bodyValuesMax + max)}1${"]".repeat(bodyValuesMax + max)}`
          : JSON.stringify(made(bodyValuesMax));
      const spaced = text.replaceAll("[]", "[ \n]").replaceAll("{}", "{\t}");
      for (const body of [text, spaced]) {
        const read = (): void => requireFewInJson(bytes(body));
        if (isRefused) expect(read).toThrow("Request entity too large: the limit of values in one body is 300000");
        else expect(read).not.toThrow();
      }
      const judge = (): void => requireFewValues(made(valuesMax));
      if (isRefused) expect(judge).toThrow("Request entity too large: the limit of values in one object is 100000");
      else expect(judge).not.toThrow();
    }
  });

  it("leaves out who owns the fields, who have a limit of their own", () => {
    const managedFields = times(bodyValuesMax, () => 1);
    const metadata = (count: number) => ({ metadata: { managedFields, a: times(count, () => 1) } });
    expect(() => requireFewValues(metadata(valuesMax - 3))).not.toThrow();
    expect(() => requireFewValues(metadata(valuesMax - 2))).toThrow("one object");
    expect(() => requireFewOwned(managedFields)).not.toThrow();
    expect(() => requireFewOwned([...managedFields, 1])).toThrow("owned fields is 300000");
  });

  it("does not mind bytes: three megabytes of one text pass", () => {
    expect(() => requireFewInJson(bytes(JSON.stringify({ a: ",[{".repeat(1_000_000) })))).not.toThrow();
  });

  it("leaves what is no JSON to its reader", () => {
    for (const text of [`"${"a".repeat(700_000)}`, "a".repeat(700_000), `"${"\\".repeat(700_001)}`]) {
      expect(() => requireFewInJson(bytes(text))).not.toThrow();
    }
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

it("an object of many values is remembered as large, a small one is not", () => {
  const [large, small] = [{ data: times(4_001, () => 1) }, { data: times(3_999, () => 1) }];
  noteLarge(large);
  noteLarge(small);
  expect([isLargeObject(large), isLargeObject(small), isLargeObject({ ...large })]).toEqual([true, false, false]);
  expect(hasMoreValues("a", 0)).toBe(false);
});

it("a part that was counted and is large is not counted again", () => {
  let listed = 0;
  const ownKeys = (target: object): (string | symbol)[] => {
    listed++;
    return Reflect.ownKeys(target);
  };
  const labels = new Proxy(Object.fromEntries(times(5_000, (at) => [`k${at}`, ""])), { ownKeys });
  requireFewValues({ metadata: { name: "a", labels } });
  const before = listed;
  const stored = { metadata: { name: "a", uid: "u", labels } };
  noteLarge(stored);
  expect([before, listed - before, isLargeObject(stored)]).toEqual([1, 0, true]);
});
