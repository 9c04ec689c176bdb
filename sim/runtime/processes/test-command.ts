/** `test` and `[`: by the number of arguments first, as POSIX has it, with `-a` and `-o` beyond. */
import type { TreeNode } from "../file-tree.ts";

export interface TestWorld {
  find(path: string): TreeNode | { readonly is: "image"; readonly text: string | undefined } | undefined;
  readonly isTerminal: boolean;
}

type Result = boolean | { readonly error: string };

export function evaluateTest(args: readonly string[], world: TestWorld): Result {
  if (args.length > 256) return { error: "too many arguments" };
  const known = byCount(args, world);
  if (known !== undefined) return known;
  const state = { at: 0 };
  const result = either(args, state, world);
  if (typeof result !== "boolean") return result;
  return state.at === args.length ? result : { error: `${args[state.at]}: unexpected operator` };
}

/** What the number of arguments decides. */
function byCount(args: readonly string[], world: TestWorld): Result | undefined {
  const [a, b, c] = args as [string, string, string];
  switch (args.length) {
    case 0:
      return false;
    case 1:
      return a !== "";
    case 2:
      if (a === "!") return b === "";
      return unary(a, b, world);
    case 3: {
      const result = binary(a, b, c, world);
      if (result !== undefined) return result;
      if (a === "!") return negated(byCount([b, c], world));
      return a === "(" && c === ")" ? b !== "" : undefined;
    }
    case 4:
      if (a === "!") return negated(byCount(args.slice(1), world));
      return undefined;
    default:
      return undefined;
  }
}

const negated = (result: Result | undefined): Result | undefined => (typeof result === "boolean" ? !result : result);

function either(args: readonly string[], state: { at: number }, world: TestWorld): Result {
  let result = both(args, state, world);
  while (args[state.at] === "-o" && typeof result === "boolean") {
    state.at++;
    const right = both(args, state, world);
    result = typeof right === "boolean" ? result || right : right;
  }
  return result;
}

function both(args: readonly string[], state: { at: number }, world: TestWorld): Result {
  let result = primary(args, state, world);
  while (args[state.at] === "-a" && typeof result === "boolean") {
    state.at++;
    const right = primary(args, state, world);
    result = typeof right === "boolean" ? result && right : right;
  }
  return result;
}

function primary(args: readonly string[], state: { at: number }, world: TestWorld): Result {
  let isNegated = false;
  while (args[state.at] === "!") {
    state.at++;
    isNegated = !isNegated;
  }
  const result = positive(args, state, world);
  return typeof result === "boolean" && isNegated ? !result : result;
}

function positive(args: readonly string[], state: { at: number }, world: TestWorld): Result {
  const [a, b, c] = args.slice(state.at, state.at + 3) as [string | undefined, string | undefined, string | undefined];
  if (a === undefined) return { error: "argument expected" };
  if (a === "(") {
    state.at++;
    const result = either(args, state, world);
    if (args[state.at] !== ")") return { error: "closing paren expected" };
    state.at++;
    return result;
  }
  if (b !== undefined && c !== undefined) {
    const result = binary(a, b, c, world);
    if (result !== undefined) {
      state.at += 3;
      return result;
    }
  }
  if (b !== undefined && /^-[a-zA-Z]$/.test(a) && a !== "-a" && a !== "-o") {
    state.at += 2;
    return unary(a, b, world);
  }
  state.at++;
  return a !== "";
}

function unary(operator: string, operand: string, world: TestWorld): Result {
  switch (operator) {
    case "-n":
      return operand !== "";
    case "-z":
      return operand === "";
    case "-t":
      return world.isTerminal;
    default:
  }
  const node = world.find(operand);
  switch (operator) {
    case "-e":
    case "-r":
    case "-w":
    case "-x":
      return node !== undefined;
    case "-f":
      return node?.is === "file" || (node?.is === "image" && node.text !== undefined);
    case "-d":
      return node?.is === "directory" || (node?.is === "image" && node.text === undefined);
    case "-s":
      return node?.is === "file" ? node.sizeBytes > 0 : node?.is === "image" ? node.text !== "" : node !== undefined;
    case "-L":
    case "-h":
    case "-p":
    case "-S":
    case "-b":
    case "-c":
      return false;
    default:
      return { error: `${operator}: unexpected operator` };
  }
}

function binary(a: string, operator: string, b: string, world: TestWorld): Result | undefined {
  switch (operator) {
    case "=":
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case ">":
      return a > b;
    case "-nt":
    case "-ot": {
      const left = modifiedOf(world, a);
      const right = modifiedOf(world, b);
      return operator === "-nt" ? left > right : left < right;
    }
    default:
  }
  const compare = comparisons[operator];
  if (compare === undefined) return undefined;
  const left = integerOf(a);
  const right = integerOf(b);
  if (left === undefined) return { error: `Illegal number: ${a}` };
  if (right === undefined) return { error: `Illegal number: ${b}` };
  return compare(left, right);
}

const comparisons: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  "-eq": (a, b) => a === b,
  "-ne": (a, b) => a !== b,
  "-lt": (a, b) => a < b,
  "-le": (a, b) => a <= b,
  "-gt": (a, b) => a > b,
  "-ge": (a, b) => a >= b,
};

const integerOf = (text: string): bigint | undefined =>
  /^\s*[-+]?\d{1,18}\s*$/.test(text) ? BigInt(text.trim().replace(/^\+/, "")) : undefined;

function modifiedOf(world: TestWorld, path: string): number {
  const node = world.find(path);
  return node === undefined ? -1 : node.is === "image" ? 0 : node.modifiedMicros;
}
