/** A call that the cost model charges one unit may not read a megabyte a thousand times. */
import { describe, expect, it } from "vitest";
import { compile } from "./expression.ts";
import { fromJson } from "./json-values.ts";
import { dyn } from "./types.ts";

const variables = new Map([
  ["s", dyn],
  ["n", dyn],
]);
const values = {
  s: `1${" ".repeat(1_000_000)}1`,
  n: fromJson(Array.from({ length: 1000 }, (_, at) => at)),
};

function outcome(source: string): { readonly cost: number; readonly result: unknown } {
  const expression = compile(source, variables);
  if ("error" in expression) throw new Error(expression.error);
  const found = expression.evaluate(values);
  return { cost: found.cost, result: "error" in found ? found.error : found.value };
}

const spent = "operation cancelled: actual cost limit exceeded";

describe("a long text", () => {
  it.each(["duration(s) == duration('1s')", "int(s) == 1", "timestamp(s) == timestamp(s)", "s.trim() == ''"])(
    "that %s reads a thousand times spends the budget",
    (call) => {
      const { cost, result } = outcome(`n.exists(x, ${call})`);
      expect([result, cost < 1_200_000]).toEqual([spent, true]);
    },
  );

  it.each(["s.size() > 5", "s.startsWith('1')", "s.charAt(3) == ' '"])("costs %s no more than a short one", (call) => {
    expect(outcome(`n.all(x, ${call})`)).toMatchObject({ result: true });
  });

  it("is trimmed at its ends alone", () => {
    expect(outcome("('  ' + s + '\\n').trim() == s").result).toBe(true);
    expect(outcome("'\\u0085 a\\ufeff '.trim() == 'a\\ufeff'").result).toBe(true);
  });
});

describe("all matches in a long text", () => {
  it("are found where they are a million times the same text", () => {
    expect(
      outcome("s.findAll(' ').size() == 1000000 && s.findAll('1  ') == ['1  '] && s.findAll(' ', 2) == [' ', ' ']"),
    ).toMatchObject({ result: true });
  });

  it("spend the budget where each has to be found by a pattern", () => {
    expect(outcome("s.findAll('[ ]').size() > 0").result).toBe(spent);
    expect(outcome("s.findAll('[ ]', 400000).size() == 400000").result).toBe(true);
  });
});

describe("a number of thousands of digits", () => {
  const digits = "9".repeat(9_000);
  it.each([
    "quantity('1e9999').compareTo(quantity('1n')) > 0",
    "quantity('1e9999').isGreaterThan(quantity('1n'))",
    "quantity('1e9999').add(quantity('1n')).sign() > 0",
    "quantity('1e-9999').sign() > 0",
    `quantity('${digits}').sign() > 0`,
    `isQuantity('${digits}')`,
    `quantity('${digits}').asApproximateFloat() > 1.0`,
    "!quantity('1e9999').isInteger()",
  ])("costs what it takes, however short its text is: %#", (call) => {
    const { cost, result } = outcome(`n.all(x, ${call})`);
    expect([result, cost < 1_200_000]).toEqual([spent, true]);
  });

  it("costs nothing more where it is as short as others", () => {
    const { cost } = outcome("n.all(x, quantity('1500Mi').add(quantity('1e9')).compareTo(quantity('10n')) > 0)");
    expect(cost).toBeLessThan(20_000);
    expect(outcome("quantity('1e9999').compareTo(quantity('1n'))").result).toBe(1n);
  });
});
