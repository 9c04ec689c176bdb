import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { type CriField, criMessages } from "../../wire/cri.ts";
import { decodeMessage, encodeMessage, TooManyValues } from "./cri-codec.ts";

/** The tables as a protobuf schema, for an implementation that is not ours. */
const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries([
    ...[...criMessages].map(([name, fields]) => [
      name,
      { fields: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])) },
    ]),
    ...[...criMessages.values()]
      .flat()
      .flatMap(({ shape }) =>
        shape.is === "enum"
          ? [
              [
                `Enum${shape.name}`,
                { values: Object.fromEntries(shape.values.map((value, number) => [`${shape.name}${value}`, number])) },
              ],
            ]
          : [],
      ),
  ]),
} as protobuf.INamespace);

function schemaOf({ number, shape, many }: CriField): object {
  const type = shape.is === "scalar" ? shape.type : shape.is === "enum" ? `Enum${shape.name}` : shape.name;
  return {
    id: number,
    type,
    ...(many === "list" ? { rule: "repeated" } : many === "map" ? { keyType: "string" } : {}),
  };
}

const scalar = {
  string: fc.string({ unit: "grapheme", maxLength: 12 }),
  bytes: fc.uint8Array({ maxLength: 8 }),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.maxSafeInteger(),
  uint32: fc.nat(),
  uint64: fc.maxSafeNat(),
  double: fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
} as const;

function anyMessage(name: string, depth: number): fc.Arbitrary<object> {
  const fields = (criMessages.get(name) ?? []).filter(({ shape }) => depth > 0 || shape.is !== "message");
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, anyField(field, depth)])), {
    requiredKeys: [],
  });
}

function anyField({ shape, many }: CriField, depth: number): fc.Arbitrary<unknown> {
  const one: fc.Arbitrary<unknown> =
    shape.is === "scalar"
      ? scalar[shape.type]
      : shape.is === "enum"
        ? fc.constantFrom(...shape.values)
        : anyMessage(shape.name, depth - 1);
  if (many === "list") return fc.array(one, { maxLength: 3 });
  return many === "map"
    ? fc.dictionary(
        fc.string({ minLength: 1, maxLength: 6 }).filter((key) => key !== "__proto__"),
        one,
        { maxKeys: 3 },
      )
    : one;
}

describe("messages as protocol buffers", () => {
  it("are read alike by another implementation, and come back from it", () => {
    const anyNamed = fc
      .constantFrom(...criMessages.keys())
      .chain((name) => anyMessage(name, 3).map((message) => ({ name, message })));
    fc.assert(
      fc.property(anyNamed, ({ name, message }) => {
        const bytes = encodeMessage(name, message);
        const ours = decodeMessage(name, bytes);
        const type = root.lookupType(name);
        const theirs = type.encode(type.decode(bytes)).finish();
        expect(decodeMessage(name, theirs)).toEqual(ours);
        expect(encodeMessage(name, ours)).toEqual(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it("have their zero values back when they are read, and messages only where they were set", () => {
    expect(decodeMessage("Container", new Uint8Array())).toEqual({
      id: "",
      podSandboxId: "",
      imageRef: "",
      state: "CONTAINER_CREATED",
      createdAt: 0,
      labels: {},
      annotations: {},
      imageId: "",
    });
    expect(() => decodeMessage("Container", Uint8Array.from([10, 200, 1]))).toThrow();
  });
});

describe("a message of more values than anybody means", () => {
  const most = 1_000;
  const of = (bytes: readonly number[], count: number): Uint8Array =>
    Uint8Array.from({ length: bytes.length * count }, (_, at) => bytes[at % bytes.length] as number);
  const within = (field: number, bytes: Uint8Array): Uint8Array => {
    const length = [(bytes.length % 128) | 0x80, bytes.length >> 7];
    return Uint8Array.of((field << 3) | 2, ...length, ...bytes);
  };

  it.each<[string, string, (count: number) => Uint8Array]>([
    ["items", "ListContainersResponse", (count) => of([0x0a, 0], count)],
    ["members of a map", "PodSandboxConfig", (count) => of([0x32, 0], count)],
    ["the same part again", "RunPodSandboxRequest", (count) => of([0x0a, 0], count)],
    ["fields that nobody knows", "VersionRequest", (count) => of([0xc0, 0x3e, 0], count)],
    ["values in parts of it", "RunPodSandboxRequest", (count) => within(1, of([0x32, 0], count - 1))],
  ])("%s: is read up to the limit, and not beyond", (_, name, bytes) => {
    expect(() => decodeMessage(name, bytes(most), most)).not.toThrow();
    expect(() => decodeMessage(name, bytes(most + 1), most)).toThrow(TooManyValues);
  });
});

it("a text that is no UTF-8 is refused, and what JavaScript alone can write is put right", () => {
  const sent = (...text: number[]): Uint8Array => Buffer.from([10, text.length, ...text]);
  expect(decodeMessage("VersionRequest", sent(0xc3, 0xa9))).toEqual({ version: "é" });
  for (const text of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80]])
    expect(() => decodeMessage("VersionRequest", sent(...text))).toThrow("invalid UTF-8");
  const labels = Buffer.from([26, 3, 10, 1, 0xff]); // of one, whose key is none
  expect(() => decodeMessage("PodSandboxFilter", labels)).toThrow("invalid UTF-8");
  const lone = encodeMessage("VersionRequest", { version: "a\ud800" });
  expect(decodeMessage("VersionRequest", lone)).toEqual({ version: "a\ufffd" });
});
