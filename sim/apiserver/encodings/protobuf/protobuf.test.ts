import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesDialect, svcDialect } from "../../../../wire/dialect.ts";
import {
  kindNames,
  type FieldRow,
  type Shape,
  structNamed,
  structOfKind,
  type TypeRow,
} from "../../../../wire/schema.ts";
import { drained } from "../../../../wire/steps.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { decodeObject } from "../../../objects/decode.ts";
import { decodeMessage, encodeMessage } from "./messages.ts";
import { rememberLarge } from "../../../objects/value-limit.ts";
import {
  decodeProtobuf,
  decodeProtobufSteps,
  encodeProtobuf,
  encodeWatchFrame,
  openEnvelope,
  protobufListSlices,
  protobufSlices,
  typeOfObject,
} from "./envelope.ts";
import { recordedFrame, recordedObjects } from "./recorded-vectors.fixture.ts";
import { ProtobufError } from "./values.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

function opened(bytes: Uint8Array): JsonObject {
  const body = openEnvelope(bytes);
  const type = typeOfObject(kubernetesDialect, { kind: body.kind, apiVersion: body.apiVersion }) as TypeRow;
  const object = decodeProtobuf(type, body);
  expect(JSON.stringify(drained(decodeProtobufSteps(type, body)))).toBe(JSON.stringify(object)); // whatever order maps are filled in
  return object;
}

const closed = (object: JsonObject): Uint8Array =>
  encodeProtobuf(typeOfObject(kubernetesDialect, object) as TypeRow, object);

describe("a large object", () => {
  const resources = (letter: string): JsonObject =>
    Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`example.com/${letter}${at}`, "1"]));
  const pod: JsonObject = {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "a", labels: { "10": "b", "9": "a" } },
    spec: { containers: [{ name: "c", image: "i", resources: { limits: resources("a"), requests: resources("b") } }] },
    status: { phase: "Running" },
  };
  const pieces = (all: Iterable<Uint8Array>): readonly [steps: number, text: string] => {
    const list = [...all];
    return [list.filter(({ length }) => length === 0).length, hex(Buffer.concat(list))];
  };

  it("is written in steps to the same bytes, alone and in a list", () => {
    const type = typeOfObject(kubernetesDialect, pod) as TypeRow;
    const [steps, text] = pieces(protobufSlices(type, pod));
    expect(steps).toBeGreaterThan(10);
    expect(text === hex(closed(pod))).toBe(true);

    const head: JsonObject = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "7" } };
    const small: JsonObject = { kind: "Pod", apiVersion: "v1", metadata: { name: "b" }, spec: { containers: [] } };
    rememberLarge(pod);
    const listType = typeOfObject(kubernetesDialect, head) as TypeRow;
    for (const items of [[pod], [small, pod, small], [small, small]]) {
      const [, listed] = pieces(protobufListSlices(listType, head, items));
      expect(listed === hex(closed({ ...head, items }))).toBe(true);
    }
    expect(pieces(protobufListSlices(listType, head, [small, pod]))[0]).toBeGreaterThan(10);
  });
});

describe("a large message", () => {
  const stepsOf = (reading: Generator<void, JsonObject>): readonly [steps: number, object: JsonObject] => {
    let steps = 0;
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) steps++;
    return [steps, step.value];
  };

  it("has its maps read in steps, with each key at its last value", () => {
    const type = structNamed("core.v1.ConfigMap");
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`__proto__${at % 20_000}`, `${at}`]));
    const again = encodeMessage(type, { data: { __proto__1: "first" }, binaryData: { b: "YQ==" } });
    const raw = Buffer.concat([again, encodeMessage(type, { data })]);
    const body = { kind: "ConfigMap", apiVersion: "v1", raw } as never;
    const [steps, object] = stepsOf(decodeProtobufSteps(type, body));
    expect(steps).toBe(3);
    expect(object).toEqual(decodeProtobuf(type, body));
    expect(object["data"]).toEqual(data);
  });

  it("has its lists read in steps, with all that is in their messages", () => {
    const type = structNamed("core.v1.Pod");
    const containers = Array.from({ length: 3_000 }, (_, at) => ({
      name: `c${at}`,
      env: Array.from({ length: 10 }, (_, of) => ({ name: `e${of}` })),
    }));
    const raw = encodeMessage(type, { spec: { containers } });
    const [steps, object] = stepsOf(decodeProtobufSteps(type, { kind: "", apiVersion: "", raw }));
    expect(steps).toBeGreaterThan(10);
    expect(object).toEqual(decodeProtobuf(type, { kind: "", apiVersion: "", raw }));
  });

  it("is refused as it is at once, by its first mistake", () => {
    const type = structNamed("core.v1.Pod");
    const containers = [
      { name: "a", env: [{ name: "x", value: "y" }], resources: { limits: { cpu: "1" } } },
      { name: "b", ports: [{ containerPort: 1 }, { containerPort: 2 }] },
    ];
    const whole = encodeMessage(type, { metadata: { name: "p", labels: { a: "b", c: "d" } }, spec: { containers } });
    const said = (decode: () => JsonObject): string => {
      try {
        return JSON.stringify(decode());
      } catch (error) {
        return String(error);
      }
    };
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    let refused = 0;
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: whole.length }), fc.boolean(), (bytes, length, isCut) => {
        const raw = Uint8Array.from(whole);
        for (const [at, byte] of bytes) raw[at] = byte;
        const body = { kind: "Pod", apiVersion: "v1", raw: isCut ? raw.subarray(0, length) : raw };
        const atOnce = said(() => decodeProtobuf(type, body));
        if (!atOnce.startsWith("{")) refused++;
        expect(said(() => drained(decodeProtobufSteps(type, body)))).toBe(atOnce);
      }),
      { seed: 5, numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(1_000);
  });
});

describe("recorded answers", () => {
  it.each(Object.entries(recordedObjects))("decode and encode again, byte for byte: %s", (_, text) => {
    expect(hex(closed(opened(bytesOf(text))))).toBe(text);
  });

  it("hold what their JSON held", () => {
    expect(opened(bytesOf(recordedObjects["a config map"] as string))).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {
        name: "a",
        namespace: "wire-08negotiation-m7kx6",
        uid: "e9c09fd5-7517-42c2-ab12-f3935dffcbfc",
        resourceVersion: "13952",
        creationTimestamp: "2026-11-21T02:42:13Z",
        managedFields: [
          {
            manager: "unknown",
            operation: "Update",
            apiVersion: "v1",
            time: "2026-11-21T02:42:13Z",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { ".": {}, "f:k": {} } },
          },
        ],
      },
      data: { k: "v" },
    });
  });

  it("frame a watch event", () => {
    const frame = bytesOf(recordedFrame);
    const at = recordedFrame.indexOf("6b387300") / 2;
    const object = opened(frame.subarray(at));
    expect(hex(encodeWatchFrame("ADDED", closed(object)))).toBe(recordedFrame);
  });
});

describe("messages", () => {
  const pod = structNamed("core.v1.Pod");

  it("nest what JSON shows flat", () => {
    const object = {
      spec: {
        containers: [{ name: "c", readinessProbe: { httpGet: { port: 80, path: "/" }, periodSeconds: 5 } }],
        volumes: [{ name: "v", configMap: { name: "m", items: [{ key: "k", path: "p" }] } }],
      },
    };
    const read = decodeMessage(pod, encodeMessage(pod, object)) as unknown as typeof object;
    expect(read.spec.containers[0]?.readinessProbe).toEqual({ httpGet: { path: "/", port: 80 }, periodSeconds: 5 });
    expect(read.spec.volumes).toEqual(object.spec.volumes);
    const volume = hex(encodeMessage(structNamed("core.v1.Volume"), { name: "v", emptyDir: {} }));
    expect(volume).toBe("0a0176" + "1204" + "1202" + "0a00"); // name; source; emptyDir; its medium
  });

  it("tell a false or a zero that was set from one that was not, where JSON does", () => {
    const context = structNamed("core.v1.SecurityContext");
    expect(hex(encodeMessage(context, {}))).toBe("");
    expect(decodeMessage(context, encodeMessage(context, { runAsUser: 0, privileged: false }))).toEqual({
      privileged: false,
      runAsUser: 0,
    });
  });

  it("write negative numbers in ten bytes, times with both fields, maps by key", () => {
    expect(hex(encodeMessage(structNamed("scheduling.v1.PriorityClass"), { value: -1 }))).toContain(
      "10ffffffffffffffffff01",
    );
    const map = structNamed("core.v1.ConfigMap");
    expect(hex(encodeMessage(map, { data: { b: "2", a: "1" } }))).toContain("12060a016112013112060a0162120132");
    const lease = structNamed("coordination.v1.LeaseSpec");
    expect(decodeMessage(lease, encodeMessage(lease, { renewTime: "2024-01-01T00:00:00.000001Z" }))).toEqual({
      renewTime: "2024-01-01T00:00:00.000001Z",
    });
  });

  it("keep the alternatives of schemas apart", () => {
    const schema = structNamed("~apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    const object: JsonObject = {
      additionalProperties: false,
      additionalItems: { type: "string" },
      items: [{ type: "string" }, { type: "integer" }],
      dependencies: { a: ["b", "c"], d: { type: "object" } },
      default: { a: [1, "x", null] },
      enum: ["a", 1],
      maximum: 1.5,
      "x-svc-list-map-keys": ["k"],
      "x-svc-preserve-unknown-fields": false,
      $ref: "r",
    };
    expect(decodeMessage(schema, encodeMessage(schema, object))).toEqual(object);
  });

  it("carry JSON of any kind, read as JSON is, and nothing that is none", () => {
    const schema = structNamed("~apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    const texts = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(fc.array(fc.oneof(texts, fc.integer(), fc.constantFrom<Json>(true, null, {}, ["a"]))), (items) => {
        const read = decodeMessage(schema, encodeMessage(schema, { enum: items }));
        expect(read["enum"] ?? []).toEqual(items);
      }),
      { numRuns: 50 },
    );
    const raw = (text: string): Uint8Array => {
      const placeholder = "x".repeat(Buffer.byteLength(text) - 2);
      const bytes = Buffer.from(encodeMessage(schema, { enum: [placeholder] }));
      bytes.write(text, bytes.indexOf(`"${placeholder}"`));
      return bytes;
    };
    expect(decodeMessage(schema, raw('"a\\u0041"'))).toEqual({ enum: ["aA"] });
    for (const none of ['"a\nb"', '"a"b"', '"a\\"', "'ab'"]) {
      expect(() => decodeMessage(schema, raw(none))).toThrow(ProtobufError);
    }
  });

  it("keep them apart on the wire, too, and spell schema extensions as the dialect does", () => {
    const object: JsonObject = {
      kind: "CustomResourceDefinitionList",
      apiVersion: "apiextensions.k8s.io/v1",
      metadata: {},
      items: [{ metadata: { creationTimestamp: null }, spec: { versions: [version()] } }],
    };
    const text = hex(closed(object));
    expect(text).toContain("ca0204" + "6e616d65" + "d20203" + "6d6170"); // x-kubernetes-list-map-keys, …-list-type
    expect(text).toContain("8202" + "0b" + "0a0161" + "1206" + "120162" + "120163"); // dependencies: a list of names
    expect(JSON.stringify(opened(closed(object)))).toContain(
      '"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}',
    );
  });

  const version = (): JsonObject => ({
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        dependencies: { a: ["b", "c"] },
        items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-list-type": "map",
      },
    },
  });

  it("keep a key that every object has already", () => {
    const map = structNamed("core.v1.ConfigMap");
    const data = JSON.parse('{"__proto__": "x", "constructor": "y"}') as JsonObject;
    const read = decodeMessage(map, encodeMessage(map, { data }));
    expect(JSON.stringify(read["data"])).toBe('{"__proto__":"x","constructor":"y"}');
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it("skip fields they do not know, and merge messages that come twice", () => {
    const meta = structNamed("~apimachinery.pkg.apis.meta.v1.ObjectMeta");
    const map = structNamed("core.v1.ConfigMap");
    const part = (object: JsonObject): string => {
      const text = hex(encodeMessage(meta, object));
      return `0a${(text.length / 2).toString(16).padStart(2, "0")}${text}`;
    };
    const name = part({ name: "a" });
    expect(decodeMessage(map, bytesOf(`${name}0a040a0262629a06027878`))).toMatchObject({ metadata: { name: "bb" } });
    expect(decodeMessage(map, bytesOf(`0a030a01610a031a0162`))).toMatchObject({
      metadata: { name: "a", namespace: "b" },
    });
  });

  it.each([
    ["cut off", "0a05"],
    ["a length beyond the end", "0aff0161"],
    ["the wrong wire type", "0801"],
    ["field 0", "0001"],
    ["an end without a group", "0c"],
    ["a wire type that does not exist", "0f"],
    ["a varint without end", "ffffffffffffffffffffff01"],
  ])("are refused: %s", (_, text) => {
    expect(() => decodeMessage(structNamed("core.v1.ConfigMap"), bytesOf(text))).toThrow(ProtobufError);
  });

  it("are refused when they nest without end", () => {
    const type = structNamed("~apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    let schema: JsonObject = { type: "string" };
    for (let level = 0; level < 600; level++) schema = { not: schema };
    expect(() => decodeMessage(type, encodeMessage(type, schema))).toThrow("recursion depth");
  });

  it("are refused or read, but never more than that, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kindNames()), fc.uint8Array({ maxLength: 200 }), (kind, bytes) => {
        try {
          decodeMessage(typeNamed(kind), bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { seed: 11, numRuns: 2_000 },
    );
  });
});

describe("every kind of the tables", () => {
  const random = { seed: 7, numRuns: 20 };

  it.each(kindNames())("%s comes back from protobuf as it went in", (kind) => {
    const type = typeNamed(kind);
    const [apiVersion, name] = splitKind(kind);
    const target = {
      kind: name,
      group: groupOf(apiVersion),
      version: versionOf(apiVersion),
      type,
      dialect: svcDialect,
    };
    fc.assert(
      fc.property(objectOf(type, 4), (object) => {
        // As stored: normalised, zero values filled in. Twice, for a spec that was absent is defaulted once it is there.
        const stored = (sent: JsonObject): JsonObject =>
          decodeObject(sent, "json", target, "Ignore").draft as JsonObject;
        const before = stored(stored({ ...object, kind: name, apiVersion }));
        const bytes = encodeProtobuf(type, before);
        const read = decodeProtobuf(type, openEnvelope(bytes));
        const after = stored(read);
        expect(withoutTypes(after)).toEqual(withoutTypes(before));
        expect(hex(encodeProtobuf(type, after))).toBe(hex(bytes));
      }),
      random,
    );
  });
});

const splitKind = (kind: string): readonly [apiVersion: string, name: string] => {
  const slash = kind.lastIndexOf("/");
  return [kind.slice(0, slash), kind.slice(slash + 1)];
};
const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "");
const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.lastIndexOf("/") + 1);
const typeNamed = (kind: string): TypeRow => structOfKind(...splitKind(kind)) as TypeRow;

/** The types of embedded objects are not in their messages. */
function withoutTypes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTypes);
  if (value === null || typeof value !== "object") return value;
  const object = value as JsonObject;
  const embedded = "metadata" in object || "items" in object;
  return Object.fromEntries(
    Object.entries(object)
      .filter(([key]) => !(embedded && (key === "kind" || key === "apiVersion")))
      .map(([key, child]) => [key, withoutTypes(child)]),
  );
}

function objectOf(type: TypeRow, depth: number): fc.Arbitrary<JsonObject> {
  const fields = type.rows.filter(({ name, protobuf }) => protobuf !== undefined && name !== "managedFields");
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, fieldValue(field, depth)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<JsonObject>;
}

const texts = fc.constantFrom("", "a", "ä", "x".repeat(200));

function fieldValue(field: FieldRow, depth: number): fc.Arbitrary<Json> {
  if (field.name === "dependencies") {
    return fc.dictionary(texts, namedValues["JSONSchemaPropsOrStringArray"] as fc.Arbitrary<Json>, {
      minKeys: 1,
      maxKeys: 2,
    });
  }
  return shapeValue(field.shape, field.typeName, depth);
}

function shapeValue(shape: Shape, typeName: string | undefined, depth: number): fc.Arbitrary<Json> {
  const named = typeName === undefined ? undefined : namedValues[typeName.slice(typeName.lastIndexOf(".") + 1)];
  if (named !== undefined) return named;
  switch (shape.is) {
    case "struct":
      return depth === 0 ? fc.constant({}) : objectOf(shape.type, depth - 1);
    case "list":
      return fc.array(shapeValue(shape.items, nameIn(shape.items), depth), { minLength: 1, maxLength: 2 }); // an empty list cannot be told from none
    case "map":
      return fc.dictionary(texts, shapeValue(shape.values, nameIn(shape.values), depth), { minKeys: 1, maxKeys: 2 });
    case "either":
      return shape.types.includes("integer") ? fc.constantFrom(0, -1, 80, "http") : fc.constantFrom("1", "0", "500m");
    case "opaque":
      return fc.constantFrom({}, { a: [1, null, "x"] });
    default:
      if (shape.type === "string") {
        if (shape.format === "byte") return fc.constantFrom("AAECAw==", "/w==");
        return shape.format === "date-time" ? fc.constantFrom("2024-02-29T23:59:59Z") : texts;
      }
      if (shape.type === "boolean") return fc.boolean();
      if (shape.type === "number") return fc.constantFrom(0, 1.5, -2);
      if (shape.format === "int64")
        return fc.constantFrom(...[0, -1, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n]) as never;
      return fc.constantFrom(0, 1, -1, 2 ** 31 - 1);
  }
}

const nameIn = (shape: Shape): string | undefined => (shape.is === "struct" ? shape.type.name : undefined);

const namedValues: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  MicroTime: fc.constantFrom("2024-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z"),
  JSONSchemaPropsOrBool: fc.constantFrom(true, false, { type: "string" }),
  JSONSchemaPropsOrArray: fc.constantFrom<Json>({ type: "string" }, [{ type: "string" }, { type: "integer" }]),
  JSONSchemaPropsOrStringArray: fc.constantFrom<Json>({ type: "string" }, ["a", "b"]),
};
