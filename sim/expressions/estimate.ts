/**
 * The most that an expression can cost, from the bounds that types declare. What has no bound costs without bound.
 * Source: the published cost model; its figures for walks through lists of bounded texts.
 */
import { largest } from "../../wire/lists.ts";
import type { Checked, CheckedLoop } from "./checked.ts";
import { listCost, loopStepCosts, mapCost, sizeOf } from "./evaluate.ts";
import { product } from "./library/function-row.ts";
import type { CelType } from "./types.ts";

interface Estimate {
  readonly cost: number;
  /** Characters, bytes or elements; 1 for what has no size. */
  readonly size: number;
}

/** `Infinity` when there is no bound. */
export const estimateCost = (root: Checked): number => estimate(root).cost;

function estimate(node: Checked): Estimate {
  switch (node.is) {
    case "constant":
      return { cost: 0, size: sizeOf(node.value) };
    case "name":
      return { cost: 1, size: sizeOfType(node.type) };
    case "select":
      return { cost: estimate(node.of).cost + 1, size: sizeOfType(node.type) };
    case "has":
      return { cost: estimate(node.of).cost + 1, size: 1 };
    case "and":
    case "or":
      return { cost: estimate(node.left).cost + estimate(node.right).cost, size: 1 };
    case "if": {
      const [yes, no] = [estimate(node.yes), estimate(node.no)];
      return {
        cost: estimate(node.condition).cost + Math.max(yes.cost, no.cost),
        size: Math.max(yes.size, no.size),
      };
    }
    case "call":
      return estimateCall(node);
    case "list":
      return { cost: listCost + total(node.items), size: node.items.length };
    case "map":
      return { cost: mapCost + total(node.entries.flat()), size: node.entries.length };
    case "loop":
      return estimateLoop(node);
    default: {
      const body = estimate(node.body);
      return { cost: estimate(node.of).cost + body.cost, size: body.size };
    }
  }
}

const total = (nodes: readonly Checked[]): number => nodes.reduce((sum, node) => sum + estimate(node).cost, 0);

function estimateCall({ args, overloads, type, name }: Extract<Checked, { readonly is: "call" }>): Estimate {
  const estimates = args.map(estimate);
  const sizes = estimates.map(({ size }) => size);
  const own = overloads.map(({ row: { cost } }) => (cost === undefined ? 1 : Math.max(1, cost(...sizes))));
  const cost = estimates.reduce((sum, each) => sum + each.cost, largest(own, 0));
  // What is taken out of a list or a map is as large as its type says.
  if (name === "_[_]" || name === "_[?_]") return { cost, size: sizeOfType(type) };
  const results = overloads.map(({ row: { size } }) => (size === undefined ? sizeOfType(type) : size(...sizes)));
  return { cost, size: largest(results, 0) };
}

function estimateLoop({ range, body, filter, kind, type }: CheckedLoop): Estimate {
  const of = estimate(range);
  const inner = kind === "filter" ? 0 : estimate(body).cost;
  const step = loopStepCosts[kind] + inner + (filter === undefined ? 0 : estimate(filter).cost);
  const isCollection = type.is === "list" || type.is === "map";
  return { cost: of.cost + product(of.size, step) + (kind === "existsOne" ? 2 : 1), size: isCollection ? of.size : 1 };
}

const unsized: ReadonlySet<string> = new Set(["string", "bytes", "dyn"]);

/** The bound that a type declares. */
function sizeOfType(type: CelType): number {
  if (type.is === "list" || type.is === "map") return type.max ?? Number.POSITIVE_INFINITY;
  if (type.is === "simple") return type.max ?? (unsized.has(type.name) ? Number.POSITIVE_INFINITY : 1);
  return type.is === "optional" ? sizeOfType(type.of) : 1;
}
