/** What judging costs: counted in looks at the nodes of a schema, never in time. */
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { type Answer, TestBed } from "../../apiserver/test-bed.fixture.ts";
import { readSchema, type Schema, schemaReader } from "./schema.ts";
import { newShaping, shapeObject } from "./shape-value.ts";
import { inTurns } from "../../expressions/pace.ts";
import type { Cause } from "../../contract/errors.ts";
import { seal } from "../../objects/seal.ts";
import { schemaCauses } from "./schema-rules.ts";
import { validateListTypes, validateValue } from "./validate-value.ts";

const prefix = "x-kubernetes-";
const read = (raw: unknown): Schema => readSchema(raw as JsonObject, prefix);
const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** `schema` with all below it; `seen` is told of each node that somebody asks for its type, and so judges by. */
function counted(schema: Schema, seen: () => void): Schema {
  const inner = (below: Schema): Schema => counted(below, seen);
  const { properties, additional, items, allOf, anyOf, oneOf, not, type } = schema;
  return {
    ...schema,
    get type() {
      seen();
      return type;
    },
    properties: new Map([...properties].map(([name, below]) => [name, inner(below)])),
    additional: typeof additional === "object" ? inner(additional) : additional,
    items: items && inner(items),
    allOf: allOf.map(inner),
    anyOf: anyOf.map(inner),
    oneOf: oneOf.map(inner),
    not: not && inner(not),
  };
}

function looksFor(value: Json, raw: unknown): number {
  let looks = 0;
  validateValue(
    value,
    counted(read(raw), () => looks++),
  );
  return looks;
}

describe("judging a value", () => {
  const nest = (depth: number, around: (inner: unknown) => unknown): unknown =>
    depth === 0 ? { maximum: 5 } : around(nest(depth - 1, around));

  it.each([
    ["anyOf", (inner: unknown) => ({ anyOf: [inner, { minimum: 3 }] }), 2],
    ["oneOf", (inner: unknown) => ({ oneOf: [inner, { minimum: 3 }] }), 2],
    ["allOf", (inner: unknown) => ({ allOf: [inner, { minimum: 3 }] }), 2],
    ["not", (inner: unknown) => ({ not: inner }), 1],
    ["all of them", (inner: unknown) => ({ anyOf: [{ oneOf: [{ allOf: [{ not: inner }] }] }] }), 4],
  ])("looks once at each node of a nest of %s, however deep", (_, around, each) => {
    for (const depth of [1, 10, 100]) {
      for (const value of [1, 9]) {
        expect(looksFor(value, { type: "integer", ...(nest(depth, around) as object) })).toBeLessThanOrEqual(
          1 + depth * each,
        );
      }
    }
  });

  it.each([
    ["anyOf", { anyOf: times(1_000, () => ({ items: { minimum: 5 } })) }],
    ["oneOf", { oneOf: times(1_000, () => ({ items: { minimum: 0 } })) }],
    ["allOf", { allOf: times(1_000, () => ({ items: { minimum: 0 } })) }],
    ["not", { allOf: times(1_000, () => ({ not: { items: { minimum: 5 } } })) }],
  ])("counts the items that each schema of %s looks at, and refuses what takes too many", (_, junction) => {
    const value = times(50_000, () => 1);
    expect(looksFor(value, { type: "array", items: { type: "integer" }, ...junction })).toBeLessThan(500_000);
    const causes = validateValue(value, read({ type: "array", items: { type: "integer" }, ...junction }));
    expect(causes.some(({ message }) => message.includes("comparisons with alternatives"))).toBe(true);
  });

  it("stops when enough is told: no answer is thousands of times as long as its request", () => {
    const items = { type: "integer", enum: times(10_000, (at) => at) };
    const causes = validateValue(
      times(10_000, () => -1),
      read({ type: "array", items }),
    );
    const characters = causes.reduce((sum, { message }) => sum + message.length, 0);
    expect(causes.length).toBeGreaterThan(10);
    expect(characters).toBeLessThan(5_000_000);
    const twice = validateListTypes(
      times(500_000, () => 1),
      read({ type: "array", [`${prefix}list-type`]: "set" }),
    );
    expect(twice.length).toBeGreaterThan(10_000);
    expect(twice.length).toBeLessThan(499_999);
  });

  it("shapes as many nodes as the value and the defaults have", () => {
    let schema: unknown = { type: "string", default: "x" };
    for (let depth = 0; depth < 100; depth++) schema = { type: "object", properties: { a: schema }, default: {} };
    const shaped = shapeObject({}, read(schema), newShaping());
    expect(JSON.stringify(shaped)).toBe(`${'{"a":'.repeat(100)}"x"${"}".repeat(100)}`);
  });
});

it("a reader reads no schema twice", () => {
  const inner = { type: "string", pattern: "^a" };
  const reader = schemaReader(prefix);
  const outer = reader({ type: "object", properties: { a: inner } } as unknown as JsonObject);
  expect(outer.properties.get("a")).toBe(reader(inner as JsonObject));
});

/** How many turns a judgement takes that costs more than one, and what it comes to; the same at once. */
function judgedInTurns<Result>(
  judge: () => Result,
  meanwhile: (turnCount: number) => void = () => {},
): { readonly turnCount: number; readonly result: Result } {
  const turns = inTurns(judge);
  for (let turnCount = 1; ; turnCount++) {
    const { done, value } = turns.next();
    if (done === true) return { turnCount, result: value };
    meanwhile(turnCount);
  }
}

/** Lists of lists down to the integers, or maps of maps: as many of each, so that no level is long. */
const nested = (width: number, depth: number, isMap: boolean): Json => {
  if (depth === 0) return 1;
  const parts = times(width, () => nested(width, depth - 1, isMap));
  return isMap ? Object.fromEntries(parts.map((part, at) => [`k${at}`, part])) : parts;
};
const schemaOfNested = (depth: number, isMap: boolean): unknown => {
  if (depth === 0) return { type: "integer", minimum: 2 };
  const inner = schemaOfNested(depth - 1, isMap);
  return isMap ? { type: "object", additionalProperties: inner } : { type: "array", items: inner };
};

describe("a large value is judged in turns", () => {
  it.each([
    ["a list", 65_536, 1, false],
    ["a map", 65_536, 1, true],
    ["lists of lists", 40, 3, false],
    ["maps of maps", 40, 3, true],
    ["lists of two lists", 2, 16, false],
  ])("of the same length: %s", (_, width, depth, isMap) => {
    const value = nested(width, depth, isMap);
    const schema = read(schemaOfNested(depth, isMap));
    const causes = validateValue(value, schema);
    expect(causes.length).toBeGreaterThan(5_000);
    const { turnCount, result } = judgedInTurns(() => validateValue(value, schema));
    expect(result).toEqual(causes);
    expect(turnCount).toBeGreaterThan(1);
    // What is fit is looked at whole.
    const fit = read(JSON.parse(JSON.stringify(schemaOfNested(depth, isMap)).replace(`"minimum":2`, `"minimum":1`)));
    expect(judgedInTurns(() => validateValue(value, fit))).toEqual({ turnCount: expect.toSatisfy(isMany), result: [] });
  });
  const isMany = (count: number): boolean => count >= 3;

  it.each(["set", "map"])("for elements that are there before: a %s", (listType) => {
    const keys = listType === "map" ? { [`${prefix}list-map-keys`]: ["k"] } : {};
    const schema = read({ type: "array", [`${prefix}list-type`]: listType, ...keys, items: {} });
    const value = times(40_000, (at) => (listType === "map" ? { k: at >> 1 } : at >> 1)) as Json;
    const causes = validateListTypes(value, schema);
    expect(causes.length).toBeGreaterThan(10_000);
    const { turnCount, result } = judgedInTurns(() => validateListTypes(value, schema));
    expect([result, turnCount > 2]).toEqual([causes, true]);
  });

  it("as its schema is, with its rules", () => {
    const raw = (count: number, rule: string) => ({
      type: "object",
      properties: Object.fromEntries(
        times(count, (at) => [`k${at}`, { type: "integer", [`${prefix}validations`]: [{ rule }] }]),
      ),
    });
    const judge = (schema: unknown) => (): Cause[] => {
      const causes: Cause[] = [];
      schemaCauses(schema as JsonObject, "schema", prefix, causes);
      return causes;
    };
    for (const [rule, count] of [
      ["self > 1", 0],
      ["self > ", 10_000],
    ] as const) {
      const causes = judge(raw(10_000, rule))();
      expect(causes.length).toBe(count);
      const { turnCount, result } = judgedInTurns(judge(raw(10_000, rule)));
      expect([result, turnCount > 5]).toEqual([causes, true]);
    }
    // Each turn of the judgement in which somebody else may read the stored schema, and so remember it for all.
    const stored = (): JsonObject => seal(raw(3_000, "self >")) as unknown as JsonObject;
    const { turnCount, result } = judgedInTurns(judge(stored()));
    expect(result).toHaveLength(3_000);
    for (let readAt = 1; readAt < turnCount; readAt++) {
      const schema = stored();
      const judged = judgedInTurns(judge(schema), (count) => {
        if (count === readAt) readSchema(schema, prefix);
      });
      expect(judged.result, `read after turn ${readAt}`).toEqual(result);
    }
    const plain = { type: "object", properties: Object.fromEntries(times(40_000, (at) => [`k${at}`, { type: "a" }])) };
    expect(judgedInTurns(judge(plain)).turnCount).toBeGreaterThan(2);
  });
});

it("a schema that stands in several places is judged in turns as at once", () => {
  const rules = { [`${prefix}validations`]: [{ rule: "size(self) < 5" }] };
  const fields = (made: (at: number) => unknown, count = 300) =>
    Object.fromEntries(times(count, (at) => [`k${at}`, made(at)]));
  const texts = fields(() => ({ type: "string", maxLength: 9, ...rules }));
  const shared = { type: "object", ...rules, properties: texts };
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", ...rules, properties: fields((at) => (at % 2 ? shared : { type: "a" }), 60) },
    },
  };
  const judge = (): Cause[] => {
    const causes: Cause[] = [];
    schemaCauses(schema as unknown as JsonObject, "schema", prefix, causes);
    return causes;
  };
  const causes = judge();
  expect(causes.length).toBeGreaterThan(20);
  const { turnCount, result } = judgedInTurns(judge);
  expect([result, turnCount > 1]).toEqual([causes, true]);
  for (const field of Object.values(schema.properties.spec.properties))
    if (field !== shared) (field as { type: string }).type = "string";
  const sound = judge();
  expect(judgedInTurns(judge).result).toEqual(sound);
});

describe("a definition and its instances", () => {
  function served(spec: unknown): (body: unknown, method?: string, at?: string) => Answer {
    const bed = new TestBed({ profile: kubernetesProfile });
    const send = (method: string, path: string, body: unknown): Answer => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const answer = bed.ask(`${method} ${path}`, { as: "admin", headers: { "content-type": type }, body });
      bed.advance(0.001); // what is judged in many turns is answered later
      return answer;
    };
    const openAPIV3Schema = { type: "object", properties: { spec } };
    const made = send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "things.e.example.com" },
      spec: {
        group: "e.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
    expect(made.status, made.text).toBe(201);
    bed.advance(2);
    const things = "/apis/e.example.com/v1/namespaces/default/things";
    return (value, method = "POST", at = "") =>
      send(method, things + at, {
        apiVersion: "e.example.com/v1",
        kind: "Thing",
        metadata: { name: "a" },
        spec: value,
      });
  }

  it("may be wrong in nearly as many places as an object may have values", () => {
    expect(served({ type: "array", items: { type: "string" } })(times(99_000, () => 1)).status).toBe(422);
  });

  it("may have nearly as many fields that nobody knows", () => {
    const fields = Object.fromEntries(times(99_000, (at) => [`f${at}`, 1]));
    const answer = served({ type: "object" })(fields);
    expect(answer.status).toBe(201);
    expect(answer.at("spec")).toEqual({});
  });

  it("find an element by its keys, of several the first, and none by a key that it does not have", () => {
    const v = { type: "integer", [`${prefix}validations`]: [{ rule: "self >= oldSelf" }] };
    const properties = { k: { type: "integer" }, l: { type: "string", default: "-" }, v };
    const items = { type: "object", required: ["k"], properties };
    const write = served({
      type: "array",
      [`${prefix}list-type`]: "map",
      [`${prefix}list-map-keys`]: ["k", "l"],
      items,
    });
    const list = (first: number): unknown => times(2_000, (k) => ({ k, v: k === 1_000 ? first : k }));
    expect(write(list(7)).status).toBe(201);
    expect(write(list(8), "PATCH", "/a").status).toBe(200);
    const lower = write(list(6), "PATCH", "/a");
    expect(lower.at("details.causes.0.field")).toBe("spec[1000].v");
    const other = [{ k: 1_000, l: "x", v: 0 }];
    expect(write(other, "PATCH", "/a").status).toBe(200);
  });
});
