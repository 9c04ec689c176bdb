import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Gathered } from "../../wire/gathered.ts";
import { append } from "../../wire/lists.ts";
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
          for (const document of parser.push(bytes.subarray(from, edge)))
            found.push(JSON.parse(parser.textOf(document)));
          from = edge;
        }
        expect(found).toEqual(values);
        expect(parser.isInside).toBe(false);
      }),
      { seed: 1 },
    );
  });

  it("says whether the end came inside a document", () => {
    const parser = new JsonDocuments();
    const complete = parser.push(new TextEncoder().encode('{"a":1}\n{"b":'));
    expect(complete.map((document) => parser.textOf(document))).toEqual(['{"a":1}']);
    expect(parser.isInside).toBe(true);
  });

  it("reads a document as text once, however many pieces it comes in", () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ a: "\n".repeat(10_000) }));
    const decoded = vi.spyOn(TextDecoder.prototype, "decode");
    try {
      const parser = new JsonDocuments();
      const complete: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at++) append(complete, parser.push(bytes.subarray(at, at + 1)));
      expect(complete.map((document) => parser.textOf(document).length)).toEqual([bytes.length]);
      expect(decoded.mock.calls.length).toBe(1);
    } finally {
      decoded.mockRestore();
    }
  });

  it("keeps the pieces of a document that does not end in few buffers", () => {
    const parser = new JsonDocuments();
    const pieces = vi.spyOn(Gathered.prototype, "add");
    const one = new TextEncoder().encode("{");
    for (let at = 0; at < 100_000; at++) parser.push(one);
    const [gathered] = pieces.mock.contexts as Gathered[];
    pieces.mockRestore();
    expect(gathered?.pieces().length).toBeLessThan(20);
  });

  it("refuses what is no stream of objects", () => {
    expect(() => new JsonDocuments().push(new TextEncoder().encode("404 page not found"))).toThrow(SyntaxError);
  });
});
