import { describe, expect, it } from "vitest";
import { placesOf, readTreeFile, type SyntaxNode, treeFiles } from "./sources.ts";

/**
 * Laws are the exported functions of `conformance/model` that answer a Violation or nothing, or a Judgement that has one.
 * Each is expected to answer nothing at least once, and something at least once, in the test beside it; by itself or in
 * a function of that test. Whether a Judgement had an occasion is no verdict.
 */
describe("the laws", () => {
  const files = treeFiles().filter((path) => /^conformance\/model\/.*(?<!\.test)\.ts$/.test(path));
  const laws = files.flatMap((path) => lawsOf(path, readTreeFile(path)).map((law) => ({ law, path })));

  it("are many", () => expect(laws.length).toBeGreaterThan(60));

  it.each(laws)("$law accepts one history and rejects another", ({ law, path }) => {
    const test = path.replace(/\.ts$/, ".test.ts");
    expect(verdictsOn(law, test, readTreeFile(test))).toEqual({ accepts: true, rejects: true });
  });

  const law = "export function judgeIt(log: Log): Violation | undefined {}\nexport function shown(log: Log): string {}";
  it("are told from other functions", () => expect(lawsOf("a.ts", law)).toEqual(["judgeIt"]));

  it.each<[string, ReturnType<typeof verdictsOn>]>([
    ["expect(judgeIt([])).toBeUndefined();", { accepts: true, rejects: false }],
    ["expect(judgeIt([1])).toBeDefined();", { accepts: false, rejects: true }],
    ["expect(judgeIt([1])?.actual).toBe('1');", { accepts: false, rejects: true }],
    ["expect(judgeIt([1]) === undefined).toBe(good);", { accepts: true, rejects: true }],
    ["const on = (n) => judgeIt([n]);\nexpect(on(1)).not.toBeUndefined();", { accepts: false, rejects: true }],
    ["judgeIt([1]);", { accepts: false, rejects: false }],
    ["expect(judgeIt([]).violation).toBeUndefined();", { accepts: true, rejects: false }],
    ["expect(judgeIt([])).toEqual({ judged: true, violation: undefined });", { accepts: true, rejects: false }],
    ["expect(judgeIt([1]).violation?.actual).toBe('1');", { accepts: false, rejects: true }],
    ["expect(judgeIt([]).judged).toBe(false);", { accepts: false, rejects: false }],
    ["expect(another([1])).toBeDefined();", { accepts: false, rejects: false }],
  ])("knows what %s shows", (text, verdicts) => expect(verdictsOn("judgeIt", "a.test.ts", text)).toEqual(verdicts));
});

function lawsOf(path: string, text: string): readonly string[] {
  return nodesOf(path, text, (node) => node.type === "ExportNamedDeclaration")
    .map(({ declaration }) => declaration as SyntaxNode | null)
    .filter((node) => node?.type === "FunctionDeclaration" && answersViolation(text, node))
    .map((node) => (node as unknown as { readonly id: { readonly name: string } }).id.name);
}

function answersViolation(text: string, node: SyntaxNode): boolean {
  const type = node["returnType"] as (SyntaxNode & { readonly end: number }) | null;
  return type !== null && /\bViolation \| undefined|^:?\s*Judgement$/.test(text.slice(type.start, type.end));
}

function verdictsOn(law: string, path: string, text: string): { readonly accepts: boolean; readonly rejects: boolean } {
  const names = [law, ...functionsCalling(law, path, text)];
  const found = nodesOf(path, text, isMatch).map((match) => verdictOf(match, names, text));
  const either = found.includes("either");
  return { accepts: either || found.includes("accepts"), rejects: either || found.includes("rejects") };
}

/** Functions of a test that put the law's history together. */
function functionsCalling(law: string, path: string, text: string): readonly string[] {
  const declared = nodesOf(path, text, ({ type }) => type === "FunctionDeclaration" || type === "VariableDeclarator");
  return declared.filter((node) => calls(node, [law])).map(({ id }) => (id as { name?: string }).name ?? "");
}

/** `expect(…).matcher(…)`, with or without `not`. */
const isMatch = (node: SyntaxNode): boolean => node.type === "CallExpression" && expectIn(node) !== undefined;

function expectIn(match: SyntaxNode): SyntaxNode | undefined {
  let node = match["callee"] as SyntaxNode | undefined;
  if (node?.type !== "MemberExpression") return undefined;
  while (node?.type === "MemberExpression") node = node["object"] as SyntaxNode;
  return node?.type === "CallExpression" && nameOf(node["callee"]) === "expect" ? node : undefined;
}

function verdictOf(
  match: SyntaxNode,
  names: readonly string[],
  text: string,
): "accepts" | "rejects" | "either" | undefined {
  const wordsOf = (node: SyntaxNode): string => text.slice(node.start, (node as SyntaxNode & { end: number }).end);
  const [asked] = (expectIn(match) as SyntaxNode)["arguments"] as readonly SyntaxNode[];
  if (asked === undefined || !calls(asked, names) || /\.judged\b/.test(wordsOf(asked))) return undefined;
  if ((match["arguments"] as readonly SyntaxNode[]).some((told) => /\bviolation: undefined\b/.test(wordsOf(told)))) {
    return "accepts";
  }
  if (asked.type === "BinaryExpression") return "either"; // a table says which
  const { object, property } = match["callee"] as unknown as { object: SyntaxNode; property: unknown };
  const isNot = object.type === "MemberExpression" && nameOf(object["property"]) === "not";
  return (nameOf(property) === "toBeUndefined") !== isNot ? "accepts" : "rejects";
}

const calls = (value: unknown, names: readonly string[]): boolean => {
  if (Array.isArray(value)) return value.some((each) => calls(each, names));
  if (typeof value !== "object" || value === null) return false;
  const node = value as SyntaxNode;
  if (node.type === "CallExpression" && names.includes(nameOf(node["callee"]) ?? "")) return true;
  return Object.values(node).some((each) => calls(each, names));
};

const nameOf = (node: unknown): string | undefined => (node as { name?: string } | undefined)?.name;

function nodesOf(path: string, text: string, wanted: (node: SyntaxNode) => boolean): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  placesOf(path, text, (node) => {
    if (wanted(node)) nodes.push(node);
    return false;
  });
  return nodes;
}
