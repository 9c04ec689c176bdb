import { describe, expect, it } from "vitest";
import { compile, type Expression } from "./expression.ts";
import { fromJson } from "./json-values.ts";
import { type CelType, dyn, int, listOf, string } from "./types.ts";
import type { Value } from "./values.ts";

const compiled = (source: string, variables: Readonly<Record<string, CelType>> = {}): Expression => {
  const expression = compile(source, new Map(Object.entries(variables)));
  if ("error" in expression) throw new Error(expression.error);
  return expression;
};

const errorOf = (source: string, variables: Readonly<Record<string, CelType>> = {}): string | undefined => {
  const expression = compile(source, new Map(Object.entries(variables)));
  return "error" in expression ? expression.error : undefined;
};

const evaluate = (source: string, values: Readonly<Record<string, Value>> = {}) => {
  const types = Object.fromEntries(Object.keys(values).map((name) => [name, dyn]));
  const outcome = compiled(source, types).evaluate(values);
  return "error" in outcome ? `error: ${outcome.error}` : outcome.value;
};

describe("functions of the API server", () => {
  // Source: the examples of the published documentation of each library.
  it.each([
    "[1, 2, 3].isSorted() && ![2, 1].isSorted()",
    "[1, 3].sum() == 4 && [1.5, 2.5].sum() == 4.0 && ['a', 'b'].max() == 'b' && [3, 1].min() == 1",
    "['a', 'b', 'b'].indexOf('b') == 1 && ['a', 'b', 'b'].lastIndexOf('b') == 2 && [1].indexOf(2) == -1",
    "'abc 123'.find('[0-9]*') == '' && 'abc 123'.find('[0-9]+') == '123'",
    "'1.2.3.4'.findAll('[0-9]+').map(x, int(x)).sum() == 10 && 'a1b2c3'.findAll('[0-9]', 2) == ['1', '2']",
    "url('https://user:pass@example.com:80/path?query=val&k=a&k=b#fragment').getHost() == 'example.com:80'",
    "url('https://example.com:80/').getPort() == '80' && url('/path').getScheme() == '' && !isURL('../relative')",
    "url('https://[::1]:80/').getHostname() == '::1' && url('https://example.com/a?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('https://example.com/with space/').getEscapedPath() == '/with%20space/' || !isURL('https://example.com/with space/')",
    "quantity('500m').isLessThan(quantity('1')) && quantity('1Gi').asInteger() == 1073741824 && !isQuantity('200K')",
    "quantity('1.5').add(1) == quantity('2500m') && quantity('50k').sub(quantity('20k')) == quantity('30k')",
    "quantity('-50').sign() == -1 && quantity('200M').compareTo(quantity('0.2G')) == 0 && !quantity('1m').isInteger()",
    "ip('127.0.0.1').isLoopback() && ip('::1').family() == 6 && !isIP('127.0.0.01') && ip.isCanonical('2001:db8::abcd')",
    "!ip.isCanonical('2001:DB8::ABCD') && string(ip('2001:DB8:0::1')) == '2001:db8::1'",
    "cidr('192.168.0.0/16').containsIP('192.168.1.1') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && cidr('::/0').prefixLength() == 0 && !isCIDR('1.2.3.4')",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-alpha').compareTo(semver('1.0.0')) == -1",
    "isSemver('v1.2', true) && !isSemver('v1.2') && semver('v01.2', true).major() == 1",
    "!format.dns1123Label().validate('my-label-name').hasValue() && format.dns1123Label().validate('No!').hasValue()",
    "format.named('uuid').value().validate('not').hasValue() && !format.named('nothing').hasValue()",
    "sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 2], [2, 1, 1])",
    "'%s has %d of %.2f'.format(['a', 3, 1.005]) == 'a has 3 of 1.00'",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [5, 6].transformList(i, v, i > 0, v) == [6]",
    "[1, 2].all(i, v, v == i + 1) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [1, 2].existsOne(i, v, v > 1)",
    "strings.quote('a\"b') == '\"a\\\\\"b\"' && 'TacoCat'.lowerAscii() == 'tacocat' && 'ÀB'.lowerAscii() == 'Àb'",
    "optional.of(1).optMap(v, v + 1).orValue(0) == 2 && optional.none().orValue(3) == 3",
  ])("%s", (source) => {
    expect(evaluate(source)).toBe(true);
  });

  it("tell what they cannot do", () => {
    expect(evaluate("quantity('200K') == quantity('1')")).toContain("error: ");
    expect(evaluate("[].map(x, 1).min()")).toBe("error: min called on empty list");
    expect(evaluate("quantity('1.5').asInteger()")).toBe("error: cannot convert value to integer");
    expect(evaluate("timestamp(1).getHours(z)", { z: "Mars/Base" })).toBe("error: unknown time zone Mars/Base");
    expect(evaluate("'a'.matches(p)", { p: "(" })).toContain("error: ");
  });
});

describe("compile", () => {
  it("shows every mistake with its place", () => {
    expect(errorOf("self.size() > 'a' &&\n other", { self: string })).toBe(
      "ERROR: <input>:1:13: found no matching overload for '_>_' applied to '(int, string)'\n" +
        " | self.size() > 'a' &&\n | ............^\n" +
        "ERROR: <input>:2:2: undeclared reference to 'other' (in container '')\n |  other\n | .^",
    );
  });

  it.each([
    ["1 +", /^ERROR: <input>:1:4: Syntax error: /],
    ["foo(1)", /^ERROR: <input>:1:4: undeclared reference to 'foo' \(in container ''\)/],
    ["x.y", /type 'int' does not support field selection/],
    ["x.all(i, true)", /expression of type 'int' cannot be range of a comprehension/],
    ["[1].all(i, i)", /found no matching overload for '_&&_' applied to '\(bool, int\)'/],
    ["[1].map(x.y, 1)", /ERROR: /],
    ["has(x)", /invalid argument to has\(\) macro/],
    ["[1, 'a'] == [1]", /expected type 'int' but found 'string'/],
    ["cel.bind(a, 1, a) == 1", /undeclared reference to 'cel'/],
    ["x == null", /found no matching overload for '_==_' applied to '\(int, null\)'/],
    ["9223372036854775808 == 1", /invalid int literal/],
    ["Object{a: 1}", /Syntax error/],
    ["'a'.matches('(')", /:13: invalid matches argument/],
    ["'a'.find('(?<=a)b') == ''", /invalid find argument/],
    ["duration('1x') == duration('1s')", /:10: invalid duration argument/],
    ["timestamp('2020-13-01T00:00:00Z').getDate('Mars/Base') == 1", /invalid timestamp argument/],
    ["timestamp('2020-12-01T00:00:00Z').getDate('Mars/Base') == 1", /unknown time zone Mars\/Base/],
  ])("refuses %s", (source, text) => {
    expect(errorOf(source, { x: int })).toMatch(text);
  });
});

describe("the budget", () => {
  it("ends a walk that nobody could wait for", () => {
    const many = Array.from({ length: 1000 }, (_, at) => at);
    const expression = compiled("l.all(a, l.all(b, l.all(c, a + b + c >= 0)))", { l: listOf(int) });
    const outcome = expression.evaluate({ l: fromJson(many) });
    expect(outcome).toMatchObject({ error: "operation cancelled: actual cost limit exceeded", isExhausted: true });
    expect(outcome.cost).toBeLessThan(1_001_000);
  });

  it("is not swallowed by a side that would decide", () => {
    const expression = compiled("l.all(a, l.all(b, a == b)) || true", { l: listOf(int) });
    expect(expression.evaluate({ l: fromJson([1, 1, 1]) }, 20)).toMatchObject({ isExhausted: true });
  });

  it("charges texts by their length, and matches in linear time", () => {
    const text = `${"a".repeat(50_000)}!`;
    const outcome = compiled("s.matches('^(a+)+$')", { s: string }).evaluate({ s: text });
    expect(outcome).toMatchObject({ value: false });
    expect(outcome.cost).toBeGreaterThan(5000);
    expect(compiled("(s + s).size() > 0", { s: string }).evaluate({ s: text }, 1000)).toMatchObject({
      isExhausted: true,
    });
  });

  // The published measurements: a list of texts of at most 16 characters costs 11 an element.
  it.each([
    [16, 11],
    [63, 30],
    [253, 106],
    [1024, 414],
  ])("is estimated from bounds: texts of %i cost %i an element", (length, cost) => {
    const texts: CelType = { is: "list", of: { is: "simple", name: "string", max: length * 4 }, max: 1000 };
    const { costMax } = compiled("self.all(x, x.contains('gpu'))", { self: texts });
    expect(Math.round(costMax / 1000)).toBe(cost);
  });

  it("is unbounded for what has no bound", () => {
    expect(compiled("self.all(x, x > 0)", { self: listOf(int) }).costMax).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("values from JSON", () => {
  it("are what their types say", () => {
    const self: CelType = {
      is: "object",
      name: "object",
      fields: new Map<string, { name: string; type: CelType }>([
        ["n", { name: "n", type: { is: "simple", name: "double" } }],
        ["at", { name: "at", type: { is: "simple", name: "google.protobuf.Timestamp" } }],
        ["my__dash__field", { name: "my-field", type: int }],
      ]),
    };
    const json = { n: 1, at: "2020-01-02T03:04:05Z", "my-field": 7, other: 1 };
    const expression = compiled("self.n / 2.0 == 0.5 && self.at.getFullYear() == 2020 && self.my__dash__field == 7", {
      self,
    });
    expect(expression.evaluate({ self: fromJson(json, self) })).toMatchObject({ value: true });
    expect(errorOf("self.other == 1", { self })).toMatch(/undefined field 'other'/);
  });

  it("without types are ints where they are whole", () => {
    expect(
      evaluate("o.a.b[0] == 1 && type(o.c) == double && !has(o.d) && o.?d.orValue('x') == 'x'", {
        o: fromJson({ a: { b: [1] }, c: 1.5 }),
      }),
    ).toBe(true);
    expect(evaluate("o.d == 1", { o: fromJson({ a: 1 }) })).toBe("error: no such key: d");
    expect(evaluate("o.constructor == 1", { o: fromJson({ a: 1 }) })).toBe("error: no such key: constructor");
  });
});
