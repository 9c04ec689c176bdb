import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FieldSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  compileLabelSelector,
  exactFieldValue,
  isSelectorError,
  labelSelectorPart,
  parseFieldSelector,
  parseLabelSelector,
} from "./selectors.ts";

function labels(text: string): LabelSelector {
  const result = parseLabelSelector(text);
  if (isSelectorError(result)) throw new Error(`${text}: ${result.message}`);
  return result;
}

function fields(text: string): FieldSelector {
  const result = parseFieldSelector(text);
  if (isSelectorError(result)) throw new Error(`${text}: ${result.message}`);
  return result;
}

const labelError = (text: string): string | undefined => {
  const result = parseLabelSelector(text);
  return isSelectorError(result) ? result.message : undefined;
};

const fieldError = (text: string): string | undefined => {
  const result = parseFieldSelector(text);
  return isSelectorError(result) ? result.message : undefined;
};

/** Facts of the public grammar: text, and what it means. */
const readings: readonly [
  text: string,
  meaning: readonly [key: string, operator: LabelOperator, ...values: string[]][],
][] = [
  ["", []],
  ["  \t", []],
  ["a ", [["a", "exists"]]],
  ["\rx", [["x", "exists"]]],
  ["!x", [["x", "!"]]],
  ["! x", [["x", "!"]]],
  ["x=", [["x", "=", ""]]],
  [
    "x= ,z= ",
    [
      ["x", "=", ""],
      ["z", "=", ""],
    ],
  ],
  ["x==a", [["x", "==", "a"]]],
  [
    "z=c,x!=a,y==b",
    [
      ["x", "!=", "a"],
      ["y", "==", "b"],
      ["z", "=", "c"],
    ],
  ],
  [
    "x>1,z<5",
    [
      ["x", "gt", "1"],
      ["z", "lt", "5"],
    ],
  ],
  ["notin=in", [["notin", "=", "in"]]],
  ["in in (in)", [["in", "in", "in"]]],
  ["in", [["in", "exists"]]],
  ["a in (x,y,notin, z,in)", [["a", "in", "in", "notin", "x", "y", "z"]]],
  ["x in ()", [["x", "in", ""]]],
  ["x notin ( )", [["x", "notin", ""]]],
  ["x notin (, a)", [["x", "notin", "", "a"]]],
  ["x in (abc,)", [["x", "in", "", "abc"]]],
  ["x in (a,,b)", [["x", "in", "", "a", "b"]]],
  ["x in (,,,)", [["x", "in", ""]]],
  ["x in (b,a,b)", [["x", "in", "a", "b"]]],
  ["foo  in\t (abc)", [["foo", "in", "abc"]]],
  ["x notin\n (abc)", [["x", "notin", "abc"]]],
  [
    "x,y in (a)",
    [
      ["x", "exists"],
      ["y", "in", "a"],
    ],
  ],
  [
    "x notin (abc,def),bar,z in (),w",
    [
      ["bar", "exists"],
      ["w", "exists"],
      ["x", "notin", "abc", "def"],
      ["z", "in", ""],
    ],
  ],
  [
    "0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)",
    [["0.1.2.domain/99", "notin", "10.10.100.1", "tick.tack.clock"]],
  ],
  ["this-is-a-dns.domain.com/key-with-dash", [["this-is-a-dns.domain.com/key-with-dash", "exists"]]],
  [
    "z!=a,z",
    [
      ["z", "!=", "a"],
      ["z", "exists"],
    ],
  ],
];

describe("label selectors: reading", () => {
  it.each(readings)("%j", (text, meaning) => {
    const { requirements, empty } = labels(text);
    expect(requirements.map(({ key, operator, values }) => [key, operator, ...values])).toEqual(meaning);
    expect(empty).toBe(meaning.length === 0);
  });

  it("ends at a NUL, except behind a word, which it only ends", () => {
    expect(labels("a \0 nonsense =(").requirements).toEqual(labels("a").requirements);
    expect(labelError("a\0b")).toBe("unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  });
});

describe("label selectors: errors", () => {
  const requirement = "unable to parse requirement: ";
  const valueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const nameRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const integer = "for 'Gt', 'Lt' operators, the value must be an integer";
  it.each([
    ["a in b", `${requirement}found 'b' expected: '('`], // recorded
    ["a=-bad-", `${requirement}values[0][a]: Invalid value: "-bad-": ${valueRule}`], // recorded
    ["x=a||y=b", `${requirement}values[0][x]: Invalid value: "a||y": ${valueRule}`],
    ["x==a==b", "found '==', expected: ',' or 'end of string'"],
    ["!x=a", "found '=', expected: ',' or 'end of string'"],
    ["x<a", `${requirement}values[0]: Invalid value: "a": ${integer}`],
    ["x>", `${requirement}values[0]: Invalid value: "": ${integer}`],
    ["x>9223372036854775808", `${requirement}values[0]: Invalid value: "9223372036854775808": ${integer}`],
    ["x>-1", `${requirement}values[0][x]: Invalid value: "-1": ${valueRule}`],
    [
      "x>-a",
      `${requirement}[values[0]: Invalid value: "-a": ${integer}, values[0][x]: Invalid value: "-a": ${valueRule}]`,
    ],
    ["x<=1", `${requirement}found '=', expected: identifier`],
    [",x,y", "found ',', expected: !, identifier, or 'end of string'"],
    ["a in (xyz),", "found '', expected: identifier after ','"],
    ["a in (xyz)b notin ()", "found 'b', expected: ',' or 'end of string'"],
    ["x nott in (y)", `${requirement}found 'nott', expected: in, notin, =, ==, !=, gt, lt`],
    ["a in (xyz abc)", `${requirement}found 'abc', expected: ',' or ')'`],
    ["a notin(", `${requirement}found '', expected: ',', ')' or identifier`],
    ["a in (,,)", `${requirement}found ')', expected: ',', or identifier`], // two commas are one empty value, then a value is due
    ["x>+1", `${requirement}values[0][x]: Invalid value: "+1": ${valueRule}`],
    ["a in (b,", `${requirement}found '', expected: ',', or identifier`],
    ["a (", `${requirement}found '(', expected: in, notin, =, ==, !=, gt, lt`],
    ["(", "found '(', expected: !, identifier, or 'end of string'"],
    ["!", `${requirement}found '', expected: identifier`],
    ["a!b", `${requirement}found '!', expected: in, notin, =, ==, !=, gt, lt`],
    ["-a", `${requirement}<nil>: Invalid value: "-a": ${nameRule}`],
    [
      "a/b/c",
      `${requirement}<nil>: Invalid value: "a/b/c": a qualified name ${nameRule.slice(10)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    [
      `${"a".repeat(64)}`,
      `${requirement}<nil>: Invalid value: "${"a".repeat(64)}": name part must be no more than 63 characters`,
    ],
    [
      "x in (ok,-a,-b)",
      `${requirement}[values[0][x]: Invalid value: "-a": ${valueRule}, values[1][x]: Invalid value: "-b": ${valueRule}]`,
    ],
  ])("%j", (text, message) => {
    expect(labelError(text)).toBe(message);
  });
});

describe("label selectors: matching", () => {
  const set = { foo: "bar", baz: "blah" };
  it.each<[text: string, labels: Record<string, string> | undefined, matches: boolean]>([
    ["", { x: "y" }, true],
    ["", undefined, true],
    ["x=y", { x: "y" }, true],
    ["x=y", { x: "z" }, false],
    ["x=z", undefined, false],
    ["x=", {}, false],
    ["x=", { x: "" }, true],
    ["x=y,z=w", { x: "y", z: "w" }, true],
    ["x=y,z=w", { x: "w", z: "w" }, false],
    ["x!=y,z!=w", { x: "z", z: "a" }, true],
    ["x!=y,z!=w", { x: "z", z: "w" }, false],
    ["x!=y", {}, true],
    ["x!=", {}, true],
    ["x", { x: "" }, true],
    ["x", { y: "z" }, false],
    ["!x", { y: "z" }, true],
    ["!x", { x: "" }, false],
    ["x>1", { x: "2" }, true],
    ["x>1", { x: "1" }, false],
    ["x<1", { x: "0" }, true],
    ["x<1", { x: "2" }, false],
    ["x>1", { x: "v2" }, false],
    ["x<1", {}, false],
    ["x>9007199254740992", { x: "9007199254740993" }, true],
    ["x>1", { x: "99999999999999999999" }, false],
    ["x in (foo),y notin (alpha)", { x: "foo", y: "baz" }, true],
    ["x in (foo),y in (alpha)", { x: "foo", y: "baz" }, false],
    ["x notin (),y", { y: "" }, true],
    ["!x,y", { y: "" }, true],
    ["x notin (),!y", { y: "" }, false],
    ["x in ()", { y: "baz" }, false],
    ["x in ()", { x: "" }, true],
    ["foo=bar,baz=blah", set, true],
    ["foo=bar,foobar=bar,baz=blah", set, false],
    ["constructor", {}, false],
    ["!toString", {}, true],
  ])("%j on %j: %s", (text, value, expected) => {
    expect(labels(text).matches(value)).toBe(expected);
  });

  const key = fc.constantFrom("a", "b", "in", "x.io/c");
  const value = fc.constantFrom("", "1", "2", "10", "v", "notin");
  const requirement = fc.oneof(
    fc.record({ key, operator: fc.constantFrom("exists", "!"), values: fc.constant<string[]>([]) }),
    fc.record({ key, operator: fc.constantFrom("=", "==", "!="), values: fc.tuple(value) }),
    fc.record({ key, operator: fc.constantFrom("in", "notin"), values: fc.uniqueArray(value, { minLength: 1 }) }),
    fc.record({ key, operator: fc.constantFrom("gt", "lt"), values: fc.tuple(fc.constantFrom("1", "2", "10")) }),
  );
  type Requirement = { key: string; operator: string; values: readonly string[] };

  const write = ({ key, operator, values }: Requirement, space: string): string => {
    if (operator === "exists") return `${key}${space}`;
    if (operator === "!") return `!${space}${key}`;
    if (operator === "in" || operator === "notin")
      return `${key} ${operator}${space}(${space}${values.join(`${space},`)})`;
    return `${key}${space}${operator === "gt" ? ">" : operator === "lt" ? "<" : operator}${space}${values[0]}`;
  };
  /** As the grammar's documentation says it, one clause a line; shares nothing with the compiled form. */
  const holds = ({ key, operator, values }: Requirement, labels: Map<string, string>): boolean => {
    const has = labels.has(key);
    const actual = labels.get(key) ?? "";
    if (operator === "exists") return has;
    if (operator === "!") return !has;
    if (operator === "=" || operator === "==" || operator === "in") return has && values.includes(actual);
    if (operator === "!=" || operator === "notin") return !has || !values.includes(actual);
    if (!has || !/^\d+$/.test(actual)) return false;
    return operator === "gt" ? Number(actual) > Number(values[0]) : Number(actual) < Number(values[0]);
  };

  it("agrees with a naive reading of every written selector", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(requirement, { maxLength: 4 }), fc.array(requirement, { minLength: 9, maxLength: 16 })),
        fc.dictionary(key, value),
        fc.constantFrom("", " ", " \t"),
        (requirements, object, space) => {
          const selector = labels(requirements.map((row) => write(row, space)).join(","));
          const expected = requirements.every((row) => holds(row, new Map(Object.entries(object))));
          expect(selector.matches(object)).toBe(expected);
        },
      ),
      { seed: 1, numRuns: 2000 },
    );
  });

  it("asks one key a few things, however often it is named", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `a!=z${at}`);
    const read = labels([...many, "a notin (y,x)", "b in (1,2,3)", "b in (2,3,4)", "b>1", "b>2", "b<9", "c"].join(","));
    let asked = 0;
    const counted = (object: Record<string, string>) =>
      new Proxy(object, { get: (target, key) => (asked++, Reflect.get(target, key) as unknown) }) as typeof object;
    expect(read.matches(counted({ a: "q", b: "3", c: "" }))).toBe(true);
    expect(asked).toBeLessThan(20); // 2,007, one by one
    for (const [key, value] of [
      ["a", "z1999"],
      ["a", "x"],
      ["b", "2"],
      ["b", "4"],
      ["b", "1"],
    ] as const)
      expect(read.matches({ a: "q", b: "3", c: "", [key]: value })).toBe(false);
    expect(read.matches({ b: "3", c: "" })).toBe(true);
    expect(read.matches({ a: "q", c: "" })).toBe(false);
  });

  it("looks at few of the labels of an object that has thousands", () => {
    const read = labels(Array.from({ length: 10 }, (_, at) => `k${at * 500}!=v`).join(","));
    const object: Record<string, string> = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, ""]));
    let seen = 0;
    const counted = new Proxy(object, {
      getOwnPropertyDescriptor: (target, key) => (seen++, Reflect.getOwnPropertyDescriptor(target, key)),
    });
    expect(read.matches(counted)).toBe(true);
    expect(seen).toBeLessThan(50);
    expect(read.matches({ ...object, k4500: "v" })).toBe(false);
  });

  it("reads in parts what it reads at once, and refuses it with the same text", () => {
    const noise = fc.string({ unit: fc.constantFrom("a", "b", "in", " ", "=", "!", "(", ")", ",", ",", "\0") });
    fc.assert(
      fc.property(noise, fc.integer({ min: 1, max: 3 }), (text, countMax) => {
        const whole = parseLabelSelector(text);
        const requirements: LabelRequirement[] = [];
        let from: number | undefined = 0;
        while (from !== undefined) {
          const part = labelSelectorPart(text, from, countMax);
          if (isSelectorError(part)) {
            expect(part).toEqual(whole);
            return;
          }
          expect(part.requirements.length).toBeLessThanOrEqual(countMax);
          requirements.push(...part.requirements);
          from = part.next;
        }
        expect(compileLabelSelector(requirements).requirements).toEqual((whole as LabelSelector).requirements);
      }),
      { seed: 3, numRuns: 5000 },
    );
  });

  it("answers any text with a selector or an error, and never throws", () => {
    const noise = fc.string({
      unit: fc.constantFrom("a", "b", "in", "notin", " ", "=", "!", "(", ")", ",", ">", "<", "-", "\0", "é"),
    });
    fc.assert(
      fc.property(noise, (text) => {
        const result = parseLabelSelector(text);
        if (isSelectorError(result)) expect(result.message).not.toBe("");
        else expect(typeof result.matches({ a: "b" })).toBe("boolean");
      }),
      { seed: 2, numRuns: 5000 },
    );
  });
});

describe("field selectors", () => {
  it.each<[text: string, meaning: readonly (readonly [string, string, string])[]]>([
    ["", []],
    [",,", []],
    [
      "x=a,y=b,z=c",
      [
        ["x", "=", "a"],
        ["y", "=", "b"],
        ["z", "=", "c"],
      ],
    ],
    [
      "y=b,x!=a",
      [
        ["x", "!=", "a"],
        ["y", "=", "b"],
      ],
    ],
    ["metadata.name==x", [["metadata.name", "=", "x"]]],
    ["a=", [["a", "=", ""]]],
    ["=a", [["", "=", "a"]]],
    ["a=a,", [["a", "=", "a"]]],
    [String.raw`x=a||y\=b`, [["x", "=", "a||y=b"]]],
    [String.raw`x=a\=\=b`, [["x", "=", "a==b"]]],
    [
      String.raw`k=\,,k2=v2`,
      [
        ["k2", "=", "v2"],
        ["k", "=", ","],
      ],
    ],
    [
      String.raw`k=\\,k2=v2`,
      [
        ["k2", "=", "v2"],
        ["k", "=", "\\"],
      ],
    ],
    [
      String.raw`k=\\\,,k2=v2`,
      [
        ["k2", "=", "v2"],
        ["k", "=", "\\,"],
      ],
    ],
    [
      "함=수,목=록",
      [
        ["목", "=", "록"],
        ["함", "=", "수"],
      ],
    ],
    ["a=b!c", [["a", "=", "b!c"]]],
    [" a = b ", [[" a ", "=", " b "]]], // blanks are kept: the label decides
  ])("%j", (text, meaning) => {
    const { requirements, empty } = fields(text);
    expect(requirements.map(({ field, operator, value }) => [field, operator, value])).toEqual(meaning);
    expect(empty).toBe(meaning.length === 0);
  });

  it.each([
    ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"], // recorded
    ["x=a,b", "invalid selector: 'x=a,b'; can't understand 'b'"],
    ["z,a", "invalid selector: 'z,a'; can't understand 'a'"], // terms are read in byte order
    ["x in (a,b)", "invalid selector: 'x in (a,b)'; can't understand 'b)'"],
    ["x=a||y=b", "invalid field selector: unescaped character in value: 61"],
    ["x==a==b", "invalid field selector: unescaped character in value: 61"],
    ["a!==b", "invalid field selector: unescaped character in value: 61"],
    [String.raw`k=\a`, String.raw`invalid field selector: invalid escape sequence: \a`],
    ["k=\\", "invalid field selector: invalid escape sequence: \\"],
    [String.raw`k=\\\❤`, String.raw`invalid field selector: invalid escape sequence: \❤`],
  ])("refuses %j", (text, message) => {
    expect(fieldError(text)).toBe(message);
  });

  it("reads back every escaped value", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("\\", ",", "=", "a", "!", "é", "😀") }), (value) => {
        const escaped = value.replace(/[\\,=]/g, "\\$&");
        const { requirements } = fields(`a.b=${escaped},c!=${escaped}`);
        expect(requirements).toEqual([
          { field: "a.b", operator: "=", value },
          { field: "c", operator: "!=", value },
        ]);
      }),
      { seed: 3, numRuns: 1000 },
    );
  });

  it("tells which value a field is pinned to", () => {
    expect(exactFieldValue(fields("metadata.namespace=n,metadata.name=x"), "metadata.name")).toBe("x");
    expect(exactFieldValue(fields("metadata.name!=x"), "metadata.name")).toBeUndefined();
    expect(exactFieldValue(fields(""), "metadata.name")).toBeUndefined();
  });
});
