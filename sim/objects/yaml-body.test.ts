import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseYaml } from "./yaml-body.ts";

/** The value, or the refusal's text. Expectations were tried against the published reader. */
const read = (text: string): unknown => {
  const body = parseYaml(text);
  return body.ok ? body.value : body.error;
};

describe("a plain scalar", () => {
  it.each([
    ["yes", true],
    ["Off", false],
    ["yEs", "yEs"],
    ["~", null],
    ["0o17", 15],
    ["-0o17", -15],
    ["017", 15],
    ["08", 8],
    ["0X1F", 31],
    ["0b101", 5],
    ["1_000", 1000],
    ["1:30", "1:30"],
    ["2001-01-01", "2001-01-01"],
    ["2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"],
    [".5", 0.5],
    [".1_2", 0.12],
    ["._1", "._1"],
    [".", "."],
    ["e1", "e1"],
    ["1e3", 1000],
    ["1e400", "1e400"],
    ["0x1ffffffffffffffff", "0x1ffffffffffffffff"],
    ["9223372036854775807", 9223372036854775807n],
    ["18446744073709551616", 18446744073709552000],
    ["!!str 5", "5"],
    ['!!int "5"', 5],
    ["!!float 5", 5],
    ["!!binary aGVsbG8=", "hello"],
    ["!!set {a, b}", { a: null, b: null }],
    ["!!omap [a: 1]", [{ a: 1 }]],
    ["!other 5", "5"],
  ])("%s", (text, value) => {
    expect(read(`k: ${text}\n`)).toEqual({ k: value });
    expect(read(`[${text}]\n`)).toEqual([value]);
  });

  it.each([
    [".inf", "json: unsupported value: +Inf"],
    ["-.Inf", "json: unsupported value: -Inf"],
    [".NaN", "json: unsupported value: NaN"],
    ["!!int 1.0", "yaml: cannot decode !!float `1.0` as a !!int"],
    ["!!int abc", "yaml: cannot decode !!str `abc` as a !!int"],
    ["!!binary '!!'", "yaml: !!binary value contains invalid base64 data"],
    ['"\\/"', "yaml: found unknown escape character"],
    ['"\\x4g"', "yaml: did not find expected hexdecimal number"],
    ['"\\u00e"', "yaml: did not find expected hexdecimal number"],
    ['"\\U00110000"', "yaml: found invalid Unicode character escape code"],
    ['"\\ud83d\\ude00"', "yaml: found invalid Unicode character escape code"],
  ])("%s is refused", (text, error) => expect(read(`k: ${text}\n`)).toBe(error));

  it("reads the escapes that both languages have", () => {
    expect(read(String.raw`k: "a\x41\u00e9\u00Fc\x4a\U0001F600\\/\n"`)).toEqual({ k: "aAéüJ😀\\/\n" });
  });
});

describe("a key", () => {
  it.each([
    ["1", "1"],
    ["0x10", "16"],
    ["1.50", "1.5"],
    ["1e6", "1e+06"],
    ["123456789.0", "1.2345679e+08"],
    ["1e-7", "1e-07"],
    [".inf", ".inf"],
    ["yes", "true"],
    ["e1", "e1"],
    ["__proto__", "__proto__"],
  ])("%s is a text", (key, name) => {
    expect(Object.entries(read(`${key}: v\n`) as object)).toEqual([[name, "v"]]);
  });

  it.each([
    ["~: v", 'Unsupported map key of type: %!s(<nil>), key: <nil>, value: "v"'],
    ["18446744073709551615: v", 'Unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "v"'],
    ["[a]: v", 'yaml: invalid map key: []interface {}{"a"}'],
    ["? {a: 1}\n: v", 'yaml: invalid map key: map[interface {}]interface {}{"a":1}'],
  ])("%s is refused", (text, error) => expect(read(`${text}\n`)).toBe(error));
});

describe("merges and aliases", () => {
  it.each([
    ["a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", { a: { b: 1 }, c: { b: 2 } }, 'line 4: key "b" already set in map'],
    ["a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", { a: { b: 1 }, c: { b: 1 } }, 'line 1: key "b" already set in map'],
    [
      "a: &x {b: 1}\nc:\n  <<: [*x, {b: 2, d: 3}]\n",
      { a: { b: 1 }, c: { b: 1, d: 3 } },
      'line 1: key "b" already set in map',
    ],
    ["'<<': {a: 1}\n", { "<<": { a: 1 } }, undefined],
    ["a: &x 1\nb: &x 2\nc: *x\n", { a: 1, b: 2, c: 2 }, undefined],
    ["a: 1\na:\n\n- 2\n", { a: [2] }, 'line 4: key "a" already set in map'],
    ["yes: 1\ntrue: 2\n", { true: 2 }, "line 2: key true already set in map"],
    ["1: a\n'1': b\n", { 1: "b" }, undefined],
  ])("%j", (text, value, duplicate) => {
    const body = parseYaml(text);
    expect(body).toEqual({ ok: true, value, duplicates: duplicate === undefined ? [] : [duplicate] });
  });

  it.each([
    ["c: *nope\n", "yaml: unknown anchor 'nope' referenced"],
    ["a: &x [1, *x]\n", "yaml: anchor 'x' value contains itself"],
    ["a: &x {b: *x}\n", "yaml: anchor 'x' value contains itself"],
    ["c:\n  <<: 5\n", "yaml: map merge requires map or sequence of maps as the value"],
  ])("%j is refused", (text, error) => expect(read(text)).toBe(error));

  it("refuses what multiplies, and not what repeats a little", () => {
    const few = `a: &x {k: v}\n${Array.from({ length: 60 }, (_, at) => `b${at}: *x\n`).join("")}`;
    expect(read(few)).toMatchObject({ b59: { k: "v" } });
    const bomb = Array.from(
      { length: 9 },
      (_, at) =>
        `l${at}: &l${at} [${Array(9)
          .fill(at === 0 ? "x" : `*l${at - 1}`)
          .join(",")}]\n`,
    );
    expect(read(bomb.join(""))).toBe("yaml: document contains excessive aliasing");
  });
});

describe("documents", () => {
  it.each([
    ["a: 1\n---\nb: 2\n", { a: 1 }],
    ["# c\n---\na: 1\n...\nb\n", { a: 1 }],
    ["%YAML 1.1\n---\na: yes\n", { a: true }],
    ["", null],
    ["%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"],
    ["%FOO bar\n---\na: 1\n", "yaml: found unknown directive name"],
    ["a: \u0001\n", "yaml: control characters are not allowed"],
    ["a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token"],
    ["a: b: c\n", "yaml: mapping values are not allowed in this context"],
    ["a: @b\n", "yaml: found character that cannot start any token"],
    ["a: 'b\n", "yaml: line 2: found unexpected end of stream"],
    ["{a: 1\n", "yaml: line 1: did not find expected ',' or '}'"],
    ["a: - b\n", "yaml: block sequence entries are not allowed in this context"],
  ])("%j", (text, value) => expect(read(text)).toEqual(value));
});

describe("what another program has written", () => {
  const styles = fc.record({
    version: fc.constant("1.1" as const),
    collectionStyle: fc.constantFrom("any" as const, "flow" as const),
    defaultStringType: fc.constantFrom(
      "PLAIN" as const,
      "QUOTE_SINGLE" as const,
      "QUOTE_DOUBLE" as const,
      "BLOCK_LITERAL" as const,
      "BLOCK_FOLDED" as const,
    ),
    indentSeq: fc.boolean(),
    lineWidth: fc.constantFrom(0, 20, 80),
  });
  // Of escapes beyond 16 bits, and of what begins with an indicator in a flow, the two languages differ.
  const any = fc.string({ unit: fc.constantFrom(..."ab1 -:#,[]{}'\"\n&*!|>%@.~é\\_0") });
  const text = any.filter((each) => !/^[:?]/.test(each));
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie("list"), tie("map")),
    list: fc.array(tie("any"), { maxLength: 4 }),
    map: fc.dictionary(
      text.filter((key) => key !== "<<" && key !== "__proto__"),
      tie("any"),
      { maxKeys: 4 },
    ),
  })).any;

  it("is read as it was meant", () => {
    fc.assert(
      fc.property(value, styles, (meant, style) => {
        const written = stringify({ v: meant }, style);
        expect([written, read(written)]).toEqual([written, { v: meant }]);
      }),
      { seed: 20_261_122, numRuns: 1_500 },
    );
  });
});
