import fc from "fast-check";
import { expect, it } from "vitest";
import type { Shape, TypeRow } from "../../wire/schema.ts";
import { resourceRows } from "../../wire/resources.ts";
import { ApiError } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { create, endpoint, update } from "../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../objects/validation.ts";

/** The last of them are names that every object inherits. */
const texts = [
  ...["", "a", "A b", "None", "Always", "RollingUpdate", "1.2.3.4", "In", "Exists", "a/b", "-1", "1Gi", "*"],
  ...["constructor", "toString", "kubernetes.io/constructor"],
];
const numbers = [0, 1, -1, 80, 70_000];
const scalars: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  string: fc.constantFrom(...texts),
  integer: fc.constantFrom(...numbers),
  number: fc.constantFrom(...numbers),
  boolean: fc.boolean(),
};
/** Texts of these types have a form, which decoding judges. */
const formed: Readonly<Record<string, readonly Json[]>> = {
  Quantity: ["0", "1", "-1", "1500m", "2Gi"],
  Time: ["2026-01-01T00:00:00Z", null],
  MicroTime: ["2026-01-01T00:00:00.000000Z", null],
};

/** Values of a shape: what is left out, empty or null as often as not. */
function valueOf(shape: Shape, typeName: string | undefined, depth: number): fc.Arbitrary<Json> {
  const form = formed[typeName?.split(".").at(-1) ?? ""];
  if (form !== undefined) return fc.constantFrom(...form);
  if (shape.is === "scalar" && shape.format === "date-time") return fc.constant("2026-01-01T00:00:00Z");
  if (shape.is === "scalar") {
    return shape.format === "byte" ? fc.constantFrom("", "YQ==") : (scalars[shape.type] as fc.Arbitrary<Json>);
  }
  if (shape.is === "either") return fc.oneof(...shape.types.map((type) => scalars[type] as fc.Arbitrary<Json>));
  if (shape.is === "opaque") return fc.constant({});
  if (shape.is === "struct") return objectOf(shape.type, depth);
  if (shape.is === "list")
    return fc.array(valueOf(shape.items, undefined, depth - 1), { maxLength: depth > 0 ? 2 : 0 });
  const values = valueOf(shape.values, shape.values.is === "either" ? "Quantity" : undefined, depth - 1);
  return fc.dictionary(fc.constantFrom("a", "cpu", "a/b", "", "constructor"), values, {
    maxKeys: depth > 0 ? 2 : 0,
  }) as fc.Arbitrary<Json>;
}

function objectOf(type: TypeRow, depth: number): fc.Arbitrary<JsonObject> {
  if (depth <= 0) return fc.constant({});
  const fields = Object.fromEntries(
    type.rows.map(({ name, shape, typeName }) => [name, fc.option(valueOf(shape, typeName, depth - 1), { freq: 3 })]),
  );
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

const kinds = resourceRows.filter(({ type, verbs }) => type !== undefined && verbs.includes("update"));

it.each(kinds.map(({ group, version, resource }) => [group === "" ? version : `${group}/${version}`, resource]))(
  "%s/%s: whatever has the right types is judged, and no rule breaks on it",
  (groupVersion, resource) => {
    const at = endpoint(`${groupVersion}/${resource}`);
    const refusedOrCreated = (body: JsonObject): JsonObject | undefined => {
      try {
        return create(body, at);
      } catch (error) {
        if (error instanceof ApiError) return undefined; // the decoder has refused it
        throw error;
      }
    };
    const bodies = objectOf(at.target.type, 7).map(({ kind: _, apiVersion: __, ...body }) => body as JsonObject);
    fc.assert(
      fc.property(bodies, bodies, (first, second) => {
        const live = refusedOrCreated(first);
        if (live === undefined) return;
        expect(Array.isArray(validateCreate(live, at.strategy))).toBe(true);
        const next = refusedOrCreated(second);
        if (next === undefined) return;
        for (const subresource of ["", "status", "ephemeralcontainers", "resize", "finalize", "approval"]) {
          const after = update(next, live, at, { subresource });
          validateUpdate(after, live, at.strategy, subresource);
        }
      }),
      { seed: 7, numRuns: 40 },
    );
  },
);
