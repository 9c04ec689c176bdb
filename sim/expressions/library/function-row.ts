/** What a function of the language is: how it is declared, what it does, what it costs. */
import type { Value } from "../values.ts";

/**
 * What a call costs beside its arguments, and how large its result can be. Sizes are characters, bytes or elements, in
 * the order of target and arguments, 1 for what has no size; `Infinity` for a bound that nobody knows. The same rule
 * serves a call that is made and one that is only estimated.
 * Source: the published cost model (a traversal costs a tenth of the size).
 */
export interface CostRule {
  readonly cost?: (...sizes: readonly number[]) => number;
  readonly size?: (...sizes: readonly number[]) => number;
  /** The result may be much larger than what it was made of: an evaluation pays for a walk through it as well. */
  readonly growing?: true;
  /** How many characters a call reads. Default: all that the texts among its arguments have. */
  readonly reads?: (...values: readonly Value[]) => number;
}

export interface FunctionRow extends CostRule {
  /** `name(int, A): A`; a member's begins with its target: `string.name(int): bool`. */
  readonly signature: string;
  // Arguments have been matched with the signature before this is called.
  readonly run: (...args: never[]) => Value;
}

/** Looks at a place or two, however long the texts are. */
export const readsLittle: CostRule = { reads: () => 1 };
/** Reads as much of the target as the first argument has. */
const readsArgument = (_target: Value, part: Value = ""): number => (typeof part === "string" ? part.length : 1);

/** A row that costs what any call does. */
export const row = (signature: string, run: FunctionRow["run"], rule: CostRule = {}): FunctionRow => ({
  signature,
  run,
  ...rule,
});

/** Walking through a text or a list. */
export const traversal = (size: number): number => Math.ceil(size * 0.1);

/** Costs a walk through the target, and makes a result as large as it. */
export const walks: CostRule = { cost: traversal, size: (size) => size };
/** Costs a walk through the first argument, and reads no more. */
export const walksArgument: CostRule = { cost: (_target, size = 1) => traversal(size), reads: readsArgument };
/** Costs a step for each element. */
export const eachElement: CostRule = { cost: (size) => size };
/** Costs a step for each pair of elements. */
export const eachPair: CostRule = { cost: (left, right = 1) => product(left, right) };

/** Nothing times however much is nothing. */
export const product = (left: number, right: number): number => (left === 0 || right === 0 ? 0 : left * right);
