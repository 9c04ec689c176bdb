import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { encodeCbor } from "../../wire/cbor.ts";
import { cborIn, cborItemsIn, jsonIn, readOr, unpackedText, yamlIn } from "./read-bodies.ts";

describe("bodies in other encodings than JSON", () => {
  it("are unpacked up to the bound of a body: a packed megabyte may hold a gigabyte", () => {
    expect(unpackedText(gzipSync("a".repeat(1000)))).toBe("a".repeat(1000));
    expect(() => unpackedText(gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1)))).toThrow(/larger than 67108864/);
  });

  it("are read as JSON within the bounds of an answer", () => {
    expect(jsonIn('{"a":[1]}')).toEqual({ a: [1] });
    expect(() => jsonIn(`[${"{},".repeat(3_000_000)}{}]`)).toThrow("more than 3,000,000 values");
    expect(() => jsonIn(`${"[".repeat(1001)}${"]".repeat(1001)}`)).toThrow("nested more than 1,000 deep");
  });

  it("are read as YAML of the version that is meant, up to so many lines", () => {
    expect([yamlIn("a: yes"), yamlIn("a: yes", "1.1")]).toEqual([{ a: "yes" }, { a: true }]);
    expect(() => yamlIn("- a\n".repeat(300_000))).toThrow("more than 200000 lines, commas and brackets");
    expect(() => yamlIn("a: [b")).toThrow();
    expect(readOr(() => yamlIn("a: [b"))).toBeUndefined();
  });

  it("are read as CBOR up to so many items, in one item or in a sequence", () => {
    const item = encodeCbor({ a: [1, "b"] });
    expect(cborIn(item)).toEqual({ a: [1, "b"] });
    expect(cborItemsIn(Buffer.concat([item, item]))).toEqual([{ a: [1, "b"] }, { a: [1, "b"] }]);
    const zeros = Buffer.concat([Buffer.of(0x99, 4, 0), Buffer.alloc(1024)]); // an array of 1,024 numbers
    const many = Buffer.concat([Buffer.of(0x99, 4, 0), ...Array.from({ length: 1024 }, () => zeros)]);
    expect(cborIn(many)).toHaveLength(1024); // more than a million items in all
    expect(() => cborItemsIn(Buffer.concat([many, many, many]))).toThrow("exceeded max number of items");
    expect(() => cborItemsIn(Buffer.alloc(3_000_001))).toThrow("exceeded max number of items");
  });
});
