/** Which fields of a variable an expression reads by name. */
import type { Checked } from "./checked.ts";

/** Whether `claims["email"]` reads `email` of `claims`, as `claims.email`, `claims.?email` and `has(claims.email)` do. */
export type SelectionForms = "dots" | "dots-and-brackets";

export function selects(root: Checked, variable: string, field: string, forms: SelectionForms): boolean {
  const waiting: Checked[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (reads(node, variable, field, forms)) return true;
    for (const part of parts(node)) waiting.push(part);
  }
  return false;
}

function reads(node: Checked, variable: string, field: string, forms: SelectionForms): boolean {
  if (node.is === "select" || node.is === "has") return isVariable(node.of, variable) && node.field === field;
  if (node.is !== "call" || forms === "dots") return false;
  const [of, key] = node.args;
  return of !== undefined && isVariable(of, variable) && key?.is === "constant" && key.value === field;
}

const isVariable = (node: Checked, name: string): boolean => node.is === "name" && node.name === name;

function parts(node: Checked): readonly Checked[] {
  switch (node.is) {
    case "constant":
    case "name":
      return [];
    case "select":
    case "has":
      return [node.of];
    case "and":
    case "or":
      return [node.left, node.right];
    case "if":
      return [node.condition, node.yes, node.no];
    case "call":
      return node.args;
    case "list":
      return node.items;
    case "map":
      return node.entries.flat();
    case "loop":
      return node.filter === undefined ? [node.range, node.body] : [node.range, node.body, node.filter];
    default:
      return [node.of, node.body];
  }
}
