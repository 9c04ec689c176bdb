/**
 * From text to a tree. The grammar is a library's; the tree is our own, so that nothing else depends on what the
 * library makes of it. Places are offsets into the text, where errors point.
 */
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { Uint, type Value } from "./values.ts";

export type Expr =
  | { readonly is: "constant"; readonly at: number; readonly value: Value }
  | { readonly is: "name"; readonly at: number; readonly name: string }
  /** `x.f`, or with `optional` `x.?f`. */
  | {
      readonly is: "select";
      readonly at: number;
      readonly of: Expr;
      readonly field: string;
      readonly optional: boolean;
    }
  | { readonly is: "has"; readonly at: number; readonly of: Expr; readonly field: string }
  | {
      readonly is: "call";
      readonly at: number;
      readonly name: string;
      readonly target: Expr | undefined;
      readonly args: readonly Expr[];
    }
  | { readonly is: "list"; readonly at: number; readonly items: readonly Expr[] }
  | { readonly is: "map"; readonly at: number; readonly entries: readonly (readonly [key: Expr, value: Expr])[] };

export interface SyntaxFailure {
  readonly at: number;
  readonly text: string;
}

export const isSyntaxFailure = (parsed: Expr | SyntaxFailure): parsed is SyntaxFailure => "text" in parsed;

/** `maxAstNodes` bounds the work of everything that follows. */
const environment = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: 20_000, maxDepth: 250, maxListElements: 5000, maxMapEntries: 5000, maxCallArguments: 64 },
});

export function parseExpression(text: string): Expr | SyntaxFailure {
  try {
    return convert(environment.parse(text).ast as Node, text, 0);
  } catch (error) {
    if (error instanceof ParseError) {
      return { at: error.range?.start ?? 0, text: `Syntax error: ${lowerFirst(error.summary)}` };
    }
    if (error instanceof Misuse) return { at: error.at, text: error.message };
    // The parser's own recursion is bounded but for chains of signs.
    if (error instanceof RangeError)
      return { at: 0, text: `Syntax error: expression recursion limit exceeded: ${depthMax}` };
    throw error;
  }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Well formed, but not what a construct takes. */
class Misuse extends Error {
  readonly at: number;
  constructor(at: number, text: string) {
    super(text);
    this.at = at;
  }
}

/** A node as the library makes it; what `args` holds depends on `op`. */
type Node = Pick<ASTNode, "op" | "start" | "end"> & { readonly args: unknown; readonly pos?: number };

/** How deep an expression may be: everything after this walks through it by recursion. */
const depthMax = 400;

function convert(node: Node, text: string, depth: number): Expr {
  const { op, start: at } = node;
  if (depth > depthMax) throw new Misuse(at, `Syntax error: expression recursion limit exceeded: ${depthMax}`);
  const inner = (each: unknown): Expr => convert(each as Node, text, depth + 1);
  switch (op) {
    case "value":
      return constant(node, text);
    case "id":
      return { is: "name", at, name: node.args as string };
    case ".":
    case ".?": {
      const [of, field] = node.args as readonly [Node, string];
      const dot = text.lastIndexOf(".", node.pos ?? at);
      return { is: "select", at: dot, of: inner(of), field, optional: op === ".?" };
    }
    case "[]":
    case "[?]": {
      const args = node.args as readonly Node[];
      const bracket = text.indexOf("[", args[0]?.end ?? at);
      return {
        is: "call",
        at: bracket,
        name: op === "[]" ? "_[_]" : "_[?_]",
        target: undefined,
        args: args.map(inner),
      };
    }
    case "call":
      return globalCall(node, text, inner);
    case "rcall": {
      const [name, target, args] = node.args as readonly [string, Node, readonly Node[]];
      const open = text.indexOf("(", text.indexOf(name, target.end) + name.length);
      return { is: "call", at: open, name, target: inner(target), args: args.map(inner) };
    }
    case "list":
      return { is: "list", at, items: (node.args as readonly Node[]).map(inner) };
    case "map":
      return {
        is: "map",
        at,
        entries: (node.args as readonly (readonly [Node, Node])[]).map(([key, value]) => [inner(key), inner(value)]),
      };
    case "!_":
      return { is: "call", at, name: "!_", target: undefined, args: [inner(node.args)] };
    case "-_":
      return negation(at, inner(node.args));
    case "?:": {
      const args = node.args as readonly Node[];
      return {
        is: "call",
        at: text.indexOf("?", args[0]?.end ?? at),
        name: "_?_:_",
        target: undefined,
        args: args.map(inner),
      };
    }
    case "&&":
    case "||":
      return logic(node, text, inner);
    default: {
      const args = node.args as readonly Node[];
      const place = text.indexOf(op, args[0]?.end ?? at);
      return { is: "call", at: place, name: op === "in" ? "@in" : `_${op}_`, target: undefined, args: args.map(inner) };
    }
  }
}

const intMax = (1n << 63n) - 1n;

function constant({ args, start: at, end }: Node, text: string): Expr {
  const value = args as Value | { valueOf(): bigint };
  if (value instanceof Uint8Array && /[^\u0000-\u007f]/.test(text.slice(at, end))) {
    throw new Misuse(at, "Syntax error: a bytes literal may have ASCII characters and escapes only");
  }
  if (typeof value === "object" && value !== null && !(value instanceof Uint8Array)) {
    return { is: "constant", at, value: new Uint(value.valueOf() as bigint) };
  }
  return { is: "constant", at, value: value as Value };
}

/** The least int is written as the negation of what no int is. */
function negation(at: number, of: Expr): Expr {
  if (of.is === "constant" && typeof of.value === "bigint") return { is: "constant", at, value: -of.value };
  if (of.is === "constant" && typeof of.value === "number") return { is: "constant", at, value: -of.value };
  return { is: "call", at, name: "-_", target: undefined, args: [of] };
}

export const isInt = (value: bigint): boolean => value >= -intMax - 1n && value <= intMax;

/** A chain of the same operator as a tree that is as low as can be; what is evaluated first stays first. */
function logic(node: Node, text: string, inner: (each: Node) => Expr): Expr {
  const terms: Expr[] = [];
  const places: number[] = [];
  let at = node;
  while (at.op === node.op) {
    const [left, right] = at.args as readonly [Node, Node];
    terms.unshift(inner(right));
    places.unshift(text.indexOf(at.op, left.end));
    at = left;
  }
  terms.unshift(inner(at));
  const joined = (from: number, to: number): Expr => {
    if (from === to) return terms[from] as Expr;
    const middle = Math.floor((from + to) / 2);
    const args = [joined(from, middle), joined(middle + 1, to)];
    return { is: "call", at: places[middle] as number, name: `_${node.op}_`, target: undefined, args };
  };
  return joined(0, terms.length - 1);
}

function globalCall(node: Node, text: string, inner: (each: Node) => Expr): Expr {
  const [name, args] = node.args as readonly [string, readonly Node[]];
  const open = text.indexOf("(", node.start + name.length);
  if (name !== "has") {
    return { is: "call", at: open, name, target: undefined, args: args.map(inner) };
  }
  const asked = args.length === 1 ? inner(args[0] as Node) : undefined;
  if (asked?.is !== "select" || asked.optional) throw new Misuse(open, "invalid argument to has() macro");
  return { is: "has", at: open, of: asked.of, field: asked.field };
}
