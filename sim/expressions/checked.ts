/** An expression that was checked: names are slots, calls have their overloads, everything has a type. */
import type { Overload } from "./functions.ts";
import type { LoopKind } from "./macros.ts";
import type { CelType } from "./types.ts";
import type { Value } from "./values.ts";

export type Checked =
  | { readonly is: "constant"; readonly type: CelType; readonly value: Value }
  | { readonly is: "name"; readonly type: CelType; readonly name: string; readonly slot: number }
  | {
      readonly is: "select";
      readonly type: CelType;
      readonly of: Checked;
      readonly field: string;
      readonly optional: boolean;
    }
  | { readonly is: "has"; readonly type: CelType; readonly of: Checked; readonly field: string }
  | { readonly is: "and" | "or"; readonly type: CelType; readonly left: Checked; readonly right: Checked }
  | {
      readonly is: "if";
      readonly type: CelType;
      readonly condition: Checked;
      readonly yes: Checked;
      readonly no: Checked;
    }
  | {
      readonly is: "call";
      readonly type: CelType;
      readonly name: string;
      readonly overloads: readonly Overload[];
      readonly args: readonly Checked[];
    }
  | { readonly is: "list"; readonly type: CelType; readonly items: readonly Checked[] }
  | { readonly is: "map"; readonly type: CelType; readonly entries: readonly (readonly [Checked, Checked])[] }
  | CheckedLoop
  | {
      readonly is: "optional";
      readonly type: CelType;
      readonly of: Checked;
      readonly slot: number;
      readonly body: Checked;
      readonly flat: boolean;
    };

export interface CheckedLoop {
  readonly is: "loop";
  readonly type: CelType;
  readonly kind: LoopKind;
  readonly range: Checked;
  readonly slots: readonly number[];
  readonly body: Checked;
  readonly filter: Checked | undefined;
}

/** The same tree with all types replaced by what `typeOf` makes of them, for what reads sizes from them. */
export function withTypes(node: Checked, typeOf: (type: CelType) => CelType): Checked {
  const type = typeOf(node.type);
  const inner = (each: Checked): Checked => withTypes(each, typeOf);
  switch (node.is) {
    case "constant":
    case "name":
      return { ...node, type };
    case "select":
    case "has":
      return { ...node, type, of: inner(node.of) };
    case "and":
    case "or":
      return { ...node, type, left: inner(node.left), right: inner(node.right) };
    case "if":
      return { ...node, type, condition: inner(node.condition), yes: inner(node.yes), no: inner(node.no) };
    case "call":
      return { ...node, type, args: node.args.map(inner) };
    case "list":
      return { ...node, type, items: node.items.map(inner) };
    case "map":
      return { ...node, type, entries: node.entries.map(([key, value]) => [inner(key), inner(value)]) };
    case "loop":
      return {
        ...node,
        type,
        range: inner(node.range),
        body: inner(node.body),
        filter: node.filter && inner(node.filter),
      };
    default:
      return { ...node, type, of: inner(node.of), body: inner(node.body) };
  }
}
