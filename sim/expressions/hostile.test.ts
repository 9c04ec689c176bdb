import { describe, expect, it } from "vitest";
import { compile } from "./expression.ts";

/** The value, or what went wrong: when it was compiled or when it was evaluated. */
function outcome(source: string): unknown {
  const expression = compile(source, new Map());
  if ("error" in expression) return expression.error.split("\n")[0];
  const found = expression.evaluate({});
  return "error" in found ? found.error : found.value;
}

const chain = (part: string, by: string, count: number): string => new Array<string>(count).fill(part).join(by);
const spent = "operation cancelled: actual cost limit exceeded";

describe("hostile expressions", () => {
  it("of many terms are no deeper than they must be", () => {
    expect(outcome(chain("1 == 1", " && ", 3000))).toBe(true);
    expect(outcome(`${chain("1 == 2", " || ", 3000)} || 1 / 0 == 1`)).toBe("division by zero");
  });

  it("that are too deep are refused", () => {
    expect(outcome(`${chain("1", " + ", 1000)} > 0`)).toContain("expression recursion limit exceeded: 400");
    expect(outcome(`${"!".repeat(1000)}true`)).toContain("recursion limit exceeded");
    expect(outcome(`${"!".repeat(100_000)}true`)).toContain("Syntax error");
    expect(outcome(`a${chain("", ".b", 1000)}`)).toContain("Syntax error");
    expect(outcome(`${chain("(", "", 1000)}1`)).toContain("Syntax error");
  });

  it("cannot make much out of little", () => {
    const many = `[1]${chain("", ".map(x, [x, x, x])", 23)}`;
    expect(outcome(`${many} == ${many}`)).toBe(spent);
    expect(outcome(`'%s'.format([${many}])`)).toBe(spent);
    const long = (letter: string): string => `'${letter.repeat(4000)}'`;
    expect(outcome(`${long("a")}.replace('a', ${long("b")}).size()`)).toBe(spent);
    const list = `[${chain("1", ", ", 4000)}]`;
    expect(outcome(`${list}.map(x, ${long("a")}).join(${long("b")}).size()`)).toBe(spent);
  });
});
