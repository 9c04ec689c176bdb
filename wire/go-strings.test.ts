import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareBytes,
  encodeJson,
  encodePrettyJson,
  goQuote,
  jsonPieces,
  LazyItems,
  sortByBytes,
  utf8Length,
} from "./go-strings.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("goQuote", () => {
  it.each([
    ["", '""'],
    ["plain text", '"plain text"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ["\x07\b\f\n\r\t\v", String.raw`"\a\b\f\n\r\t\v"`],
    ["\0\x1f\x7f", String.raw`"\x00\x1f\x7f"`],
    ["é 日本 😀", '"é 日本 😀"'],
    ["\u0085\u00a0\u200b\ufeff", String.raw`"\u0085\u00a0\u200b\ufeff"`],
    ["\u{e0001}", String.raw`"\U000e0001"`],
    ["\ud800", '"\ufffd"'],
    ["`'", '"`\'"'],
  ])("%j → %s", (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });

  it("quotes each character as it would alone", () => {
    const unit = fc.constantFrom(
      "a",
      " ",
      '"',
      "\\",
      "\0",
      "\n",
      "\x1f",
      "\x7f",
      "\u0085",
      "é",
      "😀",
      "\ud800",
      "\u{e0001}",
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const alone = [...text.toWellFormed()].map((char) => goQuote(char).slice(1, -1));
        expect(goQuote(text)).toBe(`"${alone.join("")}"`);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe("byte order and byte length", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "é", "߿", "ࠀ", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"),
    maxLength: 6,
  });

  it("orders as the encoded bytes do", () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(Math.sign(compareBytes(left, right))).toBe(Buffer.compare(bytes(left), bytes(right)));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it("puts texts in that order, whether or not surrogates decide", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
        expect(sortByBytes([...texts])).toEqual(texts.toSorted(compareBytes));
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  it("counts what the encoder writes, lone surrogates included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "\ud800", "\udc00"), (value, lone) => {
        expect(utf8Length(value + lone)).toBe(bytes(value + lone).length);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });
});

describe("encodeJson", () => {
  it("escapes what Go escapes", () => {
    expect(encodeJson({ "<k>": "a&b\u2028\u2029é" })).toBe(String.raw`{"\u003ck\u003e":"a\u0026b\u2028\u2029é"}`);
    expect(encodeJson("\b\f\n\r\t\x01\x7f")).toBe(`"\\b\\f\\n\\r\\t\\u0001\x7f"`);
  });

  it("keeps the order of fields and puts maps with integer keys in byte order", () => {
    expect(encodeJson({ b: 1, a: { "9": "x", "10": "y", "-": "z" } })).toBe('{"b":1,"a":{"-":"z","10":"y","9":"x"}}');
    expect(encodeJson({ b: 1, a: '"1":' })).toBe(String.raw`{"b":1,"a":"\"1\":"}`);
  });

  it("writes integers beyond 2^53 exactly", () => {
    expect(encodeJson({ a: [9007199254740993n, 1] })).toBe('{"a":[9007199254740993,1]}');
  });

  it("leaves undefined out, on both ways", () => {
    expect(encodeJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(encodeJson({ a: undefined, "1": 1n })).toBe('{"1":1}');
  });

  it("goes as deep as a document may", () => {
    const text = `${'{"a":['.repeat(5000)}1${"]}".repeat(5000)}`;
    expect(encodeJson(JSON.parse(text))).toBe(text);
  });

  it("indents by two spaces, on both ways", () => {
    const value = { a: [1, { b: [], c: {} }], d: "<" };
    expect(encodePrettyJson(value)).toBe(JSON.stringify(value, null, 2).replace("<", "\\u003c"));
    expect(encodePrettyJson({ ...value, e: { "1": [] } })).toBe(
      JSON.stringify({ ...value, e: { "1": [] } }, null, 2).replace("<", "\\u003c"),
    );
  });

  it("means the same as JSON.stringify, whatever the keys", () => {
    const key = fc.oneof(fc.string(), fc.nat().map(String));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree as fc.Arbitrary<unknown>, fc.boolean(), (value, slow) => {
        const whole = slow ? [value, 1n] : [value];
        const plain = slow ? [value, 1] : [value];
        expect(JSON.parse(encodeJson(whole))).toEqual(JSON.parse(JSON.stringify(plain)));
        expect(JSON.parse(encodePrettyJson(whole))).toEqual(JSON.parse(JSON.stringify(plain)));
        expect(encodeJson(whole)).not.toMatch(/[<>&\u2028\u2029]/);
      }),
      { seed: 3, numRuns: 1000 },
    );
  });
});

describe("JSON in pieces", () => {
  const long = `\u0001"<${"😀v".repeat(100_000)}\u2028`;

  it.each([false, true])("is the whole's text, pretty: %s", (isPretty) => {
    const encoded = isPretty ? encodePrettyJson : encodeJson;
    for (const value of [
      [],
      {},
      "a",
      1,
      null,
      [long, { [long]: [long, [], {}] }],
      { a: [1, undefined, true, { b: "" }] },
    ]) {
      expect([...jsonPieces(value, isPretty)].join("")).toBe(encoded(value));
    }
  });

  it("makes none longer than some tens of thousands of characters, whatever the texts are", () => {
    const sizes = (value: unknown): number[] => [...jsonPieces(value, true)].map(({ length }) => length);
    expect(Math.max(...sizes([long, "v".repeat(3_000_000)]))).toBeLessThan(80_000);
    expect(Math.max(...sizes("\u0001".repeat(500_000)))).toBeLessThan(270_000); // six characters for one
  });

  it("takes items one by one", () => {
    let made = 0;
    const items = function* (): Generator<unknown> {
      for (; made < 1_000; made++) yield { at: made, text: "v".repeat(1_000) };
    };
    const pieces = jsonPieces({ head: {}, items: new LazyItems(items()), tail: new LazyItems([]) }, true);
    const first = pieces.next().value as string;
    expect(made).toBeLessThan(50);
    expect(JSON.parse([first, ...pieces].join(""))).toEqual({
      head: {},
      items: Array.from({ length: 1_000 }, (_, at) => ({ at, text: "v".repeat(1_000) })),
      tail: [],
    });
  });
});
