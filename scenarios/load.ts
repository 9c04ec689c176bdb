/** From the text of a scenario file to a scenario, or to every mistake in it with its place. */
import { isMap, isNode, isPair, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { type Scenario, scenarioSchema } from "./schema.ts";

/** One mistake a line: `file:line:column: path: what is wrong`. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** `name` is how errors call the file. Throws `ScenarioError`. */
export function parseScenario(text: string, name: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [broken] = document.errors; // those behind the first mostly follow from it
  if (broken !== undefined) throw new ScenarioError(`${at(broken.pos[0])}: not YAML: ${broken.message}`);
  const parsed = scenarioSchema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.flatMap(flattened).map((issue) => {
    const path = issue.path
      .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
      .join("")
      .replace(/^\./, "");
    return `${at(offsetOf(document.contents, issue.path))}: ${path === "" ? "" : `${path}: `}${issue.message}`;
  });
  throw new ScenarioError(mistakes.join("\n"));
}

type Issue = z.core.$ZodIssue;

/** Of a union, the complaints of the alternative that was probably meant: the one with the fewest. */
function flattened(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const fewest = issue.errors.reduce((best, errors) => (weight(errors) < weight(best) ? errors : best));
  return fewest.flatMap((inner) => flattened({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** An unknown or a missing key says more against an alternative than a wrong value does. */
function weight(issues: readonly Issue[]): number {
  return issues.reduce(
    (sum, issue) =>
      sum + (issue.code === "unrecognized_keys" ? 2 * issue.keys.length : issue.input === undefined ? 2 : 1),
    0,
  );
}

/** Where the deepest node on the path begins. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  for (const key of path) {
    const next = childOf(node, key);
    if (next === undefined) break;
    node = next;
  }
  return (isNode(node) ? (node as Node).range?.[0] : undefined) ?? 0;
}

function childOf(node: unknown, key: PropertyKey): Node | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => isPair(item) && String(item.key) === String(key));
    return isNode(pair?.value) ? pair.value : undefined;
  }
  const items = (node as { items?: unknown[] } | null | undefined)?.items;
  const item = Array.isArray(items) ? items[Number(key)] : undefined;
  return isNode(item) ? item : undefined;
}
