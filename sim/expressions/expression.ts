/**
 * Expressions in the Common Expression Language: compiled once, when a definition that has them is stored, and evaluated
 * as often as is needed, within a budget. What cannot be compiled is refused with its place, never ignored.
 *
 * The grammar is a library's. Checking and evaluating are done here, because the library has no bound on the work of an
 * expression, matches with JavaScript's regular expressions and does not know the API server's types.
 * Source: the published language definition; the API server's published environment of it.
 *
 * Simplifications: no message literals, no optional elements in literals of lists and maps, no names of time zones.
 */
import { check, type CheckedExpression, type CheckFailure } from "./check.ts";
import { estimateCost } from "./estimate.ts";
import { type CostPool, Meter, plan, type Run } from "./evaluate.ts";
import { labour } from "./labour.ts";
import { paced } from "./pace.ts";
import { type SelectionForms, selects } from "./selections.ts";
import { isSyntaxFailure, parseExpression } from "./syntax.ts";
import type { CelType } from "./types.ts";
import { EvaluationError } from "./failures.ts";
import { type Value } from "./values.ts";

/** What one evaluation may cost: about a tenth of a second on the real server. */
export const callCostMax = 1_000_000;

export interface Expression {
  readonly source: string;
  readonly type: CelType;
  /** Names of the variables that it reads. */
  readonly used: ReadonlySet<string>;
  /** The most that an evaluation can cost; `Infinity` without a bound. */
  readonly costMax: number;
  /** Whether it reads this field of this variable by name, in one of these forms. */
  selects(variable: string, field: string, forms: SelectionForms): boolean;
  /** Never throws for what the expression does. Variables that it does not read may be left out. */
  evaluate(values: Readonly<Record<string, Value | undefined>>, costMax?: number, pool?: CostPool): Outcome;
}

export type Outcome = { readonly cost: number } & (
  | { readonly value: Value }
  /** `isExhausted`: the budget of this evaluation was spent. */
  | { readonly error: string; readonly isExhausted: boolean }
);

export interface CompileFailure {
  /** As the real server shows it: every error with its place and the line. */
  readonly error: string;
}

/** Compiling an expression of so many characters takes about as long as an evaluation of this cost. */
export const compileCostOf = (length: number): number => length * 9;

/** Compiles `source` in an environment of typed variables. */
export function compile(source: string, variables: ReadonlyMap<string, CelType>): Expression | CompileFailure {
  const parsed = parseExpression(source);
  if (isSyntaxFailure(parsed)) return { error: describe(source, [parsed]) };
  const checked = check(parsed, variables);
  if ("failures" in checked) return { error: describe(source, checked.failures) };
  return new Compiled(source, checked, [...variables.keys()]);
}

class Compiled implements Expression {
  readonly source: string;
  readonly type: CelType;
  readonly used: ReadonlySet<string>;
  private readonly checked: CheckedExpression;
  private readonly names: readonly string[];
  private readonly run: Run;

  constructor(source: string, checked: CheckedExpression, names: readonly string[]) {
    this.source = source;
    this.type = checked.type;
    this.used = checked.used;
    this.checked = checked;
    this.names = names;
    this.run = plan(checked.root);
  }

  get costMax(): number {
    return estimateCost(this.checked.root);
  }

  selects(variable: string, field: string, forms: SelectionForms): boolean {
    return selects(this.checked.root, variable, field, forms);
  }

  evaluate(values: Readonly<Record<string, Value | undefined>>, costMax = callCostMax, pool?: CostPool): Outcome {
    return paced(() => this.evaluated(values, costMax, pool), costOf, pool);
  }

  private evaluated(
    values: Readonly<Record<string, Value | undefined>>,
    costMax: number,
    pool: CostPool | undefined,
  ): Outcome {
    const slots = new Array<Value>(this.checked.slotCount).fill(null);
    this.names.forEach((name, slot) => (slots[slot] = values[name] ?? null));
    const meter = new Meter(costMax, pool);
    const { left } = labour; // an evaluation can be asked for within another
    try {
      const value = this.run({ slots, meter });
      return { value, cost: meter.cost };
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      return { error: error.message, isExhausted: error.fatal, cost: meter.cost };
    } finally {
      labour.left = left;
    }
  }
}

const costOf = ({ cost }: Outcome): number => cost;

/** Each error with its line and a mark below it. */
function describe(source: string, failures: readonly CheckFailure[]): string {
  return failures
    .map(({ at, text }) => {
      const before = source.slice(0, at).split("\n");
      const line = before.length;
      const column = before.at(-1)?.length ?? 0;
      const shown = source.split("\n")[line - 1] ?? "";
      return `ERROR: <input>:${line}:${column + 1}: ${text}\n | ${shown}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
