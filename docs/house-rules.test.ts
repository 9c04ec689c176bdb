import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { isSource, placesOf, readTreeFile, root, type SyntaxNode, treeFiles } from "./sources.ts";

/** What may stand nowhere in the tree. */
const bannedTexts: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "a path of one machine", pattern: /(?<![\w.~-])\/(work|home|root|Users|mnt|private)\/\w|[A-Z]:\\Users\\/ },
  { what: "a package registry's host", pattern: /\bregistry\.(npmjs|yarnpkg|npmmirror)\.|"resolved":\s*"http/ },
  { what: "unfinished work", pattern: /\b(TODO|FIXME|XXX)\b/ },
  { what: "an unresolved merge", pattern: /^(<{7}|>{7}) /m },
];

function bannedIn(path: string, text: string): readonly string[] {
  return bannedTexts.flatMap(({ what, pattern }) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${path}:${text.slice(0, at).split("\n").length}: ${what}`];
  });
}

/** `**` draws on the engine's own pow. Of two literal integers, or of BigInts, the result is exact. */
const isPower = (node: SyntaxNode): boolean => {
  if (node["operator"] !== "**" && node["operator"] !== "**=") return false;
  const sides = [node["left"], node["right"]].map((side) => (side as { value?: unknown }).value);
  return !sides.some((value) => typeof value === "bigint") && !sides.every(Number.isInteger);
};

/** Calls that take each element as an argument of its own, of which the stack holds so many and no more. */
const takesMany = new Set([
  "push",
  "unshift",
  "splice",
  "concat",
  "apply",
  "max",
  "min",
  "fromCharCode",
  "fromCodePoint",
]);

interface Call {
  readonly callee: SyntaxNode & { readonly name?: string; readonly property?: { readonly name?: string } };
  readonly arguments: readonly { readonly type: string; readonly argument: SyntaxNode & { readonly name?: string } }[];
}

const isCall = ({ type }: SyntaxNode): boolean => type === "CallExpression" || type === "NewExpression";
const calledName = ({ callee }: Call): string => callee.property?.name ?? callee.name ?? "";

const spreadsList = (node: SyntaxNode): boolean => {
  if (!isCall(node)) return false;
  const call = node as unknown as Call;
  return takesMany.has(calledName(call)) && call.arguments.some(({ type }) => type === "SpreadElement");
};

/** Where a list that is no caller's own arguments is spread, though our own code alone says how long it is. By file: what is called. */
const shortLists: Readonly<Record<string, readonly string[]>> = {
  "cli/flags/agent-flags.ts": ["option"],
  "sim/apiserver/openapi/open-api.ts": ["make"],
  "sim/expressions/estimate.ts": ["cost", "size"], // arguments of a function that an expression calls
  "sim/expressions/evaluate.ts": ["cost"],
  "sim/kinds/apps/workloads.ts": ["printer"],
  "sim/kinds/batch/cron-job.ts": ["printer"],
  "sim/kinds/batch/job.ts": ["printer"],
  "sim/kinds/core/pod-template.ts": ["printer"],
  "sim/kinds/core/pods/operating-system.ts": ["of"],
  "sim/kinds/flowcontrol/priority-level.ts": ["printer"],
  "sim/kinds/networking/ingress.ts": ["all"],
  "sim/kinds/shared/field-labels.ts": ["at"],
  "sim/planted/wrappers/misreading.ts": ["dropped"],
  "sim/planted/wrappers/option-misreadings.ts": ["without"],
  "sim/runtime/live-sessions.ts": ["startExec"],
  "sim/testing/virtual-globals.ts": ["answer"],
  "wire/cri.ts": ["assign"],
};

/** Names that a file gives to what its functions were called with. */
const restNames = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/[(,]\s*\.\.\.(\w+)(?=\s*(?::|\)\s*(?::|=>|\{)))/g)].map(([, name = ""]) => name));

/** Calls into which another list is spread than what the caller was itself called with. */
const spreadsOther =
  (path: string, text: string) =>
  (node: SyntaxNode): boolean => {
    if (!isCall(node)) return false;
    const call = node as unknown as Call;
    if (shortLists[path]?.includes(calledName(call)) === true) return false;
    const own = restNames(text);
    return call.arguments.some(({ type, argument }) => type === "SpreadElement" && !own.has(argument.name ?? ""));
  };

const isDeterministicSource = (path: string): boolean =>
  isSource(path) && /^(sim|wire)\//.test(path) && !path.endsWith(".test.ts");

describe("the house rules", () => {
  it("finds no banned text in the tree", () => {
    const self = "docs/house-rules.test.ts";
    const texts = treeFiles().filter(
      (path) => path !== self && /\.(ts|mjs|json|ya?ml|md|sh)$|^\.ci\/|^[^./]+$/.test(path),
    );
    expect(texts.length).toBeGreaterThan(30);
    expect(texts.flatMap((path) => bannedIn(path, readTreeFile(path)))).toEqual([]);
  });

  it.each([
    "see /home/someone/notes",
    "registry=https://registry.npmjs.org",
    '"resolved": "https://example.com/a.tgz"',
    "// TODO: later",
    "<<<<<<< HEAD",
  ])("rejects the text %s", (text) => {
    expect(bannedIn("a.md", `first line\n${text}`)).toHaveLength(1);
    expect(bannedIn("a.md", `first line\n${text}`)[0]).toMatch(/^a\.md:2: /);
  });

  it.each(["GET /api/v1/homes/work/x", "~/work/x", "the word registry", "a to-do list"])(
    "accepts the text %s",
    (text) => {
      expect(bannedIn("a.md", text)).toEqual([]);
    },
  );

  it("finds no word of clusters in the kernel, which knows of events, processes and chance alone", () => {
    const word =
      /\b(pods?|kubelets?|namespaces?|clusters?|containers?|controllers?|schedulers?|leases?|api ?servers?|resource ?versions?)\b/i;
    const files = treeFiles().filter((path) => /^sim\/kernel\/[^/]*(?<!\.test)\.ts$/.test(path));
    expect(files.length).toBeGreaterThan(8);
    expect(files.filter((path) => word.test(readTreeFile(path)))).toEqual([]);
    expect(["a pod starts", "the API server", "resourceVersion 7"].every((text) => word.test(text))).toBe(true);
  });

  it("finds no power operator in sim and wire", () => {
    const files = treeFiles().filter(isDeterministicSource);
    expect(files.flatMap((path) => placesOf(path, readTreeFile(path), isPower))).toEqual([]);
    expect(placesOf("a.ts", "let a = 2 ** 53 + Number(10n ** BigInt(3));\na = a ** 0.5;\na **= 2;", isPower)).toEqual([
      "a.ts:2",
      "a.ts:3",
    ]);
  });

  it("finds no list spread into a call in sim, wire and conformance: users' lists have any length", () => {
    const files = treeFiles().filter(
      (path) => isSource(path) && /^(sim|wire|conformance)\//.test(path) && !/\.(test|fixture)\.ts$/.test(path),
    );
    expect(files.flatMap((path) => placesOf(path, readTreeFile(path), spreadsList))).toEqual([]);
    const planted =
      "list.push(...more);\nMath.max(0, ...sizes);\nlist.push({ ...one });\nString.fromCharCode(...codes);";
    expect(placesOf("a.ts", planted, spreadsList)).toEqual(["a.ts:1", "a.ts:2", "a.ts:4"]);
  });

  it("finds no other list spread into a call of what serves: our own code says how long a list of arguments is", () => {
    const files = treeFiles().filter(
      (path) => isSource(path) && /^(sim|wire|cli)\//.test(path) && !/\.(test|fixture)\.ts$/.test(path),
    );
    const places = (path: string, text: string) => placesOf(path, text, spreadsOther(path, text));
    expect(files.flatMap((path) => places(path, readTreeFile(path)))).toEqual([]);
    const planted = [
      "const a = (...own: number[]) => b(...own);",
      "c(...names);",
      "new D(...names);",
      "e(...names.map(f));",
      "g([...names], { ...h });",
    ];
    expect(places("a.ts", planted.join("\n"))).toEqual(["a.ts:2", "a.ts:3", "a.ts:4"]);
    for (const [path, names] of Object.entries(shortLists)) {
      const text = readTreeFile(path);
      for (const name of names) {
        const isThere = (node: SyntaxNode): boolean =>
          isCall(node) &&
          calledName(node as unknown as Call) === name &&
          JSON.stringify(node).includes("SpreadElement");
        expect([path, name, placesOf(path, text, isThere).length > 0]).toEqual([path, name, true]);
      }
    }
  });

  it("bans time, chance, locales and Node in sim and wire, but not in adapters and tests", () => {
    const planted = [
      `import { readFileSync } from "node:fs";`,
      "export const a = Date.now();",
      "export const b = Math.random();",
      "export const { pow } = Math;",
      "export const c = performance.now();",
      "export const d = setTimeout(() => readFileSync, 1);",
      `export const e = "a".localeCompare("b");`,
      "export const f = crypto.randomUUID();",
      `export const g = fetch("http://a");`,
      "export const h = new Intl.Collator();",
      "export const i = globalThis;",
      "export const j = process.argv;",
    ];
    const found = lint({
      "sim/store/a.ts": planted.join("\n"),
      "wire/a.ts": planted.join("\n"),
      "sim/store/a.test.ts": planted.join("\n"),
      "sim/http/a.ts": planted.join("\n"),
      "cli/a.ts": planted.join("\n"),
      "sim/store/good.ts": "export const a = Math.floor(7 / 2);",
    });
    const everyLine = planted.map((_, index) => index + 1);
    expect(found).toEqual({ "sim/store/a.ts": everyLine, "wire/a.ts": everyLine });
  }, 30_000);
});

/** Lines that break a `no-restricted-…` rule, by path, when the project's lint rules meet these files. */
function lint(files: Readonly<Record<string, string>>): Record<string, number[]> {
  const folder = mkdtempSync(join(tmpdir(), "touchstone-lint-"));
  try {
    copyFileSync(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
    const { stdout } = spawnSync(process.execPath, [oxlint, "--format", "json"], { cwd: folder, encoding: "utf8" });
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[];
    };
    const lines: Record<string, Set<number>> = {};
    for (const { filename, labels } of diagnostics.filter((row) => row.code.includes("no-restricted-"))) {
      (lines[filename] ??= new Set()).add(labels[0]?.span.line ?? 0);
    }
    return Object.fromEntries(
      Object.entries(lines)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([path, set]) => [path, [...set].sort((one, other) => one - other)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
