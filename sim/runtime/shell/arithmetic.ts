/** `$((…))`: integers of 64 bits, the operators of C, variables by name. Bounded in length and nesting. */

export interface Variables {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

export class ArithmeticError extends Error {}

const LENGTH_MAX = 4096;
const DEPTH_MAX = 64;

/** Throws `ArithmeticError`. */
export function evaluateArithmetic(text: string, variables: Variables): string {
  if (text.length > LENGTH_MAX) throw new ArithmeticError("the expression is too long");
  const tokens =
    text.match(
      /0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:()]|\S/g,
    ) ?? [];
  const state: State = { tokens, at: 0, variables, depth: 0, skip: 0 };
  if (tokens.length === 0) return "0";
  const value = assignment(state);
  if (state.at < tokens.length) throw new ArithmeticError(`arithmetic expression: expecting EOF: "${text}"`);
  return String(value);
}

interface State {
  readonly tokens: readonly string[];
  at: number;
  readonly variables: Variables;
  depth: number;
  /** > 0 while what is read is not to be evaluated: no assignments, no division by zero. */
  skip: number;
}

function assignment(state: State): bigint {
  if (++state.depth > DEPTH_MAX) throw new ArithmeticError("arithmetic expression: it nests too deep");
  const name = state.tokens[state.at] as string;
  const operator = state.tokens[state.at + 1] ?? "";
  let value: bigint;
  if (/^[A-Za-z_]/.test(name ?? "") && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(operator)) {
    state.at += 2;
    const right = assignment(state);
    value = operator === "=" ? right : binary(operator.slice(0, -1), valueOf(state, name), right, state);
    if (state.skip === 0) state.variables.set(name, String(value));
  } else value = conditional(state);
  state.depth--;
  return value;
}

function conditional(state: State): bigint {
  const condition = chain(state, 0);
  if (state.tokens[state.at] !== "?") return condition;
  state.at++;
  const yes = skipping(state, condition === 0n, () => assignment(state));
  if (state.tokens[state.at++] !== ":") throw new ArithmeticError('arithmetic expression: expecting ":"');
  const no = skipping(state, condition !== 0n, () => assignment(state));
  return condition !== 0n ? yes : no;
}

const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

function chain(state: State, level: number): bigint {
  const operators = levels[level];
  if (operators === undefined) return unary(state);
  let left = chain(state, level + 1);
  for (;;) {
    const operator = state.tokens[state.at];
    if (operator === undefined || !operators.includes(operator)) return left;
    state.at++;
    const decided = (operator === "||" && left !== 0n) || (operator === "&&" && left === 0n);
    const right = skipping(state, decided, () => chain(state, level + 1));
    left = binary(operator, left, right, state);
  }
}

function skipping(state: State, skip: boolean, read: () => bigint): bigint {
  if (skip) state.skip++;
  const value = read();
  if (skip) state.skip--;
  return value;
}

function unary(state: State): bigint {
  if (++state.depth > DEPTH_MAX) throw new ArithmeticError("arithmetic expression: it nests too deep");
  const token = state.tokens[state.at++];
  const value = unaryOf(state, token);
  state.depth--;
  return BigInt.asIntN(64, value);
}

function unaryOf(state: State, token: string | undefined): bigint {
  switch (token) {
    case undefined:
      throw new ArithmeticError("arithmetic expression: expecting primary");
    case "-":
      return -unary(state);
    case "+":
      return unary(state);
    case "!":
      return unary(state) === 0n ? 1n : 0n;
    case "~":
      return ~unary(state);
    case "(": {
      const value = assignment(state);
      if (state.tokens[state.at++] !== ")") throw new ArithmeticError("arithmetic expression: expecting ')'");
      return value;
    }
    default:
      if (/^[A-Za-z_]/.test(token)) return valueOf(state, token);
      return numberOf(token);
  }
}

function valueOf(state: State, name: string): bigint {
  const text = state.variables.get(name)?.trim() ?? "";
  if (text === "") return 0n;
  const sign = text.startsWith("-") ? -1n : 1n;
  return BigInt.asIntN(64, sign * numberOf(text.replace(/^[-+]/, "")));
}

function numberOf(text: string): bigint {
  if (/^0[xX][0-9a-fA-F]{1,64}$/.test(text)) return BigInt(text);
  if (/^0[0-7]{1,64}$/.test(text)) return BigInt(`0o${text.slice(1)}`);
  if (/^\d{1,64}$/.test(text)) return BigInt(text);
  throw new ArithmeticError(`Illegal number: ${text}`);
}

function binary(operator: string, a: bigint, b: bigint, state: State): bigint {
  if ((operator === "/" || operator === "%") && b === 0n) {
    if (state.skip > 0) return 0n;
    throw new ArithmeticError("arithmetic expression: division by zero");
  }
  return BigInt.asIntN(64, (operations[operator] as (a: bigint, b: bigint) => bigint)(a, b));
}

const truth = (value: boolean): bigint => (value ? 1n : 0n);

const operations: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  "||": (a, b) => truth(a !== 0n || b !== 0n),
  "&&": (a, b) => truth(a !== 0n && b !== 0n),
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "&": (a, b) => a & b,
  "==": (a, b) => truth(a === b),
  "!=": (a, b) => truth(a !== b),
  "<": (a, b) => truth(a < b),
  ">": (a, b) => truth(a > b),
  "<=": (a, b) => truth(a <= b),
  ">=": (a, b) => truth(a >= b),
  "<<": (a, b) => a << (b & 63n),
  ">>": (a, b) => a >> (b & 63n),
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};
