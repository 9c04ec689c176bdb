import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../contract/http-message.ts";
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

  it.each([
    ["tab\there", '"tab\\there"'],
    ["\ttab", '"\\ttab"'],
    [" space", "' space'"],
    ["#no comment", "'#no comment'"],
    ["it's", "it's"],
    ["'quoted'", "'''quoted'''"],
    ["&anchor", "'&anchor'"],
    ["smile 😀", '"smile \\U0001F600"'],
    ["é", "é"],
    ["a\r\nb", '"a\\r\\nb"'],
    ["a\nb", "|-\n  a\n  b"],
    ["a\nb\n", "|\n  a\n  b"],
    ["a\n\n", "|+\n  a\n"],
    ["\na", "|2-\n\n  a"],
    [" a\nb", "|2-\n   a\n  b"],
    ["a\n b", "|-\n  a\n   b"],
    ["a \nb", '"a \\nb"'],
    ["a\tb\nc", '"a\\tb\\nc"'],
    ["0o17", '"0o17"'],
    ["1_000", '"1_000"'],
    ["1:30", '"1:30"'],
    ["e1", "e1"],
    ["y", '"y"'],
    ["2020-13-45", "2020-13-45"],
    ["2020-01-01 10:00:00", '"2020-01-01 10:00:00"'],
    ["<<", "<<"],
    ["-", "'-'"],
    ["-a", "-a"],
    ["a: b", "'a: b'"],
    ["a:b", "a:b"],
    [`${"a".repeat(90)} b  c 'd' e`, `${"a".repeat(90)}\n  b  c 'd' e`],
    [`: ${"a".repeat(90)} it's b  c d `, `': ${"a".repeat(90)}\n  it''s b  c d '`],
    [`${"a".repeat(90)} b  c "d" é😀 e\x01 `, `"${"a".repeat(90)}\n  b  c \\"d\\" é\\U0001F600 e\\x01 "`],
  ])("writes %j as the real encoder does", (text, written) => {
    expect(yamlText({ k: text })).toBe(`k: ${written}\n`);
  });

  it("writes numbers as the real encoder does", () => {
    expect(yamlText([1, -5, 1.5, 1e6, 1234567.5, 1e21, 1e-7])).toBe(
      "- 1\n- -5\n- 1.5\n- 1000000\n- 1.2345675e+06\n- 1e+21\n- 1e-07\n",
    );
  });

  it("orders keys as people do, and puts long ones and those of several lines behind a mark", () => {
    expect(yamlText({ a10: 1, a2: 1, _: 1, b: 1, B: 1, "1": 1, a: 1, "": 1 })).toBe(
      '"": 1\n_: 1\n"1": 1\nB: 1\na: 1\na2: 1\na10: 1\nb: 1\n',
    );
    expect(yamlText({ "x\ny": [1], ["k".repeat(129)]: { a: 1 } })).toBe(
      `? ${"k".repeat(129)}\n: a: 1\n? |-\n  x\n  y\n: - 1\n`,
    );
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
