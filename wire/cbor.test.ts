import { Decoder, Encoder } from "cbor-x";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  CborError,
  type CborValue,
  decodeCbor,
  decodeCborItem,
  encodeCbor,
  encodeCborEvent,
  encodeCborParts,
} from "./cbor.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

/** An answer of a live 1.33 server; its fields are shuffled. */
const recorded =
  "d9d9f7a44a61706956657273696f6e427631486d65746164617461a643756964582437316333393536652d633535342d343638652d393730382d3733356462303666613666614f7265736f7572636556657273696f6e453134303930516372656174696f6e54696d657374616d7054323032362d31312d32315430323a34333a31395a4d6d616e616765644669656c647381a6476d616e6167657247756e6b6e6f776e496f7065726174696f6e465570646174654a61706956657273696f6e4276314474696d6554323032362d31312d32315430323a34333a31395a4a6669656c647354797065484669656c64735631486669656c64735631a146663a64617461a2412ea043663a6ba0446e616d654161496e616d6573706163655818776972652d30386e65676f74696174696f6e2d3336737a634464617461a1416b4176446b696e6449436f6e6669674d6170";

describe("encodeCbor", () => {
  it("writes a recorded answer again, byte for byte", () => {
    const object = decodeCbor(bytesOf(recorded));
    expect(object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { k: "v" } });
    expect(hex(encodeCbor(object as CborValue))).toBe(recorded);
  });

  it.each<[CborValue, string]>([
    [0, "00"],
    [23, "17"],
    [24, "1818"],
    [255, "18ff"],
    [256, "190100"],
    [65_536, "1a00010000"],
    [4_294_967_296, "1b0000000100000000"],
    [Number.MAX_SAFE_INTEGER, "1b001fffffffffffff"],
    [-1, "20"],
    [-25, "3818"],
    [2n ** 63n - 1n, "1b7fffffffffffffff"],
    [-(2n ** 63n), "3b7fffffffffffffff"],
    [1.5, "f93e00"],
    [0.1, "fb3fb999999999999a"],
    [100_000.5, "fa47c35040"],
    [5.960464477539063e-8, "f90001"],
    [0.00006103515625, "f90400"],
    [-4.1, "fbc010666666666666"],
    [1e300, "fb7e37e43c8800759c"],
    [false, "f4"],
    [true, "f5"],
    [null, "f6"],
    ["", "40"],
    ["ä", "42c3a4"],
    [Uint8Array.of(1, 2), "d6420102"],
    [[], "80"],
    [{}, "a0"],
    [{ b: 1, a: undefined }, "a1416201"],
  ])("%s is %s", (value, text) => {
    expect(hex(encodeCbor(value))).toBe(`d9d9f7${text}`);
  });

  it("refuses what JSON could not say", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n]) {
      expect(() => encodeCbor([value])).toThrow(CborError);
    }
  });

  it("takes any depth", () => {
    let value: CborValue = 1;
    for (let level = 0; level < 50_000; level++) value = [value];
    expect(encodeCbor(value).length).toBe(3 + 50_000 + 1);
  });

  it("puts a ready object into an event", () => {
    const event = encodeCborEvent("ADDED", encodeCbor({ a: 1 }));
    expect(hex(event)).toBe("d9d9f7a2447479706545414444454446" + "6f626a656374" + "d9d9f7a1416101");
    expect(decodeCbor(event)).toEqual({ type: "ADDED", object: { a: 1 } });
  });
});

describe("decodeCbor", () => {
  it.each([
    ["texts as text strings", "6161", "a"],
    ["indefinite lengths", "bf6161" + "9f01ff" + "ff", { a: [1] }],
    ["a text in chunks", "7f61616162ff", "ab"],
    ["a text in no chunks", "7fff", ""],
    [
      "a text in chunks of all sizes",
      `7f60${`78ff${"61".repeat(255)}`}62c3a960781e${"62".repeat(30)}ff`,
      `${"a".repeat(255)}é${"b".repeat(30)}`,
    ],
    ["texts in chunks one after another", "9f7f6161ff7f626263ff5f4164ffff", ["a", "bc", "d"]],
    ["bytes in chunks that no text has", "5f41c341a9ff", "é"],
    ["bytes to be shown as base64", "d6420102", "AQI="],
    ["bytes to be shown as base64url", "d542fbff", "-_8"],
    ["bytes to be shown in hex", "d742fbff", "fbff"],
    ["unknown tags", "d864820102", [1, 2]],
    ["a time", "c074323032342d30312d30315430303a30303a30305a", "2024-01-01T00:00:00Z"],
    ["seconds since 1970", "c11a65920080", "2024-01-01T00:00:00Z"],
    ["half precision", "f97bff", 65_504],
    ["smallest halves", "f90001", 5.960464477539063e-8],
    ["single precision", "fa47c35000", 100_000],
    ["numbers that are longer than they must be", "1b0000000000000001", 1],
    ["integers beyond doubles", "1b7fffffffffffffff", 2n ** 63n - 1n],
  ])("reads %s", (_, text, value) => {
    expect(decodeCbor(bytesOf(text))).toEqual(value);
  });

  it.each([
    ["nothing", "", "unexpected EOF"],
    ["a text cut off", "7a7a7a", "unexpected EOF"],
    ["a length beyond the end", "5b7fffffffffffffff", "unexpected EOF"],
    ["an array that cannot be there", "9b7fffffffffffffff", "unexpected EOF"],
    ["more than one item", "0101", "cbor: 1 bytes of extraneous data starting at index 1"],
    ["a key twice", "a2416101416102", 'cbor: found duplicate map key "a" at map element index 1'],
    ["a key as bytes and as text", "a2416101616102", 'cbor: found duplicate map key "a" at map element index 1'],
    ["a key that is no text", "a10101", "cbor: cannot unmarshal positive integer into Go value of type string"],
    ["broken UTF-8", "62c328", "cbor: invalid UTF-8 string"],
    ["no number", "f97e00", "cbor: floating-point NaN"],
    ["infinity", "fa7f800000", "cbor: floating-point infinity"],
    ["undefined", "f7", "cbor: simple value 23 is not recognized"],
    ["a big number", "c249010000000000000000", "cbor: cannot unmarshal bignum into Go value of type interface {}"],
    ["an integer of 65 bits", "1bffffffffffffffff", "overflows Go's int64"],
    ["a stray break", "ff", 'cbor: unexpected "break" code'],
    ["reserved lengths", "1c", "cbor: invalid additional information 28"],
    ["a chunk of another kind", "7f4161ff", "cbor: wrong element type byte string"],
    ["a character in two chunks", "7f61c361a9ff", "cbor: invalid UTF-8 string"],
    ["a long chunk that begins within a character", `7f61c3781e${"a9".repeat(30)}ff`, "cbor: invalid UTF-8 string"],
    ["broken UTF-8 before a chunk of another kind", "7f61c34161ff", "cbor: invalid UTF-8 string"],
    ["broken UTF-8 before the end", "7f61c361", "cbor: invalid UTF-8 string"],
    ["a chunk of another kind before broken UTF-8", "7f616141c361a9ff", "cbor: wrong element type byte string"],
    ["chunks without an end", "7f6161", "unexpected EOF"],
    ["bytes in a chunk that has no end", "5f416158", "unexpected EOF"],
    ["nesting without end", "81".repeat(70), "cbor: exceeded max nested level 64"],
    ["too many elements", `990401${"00".repeat(1025)}`, "cbor: exceeded max number of elements 1024 for CBOR array"],
    ["a time that is none", "c06161", "cbor: cannot set a for time.Time"],
  ])("refuses %s", (_, text, error) => {
    expect(() => decodeCbor(bytesOf(text))).toThrow(error);
  });

  it("decodes a text once, however many chunks it comes in", () => {
    const decode = vi.spyOn(TextDecoder.prototype, "decode");
    const chunks = "6161".repeat(10_000);
    expect(decodeCbor(bytesOf(`7f${chunks}ff`))).toBe("a".repeat(10_000));
    expect(decode.mock.calls).toHaveLength(1);
    decode.mockRestore();
  });

  it("keeps a key that every object has already", () => {
    const map = decodeCbor(bytesOf("a1495f5f70726f746f5f5f4178")) as object;
    expect(JSON.stringify(map)).toBe('{"__proto__":"x"}');
  });

  it("reads a sequence item by item", () => {
    const both = bytesOf(`${hex(encodeCbor({ a: 1 }))}${hex(encodeCbor("b"))}`);
    const first = decodeCborItem(both, 0);
    expect([first.value, decodeCborItem(both, first.end)]).toEqual([
      { a: 1 },
      { value: "b", end: both.length, count: 2 },
    ]);
  });
});

describe("both ways, and against another codec", () => {
  const text = fc.string({ unit: "grapheme" }).filter((one) => one !== "__proto__");
  const { value } = fc.letrec<{ value: CborValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, false),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => (number === 0 ? 0 : number)),
      fc.float({ noDefaultInfinity: true, noNaN: true }).map((number) => (number === 0 ? 0 : number)),
      text,
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(text, tie("value"), { maxKeys: 5 }),
    ),
  }));

  it("writes in parts what it writes whole", () => {
    const many = fc
      .array(value, { minLength: 1, maxLength: 3 })
      .map((some) => Array.from({ length: 7_000 }, (_, at) => some[at % some.length] as CborValue));
    fc.assert(
      fc.property(many, (list) => {
        const parts = [...encodeCborParts(list)];
        expect(parts.length).toBeGreaterThan(2);
        expect(hex(Buffer.concat(parts))).toBe(hex(encodeCbor(list)));
      }),
      { numRuns: 10 },
    );
  });

  it("reads what it wrote", () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(decodeCbor(encodeCbor(one))).toEqual({ one }.one);
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it("is read by cbor-x, once byte strings are texts", () => {
    const oracle = new Decoder({ mapsAsObjects: false, useRecords: false });
    fc.assert(
      fc.property(value, (one) => {
        expect(plain(oracle.decode(Buffer.from(encodeCbor(one))) as unknown)).toEqual({ one }.one);
      }),
      { seed: 6, numRuns: 1_000 },
    );
  });

  it("reads what cbor-x wrote", () => {
    const oracle = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false });
    fc.assert(
      fc.property(value, (one) => {
        expect(decodeCbor(Uint8Array.from(oracle.encode(one)))).toEqual({ one }.one);
      }),
      { seed: 7, numRuns: 1_000 },
    );
  });

  it("reads any bytes or refuses them, but never more than that", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          decodeCbor(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CborError);
        }
      }),
      { seed: 8, numRuns: 5_000 },
    );
  });
});

/** The oracle's maps and byte strings as objects and texts. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([key, child]) => [plain(key) as string, plain(child)]));
  }
  if (typeof value === "bigint") return Number(value);
  return Array.isArray(value) ? value.map(plain) : value;
}
