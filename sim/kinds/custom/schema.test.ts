/** Pruning, defaulting and validation, held to laws and to a validator that shares no code with them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { fieldNames, firstAt, parseJsonPath } from "./json-path.ts";
import { valuesAt } from "./json-path.fixture.ts";
import { compilePattern, readSchema, type Schema } from "./schema.ts";
import { newShaping, shapeObject } from "./shape-value.ts";
import { sha256, storageVersionHash } from "./storage-version-hash.ts";
import { validateValue } from "./validate-value.ts";

const read = (schema: unknown): Schema => readSchema(schema as JsonObject, "x-svc-");
const shaped = (value: unknown, schema: unknown): { readonly value: Json; readonly unknown: readonly string[] } => {
  const shaping = newShaping();
  return { value: shapeObject(value as JsonObject, read(schema), shaping), unknown: shaping.unknown };
};

const names = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
const scalars = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom("", "ab", "abcdef"),
  fc.boolean(),
  fc.constant(1.5),
);

/** Schemas whose limits are met and missed about as often. */
const schemas = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({
      type: fc.constant("integer"),
      minimum: fc.integer({ min: 0, max: 4 }),
      maximum: fc.integer({ min: 5, max: 9 }),
    }),
    fc.record({ type: fc.constant("string"), minLength: fc.nat(2), maxLength: fc.integer({ min: 2, max: 4 }) }),
    fc.record({ type: fc.constant("string"), enum: fc.constant(["ab", ""]), default: fc.constant("ab") }),
    fc.record({ type: fc.constant("number"), nullable: fc.boolean() }),
    fc.record({ type: fc.constant("boolean") }),
    fc.record({ type: fc.constant("object"), "x-svc-preserve-unknown-fields": fc.constant(true) }),
    fc.record({ type: fc.constant("array"), items: tie("schema"), maxItems: fc.nat(2) }),
    fc.record({ type: fc.constant("object"), additionalProperties: tie("schema") }),
    fc.record({ a: tie("schema"), b: tie("schema") }, { requiredKeys: [] }).chain((properties) =>
      fc.record({
        type: fc.constant("object"),
        properties: fc.constant(properties),
        required: fc.subarray(["a", "b"]),
      }),
    ),
  ),
})).schema;
const roots = fc.record({ type: fc.constant("object"), properties: fc.dictionary(names, schemas, { maxKeys: 3 }) });

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const objects = fc.dictionary(names, values, { maxKeys: 4 });

/** Accepts or refuses by the rules alone, without a word about why. */
function accepts(value: unknown, schema: Record<string, unknown>): boolean {
  if (value === null) return schema["nullable"] === true || schema["type"] === undefined;
  const own = (key: string): number | undefined => schema[key] as number | undefined;
  switch (schema["type"]) {
    case "integer":
      return (
        Number.isInteger(value) &&
        (value as number) >= (own("minimum") ?? -99) &&
        (value as number) <= (own("maximum") ?? 99)
      );
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "string": {
      if (typeof value !== "string") return false;
      const choices = schema["enum"] as string[] | undefined;
      return (
        value.length >= (own("minLength") ?? 0) &&
        value.length <= (own("maxLength") ?? 99) &&
        (choices?.includes(value) ?? true)
      );
    }
    case "array":
      return (
        Array.isArray(value) &&
        value.length <= (own("maxItems") ?? 99) &&
        value.every((item) => accepts(item, schema["items"] as Record<string, unknown>))
      );
    default: {
      if (typeof value !== "object" || Array.isArray(value)) return false;
      const known = new Map(Object.entries((schema["properties"] ?? {}) as Record<string, Record<string, unknown>>));
      const rest = schema["additionalProperties"] as Record<string, unknown> | undefined;
      const required = (schema["required"] ?? []) as string[];
      return (
        required.every((key) => Object.hasOwn(value as object, key)) &&
        Object.entries(value as object).every(([key, item]) => {
          const inner = known.get(key) ?? rest;
          return inner === undefined || accepts(item, inner);
        })
      );
    }
  }
}

describe("shaping", () => {
  it("changes nothing the second time, and then has nothing left to drop", () => {
    fc.assert(
      fc.property(roots, objects, (schema, object) => {
        const once = shaped(object, schema);
        const twice = shaped(once.value, schema);
        expect(twice.value).toEqual(once.value);
        expect(twice.unknown).toEqual([]);
      }),
      { seed: 1, numRuns: 400 },
    );
  });

  it("keeps what is valid and names nothing unknown as it is, but for defaults", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", default: "x" }, b: { type: "object", "x-svc-preserve-unknown-fields": true } },
    };
    expect(shaped({ b: { z: 1, a: [null] } }, schema).value).toEqual({ a: "x", b: { z: 1, a: [null] } });
    expect(shaped({ a: null }, schema).value).toEqual({ a: "x" });
  });

  it("gives a field that may be null its default when it is absent, and leaves a null alone", () => {
    const ofDefault = (value: unknown) => ({
      type: "object",
      properties: { a: { type: "string", nullable: true, default: value } },
    });
    expect(shaped({}, ofDefault("x")).value).toEqual({ a: "x" });
    expect(shaped({ a: null }, ofDefault("x")).value).toEqual({ a: null });
    expect(shaped({}, ofDefault(null)).value).toEqual({ a: null });
  });

  it("drops by the deepest rule, and says where", () => {
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
        any: { type: "object", additionalProperties: true },
      },
    };
    const { value, unknown } = shaped(
      { list: [{ name: "x", junk: 1 }, { other: 2 }], any: { k: { deep: 1 } }, top: 1 },
      schema,
    );
    expect(value).toEqual({ any: { k: {} }, list: [{ name: "x" }, {}] });
    expect(unknown).toEqual(["any.k.deep", "list[0].junk", "list[1].other", "top"]);
  });

  it("takes hostile keys for keys and hostile depth for an error", () => {
    const open = { type: "object", "x-svc-preserve-unknown-fields": true };
    const hostile = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as JsonObject;
    expect(Object.keys(shaped(hostile, open).value as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    let deep: Json = 1;
    for (let depth = 0; depth < 5_000; depth++) deep = [deep];
    const shaping = newShaping();
    shapeObject({ deep }, read(open), shaping);
    expect(shaping.error).toBe("json: exceeded max depth");
  });
});

describe("validation", () => {
  it("agrees with a validator that knows no texts", () => {
    let refused = 0;
    fc.assert(
      fc.property(roots, objects, (schema, object) => {
        const isValid = validateValue(object as JsonObject, read(schema)).length === 0;
        if (!isValid) refused++;
        expect(isValid).toBe(accepts(object, schema));
      }),
      { seed: 2, numRuns: 600 },
    );
    expect(refused).toBeGreaterThan(50);
  });

  it("speaks the observed words", () => {
    const text = (value: Json, schema: unknown): readonly string[] =>
      validateValue({ f: value }, read({ type: "object", properties: { f: schema } })).map(
        ({ field, message }) => `${field}: ${message}`,
      );
    expect(text("big", { type: "integer" })).toEqual([
      'f: Invalid value: "string": f in body must be of type integer: "string"',
    ]);
    expect(text("abc", { type: "string", pattern: "^x" })).toEqual([
      "f: Invalid value: \"abc\": f in body should match '^x'",
    ]);
    expect(text([1, 2], { type: "array", maxItems: 1, items: { type: "integer" } })).toEqual([
      "f: Too many: 2: must have at most 1 items",
    ]);
    expect(text(3, { type: "integer", multipleOf: 2 })).toEqual([
      "f: Invalid value: 3: f in body should be a multiple of 2",
    ]);
    expect(text("x", { type: "string", format: "ipv4" })).toEqual([
      'f: Invalid value: "x": f in body must be of type ipv4: "x"',
    ]);
    expect(text("x", { type: "string", oneOf: [{ minLength: 2 }, { pattern: "y" }] })[0]).toBe(
      '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid',
    );
    expect(text("x", { type: "string", not: { enum: ["x"] } })).toEqual([
      '<nil>: Invalid value: "": "f" must not validate the schema (not)',
    ]);
    expect(text("xy", { type: "string", anyOf: [{ minLength: 2 }, { pattern: "z" }] })).toEqual([]);
  });
});

describe("paths", () => {
  const object = {
    a: {
      "x.y": 1,
      list: [
        { type: "Ready", status: "True" },
        { type: "Other", status: "False" },
      ],
    },
  };
  it("lead to values, or nowhere", () => {
    const at = (path: string): readonly Json[] => valuesAt(parseJsonPath(path) ?? [], object);
    expect(at(".a['x.y']")).toEqual([1]);
    expect(at(".a.list[1].type")).toEqual(["Other"]);
    expect(at(".a.list[*].status")).toEqual(["True", "False"]);
    expect(at('.a.list[?(@.type=="Ready")].status')).toEqual(["True"]);
    expect(at(".a.none.deeper")).toEqual([]);
  });

  it("lead first to the first of all that they lead to", () => {
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom<Json>(null, 1, "x", true),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
      ),
    })).value;
    const step = fc.constantFrom(
      ".a",
      ".b",
      "['c']",
      "[0]",
      "[-1]",
      "[*]",
      ".*",
      '[?(@.a=="x")]',
      "[?(@.b.c)]",
      "[?(@.c<1)]",
    );
    fc.assert(
      fc.property(value, fc.array(step, { minLength: 1, maxLength: 5 }), (whole, steps) => {
        const path = parseJsonPath(steps.join("")) ?? [];
        expect(firstAt(path, whole, { steps: 1e6 })).toEqual(valuesAt(path, whole)[0]);
      }),
      { seed: 11, numRuns: 2_000 },
    );
  });

  it("are refused when they are none", () => {
    for (const path of ["", "a", ".a..b", ".a[", ".a[?(@.x=1)]", "{.a}"]) expect(parseJsonPath(path)).toBeUndefined();
    expect(fieldNames(".spec.replicas")).toEqual(["spec", "replicas"]);
    expect(fieldNames(".spec.list[0]")).toBeUndefined();
  });
});

describe("the storage version's hash", () => {
  it("is what the recorded server shows for its own types", () => {
    expect(storageVersionHash("", "v1", "ConfigMap")).toBe("qFsyl6wFWjQ=");
    expect(storageVersionHash("coordination.k8s.io", "v1", "Lease")).toBe("gqkMMb/YqFM=");
  });

  it("stands on the published digest", () => {
    const hex = (text: string): string => Buffer.from(sha256(new TextEncoder().encode(text))).toString("hex");
    expect(hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(hex("a".repeat(64))).toBe("ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  });
});

describe("patterns", () => {
  it("are RE2's, shown as they are written, and cannot keep the server busy", () => {
    expect(compilePattern("\\A[[:alpha:]]+/(?P<n>x)\\z")?.test("ab/x")).toBe(true);
    expect(compilePattern("^a/b$")?.source).toBe("^a/b$");
    expect(compilePattern("(?<=a)b")).toBeUndefined(); // JavaScript has this, RE2 has not
    expect(compilePattern("^(a+)+$")?.test(`${"a".repeat(5000)}!`)).toBe(false);
  });
});
