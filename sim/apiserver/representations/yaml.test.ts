import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Json } from "../http-message.ts";
import { yamlText } from "./yaml.ts";

describe("yamlText", () => {
  it("sorts keys, and does not indent lists", () => {
    expect(yamlText({ b: [{ z: 1, x: "z" }], a: {}, ".": { "f:k": {} } })).toBe(
      ".:\n  f:k: {}\na: {}\nb:\n- x: z\n  z: 1\n",
    );
  });

  it("quotes what would be read as something else", () => {
    expect(yamlText({ a: "1", b: "true", c: "2024-01-01T00:00:00Z", d: "", e: ".5", f: "." })).toBe(
      'a: "1"\nb: "true"\nc: "2024-01-01T00:00:00Z"\nd: ""\ne: ".5"\nf: .\n',
    );
  });

  it("breaks a long line at the first space behind the 80th column", () => {
    const message = "only these are accepted: application/json;stream=watch, application/vnd.svc.protobuf;stream=watch";
    expect(yamlText({ message })).toBe(
      "message: 'only these are accepted: application/json;stream=watch, application/vnd.svc.protobuf;stream=watch'\n",
    );
    expect(yamlText({ message: `${message}, ${message}` })).toBe(
      "message: 'only these are accepted: application/json;stream=watch, application/vnd.svc.protobuf;stream=watch,\n" +
        "  only these are accepted: application/json;stream=watch, application/vnd.svc.protobuf;stream=watch'\n",
    );
    const words = "word ".repeat(30).trim();
    expect(yamlText({ list: [words] }).split("\n")[2]).toMatch(/^ {2}word/);
    expect(yamlText({ a: { b: words } }).split("\n")[2]).toMatch(/^ {4}word/);
  });

  it("is read as what it was written from, however long and odd the texts", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
      fc
        .array(fc.constantFrom("word", "a: b", "#c", "'q'", '"q"', "-", " ", "x|", "|"), { maxLength: 60 })
        .map((words) => words.join(" ")),
      fc.array(fc.string({ maxLength: 100 }), { maxLength: 4 }).map((lines) => lines.join("\n")),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "key", "f:x", ".", "a b"), tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        expect(parse(yamlText({ one }))).toEqual({ one });
      }),
      { seed: 4, numRuns: 1_000 },
    );
  });
});
