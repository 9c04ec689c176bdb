import { describe, expect, it } from "vitest";
import { resourceRows } from "./resources.ts";
import {
  type FieldRow,
  kindNames,
  type Shape,
  shapeNamed,
  structNamed,
  structOfKind,
  type TypeRow,
  typeNames,
} from "./schema.ts";

const structs: readonly TypeRow[] = typeNames().flatMap((name) => {
  const shape = shapeNamed(name);
  return shape.is === "struct" ? [shape.type] : [];
});
const everyField = structs.flatMap((type) =>
  type.rows.map((field) => ({ type, field, at: `${type.name}.${field.name}` })),
);

/** Fields that break a rule, by name: an empty list is a table without fault. */
const faults = (rule: (field: FieldRow, type: TypeRow) => boolean): string[] =>
  everyField.filter(({ field, type }) => !rule(field, type)).map(({ at }) => at);

const elementOf = (shape: Shape): Shape | undefined => (shape.is === "list" ? shape.items : undefined);
const isScalar = (shape: Shape | undefined): boolean => shape?.is === "scalar" || shape?.is === "either";

describe("type tables", () => {
  it("resolve every name", () => {
    expect(structs.length).toBeGreaterThan(350);
    expect(everyField.length).toBeGreaterThan(1500);
    for (const type of structs) {
      expect(structNamed(type.name)).toBe(type);
      expect([...type.fields.keys()]).toEqual(type.rows.map((field) => field.name));
    }
    expect(() => structNamed("core.v1.Nothing")).toThrow("no type");
    expect(() => structNamed("~apimachinery.pkg.apis.meta.v1.Time")).toThrow("not a struct");
  });

  it("speak the svc dialect", () => {
    const names = [...typeNames(), ...kindNames(), ...everyField.map(({ at }) => at)];
    names.push(
      ...structs.map((type) => type.protobufName),
      ...everyField.map(({ field }) => field.protobuf?.type ?? ""),
    );
    expect(names.filter((name) => /k8s|kubernetes/i.test(name))).toEqual([]);
  });

  it("have shapes of known scalars only", () => {
    const scalars = new Set(["string", "integer", "number", "boolean"]);
    const known = (shape: Shape): boolean => {
      if (shape.is === "scalar") return scalars.has(shape.type);
      if (shape.is === "either") return shape.types.every((type) => scalars.has(type));
      if (shape.is === "list") return known(shape.items);
      return shape.is === "map" ? known(shape.values) : true;
    };
    expect(faults((field) => known(field.shape))).toEqual([]);
  });

  it("number protobuf fields once in a message, as protobuf allows", () => {
    for (const type of structs) {
      const paths = type.rows.flatMap(({ protobuf }) =>
        protobuf === undefined ? [] : [[...protobuf.within, protobuf.number].join(".")],
      );
      // A nested message holds a number of its own, which no field may share.
      const nested = new Set(type.rows.flatMap(({ protobuf }) => (protobuf?.within ?? []).slice(0, 1).map(String)));
      expect(new Set([...paths, ...nested]).size, type.name).toBe(paths.length + nested.size);
      for (const number of paths.join(".").split(".").filter(Boolean).map(Number)) {
        expect(number > 0 && number < 19_000, `${type.name} ${number}`).toBe(true);
      }
    }
  });

  it("number every field of a message but kind and apiVersion, which are in the envelope", () => {
    const gaps = structs.flatMap(({ name, rows }) =>
      rows.filter((field) => field.protobuf === undefined).map((field) => `${name}.${field.name}`),
    );
    expect(gaps.filter((gap) => !/\.(kind|apiVersion)$/.test(gap))).toEqual([]);
  });

  it("repeat exactly the lists in protobuf, and map exactly the maps", () => {
    const fits = ({ protobuf, shape }: FieldRow): boolean => {
      if (protobuf === undefined) return true;
      if (protobuf.type.startsWith("map<")) return shape.is === "map" && !protobuf.repeated;
      if (protobuf.type === "Verbs") return shape.is === "list" && !protobuf.repeated; // a message around a list
      return protobuf.repeated === (shape.is === "list");
    };
    expect(faults(fits)).toEqual([]);
  });

  it("give list types that fit their elements", () => {
    expect(
      faults(({ listType, listMapKeys, shape }) => {
        const element = elementOf(shape);
        if (listType === undefined) return listMapKeys === undefined;
        if (listType === "atomic") return listMapKeys === undefined; // bytes are lists to Go, and are atomic too
        if (listType === "set") return isScalar(element);
        if (element?.is !== "struct" || listMapKeys === undefined || listMapKeys.length === 0) return false;
        return listMapKeys.every((key) => isScalar(element.type.fields.get(key)?.shape));
      }),
    ).toEqual([]);
  });

  it("give map types to maps and structs alone", () => {
    expect(
      faults(({ mapType, shape }) => mapType === undefined || shape.is === "map" || shape.is === "struct"),
    ).toEqual([]);
    for (const type of structs) expect([undefined, "atomic", "granular"]).toContain(type.mapType);
  });

  it("name a merge key that the elements have, or none for scalars", () => {
    const words = new Set(["merge", "retainKeys", "replace"]);
    expect(
      faults(({ patchStrategy, patchMergeKey, shape }) => {
        if (patchStrategy?.split(",").some((word) => !words.has(word)) === true) return false;
        const element = elementOf(shape);
        if (patchMergeKey !== undefined) return element?.is === "struct" && element.type.fields.has(patchMergeKey);
        return element?.is !== "struct" || patchStrategy?.includes("merge") !== true;
      }),
    ).toEqual([]);
  });

  it("have defaults of the field's own shape, frozen", () => {
    const fits = (value: unknown, shape: Shape): boolean => {
      if (shape.is === "opaque") return true;
      if (shape.is === "list") return Array.isArray(value) && value.every((item) => fits(item, shape.items));
      if (shape.is === "map" || shape.is === "struct") return typeof value === "object" && value !== null;
      const types = shape.is === "scalar" ? [shape.type] : shape.types;
      if (Number.isInteger(value) && types.includes("integer")) return true;
      return types.some((type) => type === typeof value);
    };
    expect(faults((field) => field.default === undefined || fits(field.default, field.shape))).toEqual([]);
    expect(faults((field) => Object.isFrozen(field.default))).toEqual([]);
    expect(everyField.filter(({ field }) => field.default !== undefined).length).toBeGreaterThan(200);
  });

  it("enumerate strings alone, each once", () => {
    expect(
      faults(({ enum: words, shape }) => {
        if (words === undefined) return true;
        const of = elementOf(shape) ?? shape;
        return of.is === "scalar" && of.type === "string" && new Set(words).size === words.length && words.length > 0;
      }),
    ).toEqual([]);
  });
});

describe("kinds", () => {
  it("are structs that carry their own kind and apiVersion", () => {
    for (const name of kindNames()) {
      const slash = name.lastIndexOf("/");
      const type = structOfKind(name.slice(0, slash), name.slice(slash + 1));
      expect(type?.fields.has("kind") && type.fields.has("apiVersion"), name).toBe(true);
    }
    expect(structOfKind("v1", "Nothing")).toBeUndefined();
    expect(structOfKind("__proto__", "constructor")).toBeUndefined();
  });

  it("pair every listable resource with a List of it", () => {
    for (const row of resourceRows.filter(({ verbs }) => verbs.includes("list"))) {
      const items = structOfKind(row.groupVersion, `${row.kind}List`)?.fields.get("items")?.shape;
      expect(elementOf(items as Shape), row.resource).toMatchObject({ is: "struct", type: { name: row.type?.name } });
    }
  });
});
