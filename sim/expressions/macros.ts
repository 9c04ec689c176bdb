/**
 * Calls that are no functions, for they bind names: walks through lists and maps, and what is done with a value that
 * may be absent.
 * Source: the published language definition; the extension for two variables.
 */
import type { Expr } from "./syntax.ts";

export type LoopKind = "all" | "exists" | "existsOne" | "map" | "filter" | "transformList" | "transformMap";

/** A walk: one name is bound to elements or keys; two to positions and elements, or to keys and values. */
export interface Loop {
  readonly is: "loop";
  readonly kind: LoopKind;
  readonly range: Expr;
  readonly names: readonly string[];
  /** What is asked or wanted of each. */
  readonly body: Expr;
  /** Which ones count; undefined: all. */
  readonly filter: Expr | undefined;
}

/** `o.optMap(v, e)`; `flat`: `e` is optional itself. */
export interface OptionalStep {
  readonly is: "optional";
  readonly of: Expr;
  readonly name: string;
  readonly body: Expr;
  readonly flat: boolean;
}

export interface MacroMisuse {
  readonly is: "misuse";
  readonly text: string;
  readonly at: number;
}

type Call = Extract<Expr, { readonly is: "call" }>;

const loops: Readonly<Record<string, readonly [kind: LoopKind, names: number, args: readonly number[]]>> = {
  all: ["all", 1, [2, 3]],
  exists: ["exists", 1, [2, 3]],
  exists_one: ["existsOne", 1, [2, 3]],
  existsOne: ["existsOne", 1, [2, 3]],
  map: ["map", 1, [2, 3]],
  filter: ["filter", 1, [2]],
  transformList: ["transformList", 2, [3, 4]],
  transformMap: ["transformMap", 2, [3, 4]],
};

/** What a call stands for; undefined for one that is just a call. */
export function macroOf(call: Call): Loop | OptionalStep | MacroMisuse | undefined {
  const { name, target, args } = call;
  if (target === undefined) return undefined;
  if ((name === "optMap" || name === "optFlatMap") && args.length === 2) {
    const variable = nameOf(args[0]);
    if (typeof variable !== "string") return variable;
    return { is: "optional", of: target, name: variable, body: args[1] as Expr, flat: name === "optFlatMap" };
  }
  const shape = Object.hasOwn(loops, name) ? loops[name] : undefined;
  if (shape === undefined || !shape[2].includes(args.length)) return undefined;
  return loopOf(shape[0], name, target, args);
}

function loopOf(kind: LoopKind, name: string, range: Expr, args: readonly Expr[]): Loop | MacroMisuse {
  // With three arguments `map` filters, and the quantifiers have two variables.
  const isTransform = kind === "transformList" || kind === "transformMap";
  const isFiltered = (kind === "map" && args.length === 3) || (isTransform && args.length === 4);
  const nameCount = isTransform || (kind !== "map" && kind !== "filter" && args.length === 3) ? 2 : 1;
  const names: string[] = [];
  for (const arg of args.slice(0, nameCount)) {
    const found = nameOf(arg);
    if (typeof found !== "string") return found;
    if (names.includes(found))
      return { is: "misuse", at: arg.at, text: `duplicate variable name: ${found} in ${name}()` };
    names.push(found);
  }
  return {
    is: "loop",
    kind,
    range,
    names,
    body: args.at(-1) as Expr,
    filter: isFiltered ? args[nameCount] : kind === "filter" ? args[1] : undefined,
  };
}

function nameOf(arg: Expr | undefined): string | MacroMisuse {
  return arg?.is === "name" ? arg.name : { is: "misuse", at: arg?.at ?? 0, text: "argument must be a simple name" };
}
