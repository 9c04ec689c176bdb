import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { JsonDocuments } from "./json-documents.ts";

describe("JsonDocuments", () => {
  it("gives the same documents however the bytes are cut, separators or none", () => {
    const documents = fc.array(
      fc.dictionary(fc.string({ unit: "grapheme" }), fc.oneof(fc.string({ unit: "binary-ascii" }), fc.json())),
      { maxLength: 5 },
    );
    const separators = fc.constantFrom("", "\n", "\r\n", "  \t");
    fc.assert(
      fc.property(documents, separators, fc.array(fc.nat(400)), (values, separator, cuts) => {
        const bytes = new TextEncoder().encode(values.map((value) => JSON.stringify(value) + separator).join(""));
        const parser = new JsonDocuments();
        const found: unknown[] = [];
        const edges = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        let from = 0;
        for (const edge of edges) {
          for (const text of parser.push(bytes.subarray(from, edge))) found.push(JSON.parse(text));
          from = edge;
        }
        expect(found).toEqual(values);
        expect(parser.rest()).toBe("");
      }),
      { seed: 1 },
    );
  });

  it("shows what was cut off at the end", () => {
    const parser = new JsonDocuments();
    expect(parser.push(new TextEncoder().encode('{"a":1}\n{"b":'))).toEqual(['{"a":1}']);
    expect(parser.rest()).toBe('{"b":');
  });

  it("looks for the end of a text once, however many escapes come before it", () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ a: "\n".repeat(10_000) }));
    const looked = vi.spyOn(String.prototype, "indexOf");
    try {
      expect(new JsonDocuments().push(bytes)).toHaveLength(1);
      expect(looked.mock.calls.filter(([character]) => character === '"').length).toBeLessThan(10);
      expect(looked.mock.calls.length).toBeLessThan(10_100);
    } finally {
      looked.mockRestore();
    }
  });

  it("refuses what is no stream of objects", () => {
    expect(() => new JsonDocuments().push(new TextEncoder().encode("404 page not found"))).toThrow(SyntaxError);
  });
});
