import fc from "fast-check";
import { expect, it } from "vitest";
import { drained } from "../../wire/steps.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { readBody, walkRead } from "./decode.ts";
import { largeMapSteps } from "./large-maps.ts";
import { endpoint } from "./objects.fixture.ts";
import { walkAheadSteps } from "./walk-ahead.ts";

const scalar = fc.constantFrom<unknown>("a", "1", "1Gi", "AAAA", "=", 0, 1, 2.5, true, false, null);
const key = fc.constantFrom("a", "b", "cpu", "memory", "__proto__", "é", "");
const any: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(key, tie("any"), { maxKeys: 4 }),
  ),
}))["any"] as fc.Arbitrary<unknown>;
/** What is mostly of the kind that a field takes. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary: right }, { weight: 1, arbitrary: any });
const record = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
  mostly(fc.record(fields, { requiredKeys: [] }));
const list = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => mostly(fc.array(item, { maxLength: 4 }));
const texts = mostly(fc.dictionary(key, mostly(fc.constantFrom("a", "1", "1Gi", "AAAA")), { maxKeys: 5 }));

const metadata = record({
  name: mostly(fc.constant("n")),
  labels: texts,
  managedFields: list(record({ manager: mostly(fc.constant("m")), fieldsV1: any })),
});
const container = record({
  name: mostly(fc.constant("c")),
  command: list(mostly(fc.constant("x"))),
  ports: list(record({ containerPort: mostly(fc.nat(9)), hostPort: scalar })),
  resources: record({ limits: texts, requests: texts }),
  nothing: any,
});
const schema: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  schema: record({
    type: mostly(fc.constant("object")),
    properties: mostly(fc.dictionary(key, tie("schema"), { maxKeys: 3 })),
    items: fc.oneof({ depthSize: "small" }, fc.constant(true), tie("schema")),
    default: any,
    enum: list(any),
    required: list(mostly(fc.constant("a"))),
  }),
}))["schema"] as fc.Arbitrary<unknown>;

const kinds = {
  "v1/pods": record({ metadata, spec: record({ containers: list(container), nodeSelector: texts }) }),
  "v1/configmaps": record({ metadata, data: texts, binaryData: texts }),
  "v1/resourcequotas": record({ metadata, spec: record({ hard: texts }) }),
  "apiextensions.svc.io/v1/customresourcedefinitions": record({
    spec: record({ versions: list(record({ name: fc.constant("v1"), schema: record({ openAPIV3Schema: schema }) })) }),
  }),
};

it.each(Object.entries(kinds))("makes the same as the walk of the whole: %s", (at, objects) => {
  const { target } = endpoint(at);
  let madeBefore = 0;
  fc.assert(
    fc.property(objects, objects, fc.integer({ min: 0, max: 6 }), fc.boolean(), (one, other, max, isUpdate) => {
      const body = new TextEncoder().encode(JSON.stringify(one));
      const live = isUpdate ? frozen(walkedOrNone(other)) : undefined;
      const made = (isAhead: boolean): string => {
        try {
          const read = readBody(body, "json", target);
          // Some of it is the very same as what is stored.
          const value = live === undefined ? read.value : { ...(read.value as JsonObject), ...sharedOf(live) };
          const ahead = isAhead ? drained(walkAheadSteps(target.type, value, live, max)) : undefined;
          madeBefore += ahead?.size ?? 0;
          return JSON.stringify(walkRead({ ...read, value }, body, target, "Warn", live, ahead));
        } catch (error) {
          return (error as Error).message;
        }
      };
      expect(made(true)).toBe(made(false));
    }),
    { seed: 7, numRuns: 400 },
  );
  expect(madeBefore).toBeGreaterThan(200);

  function walkedOrNone(value: unknown): JsonObject {
    try {
      const body = new TextEncoder().encode(JSON.stringify(value));
      return walkRead(readBody(body, "json", target), body, target, "Ignore").draft as JsonObject;
    } catch {
      return {};
    }
  }
});

const sharedOf = ({ metadata: shared }: JsonObject): JsonObject => (shared === undefined ? {} : { metadata: shared });

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

it("walks large maps and lists in steps", () => {
  const properties = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: "string" }]));
  const schemaOf = { openAPIV3Schema: { type: "object", properties } };
  const definition = { spec: { versions: [{ name: "v1", schema: schemaOf }] } };
  const bytes = { binaryData: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, "AAAA"])) };
  for (const [at, value] of [
    ["apiextensions.svc.io/v1/customresourcedefinitions", definition],
    ["v1/configmaps", bytes],
  ] as const) {
    const { type } = endpoint(at).target;
    for (const _ of largeMapSteps(value)); // bytes are put in order first
    let steps = 0;
    const walking = walkAheadSteps(type, value);
    let step = walking.next();
    for (; step.done !== true; step = walking.next()) steps++;
    expect(steps).toBeGreaterThan(3);
    expect(step.value.size).toBeGreaterThan(0);
  }
});

it("ends at the first value of the wrong type where no other mistake can follow", () => {
  const looked: string[] = [];
  const data = new Proxy(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at])), {
    get: (all, name) => (looked.push(String(name)), Reflect.get(all, name) as unknown),
  });
  const { target } = endpoint("v1/configmaps");
  const read = { value: { data }, duplicates: [], yaml: false };
  expect(() => walkRead(read, undefined, target, "Warn")).toThrow("cannot unmarshal number into Go struct field");
  expect(looked.length).toBeLessThan(10);
});
