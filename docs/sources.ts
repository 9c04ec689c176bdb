/** The project's own files as its house rules see them: text, imports, syntax tree. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** One import or re-export. */
export interface Import {
  readonly from: string;
  /** A path from the root when `ours`, else a package or `node:` name as written. */
  readonly to: string;
  readonly ours: boolean;
  readonly line: number;
  /** As the other file exports them; `*` for all. */
  readonly names: readonly string[];
}

/** A value that other files can import. */
export interface Export {
  readonly from: string;
  readonly name: string;
  readonly line: number;
}

/** Folders that hold no source: what .gitignore names, and git's own. */
const ignored = new Set(["node_modules", ".git", "out", "dist", ".vitest"]);

/** Every file of the tree, as sorted paths from the root with `/` between their parts. */
export function treeFiles(folder = ""): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !ignored.has(entry.name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? treeFiles(path) : [path];
    })
    .sort();
}

/** Sample projects of users are none of ours: they import the installed package. */
export const isSource = (path: string): boolean =>
  /\.(ts|mjs)$/.test(path) && !path.endsWith(".d.ts") && !path.startsWith(".ci/user-project/");

export const readTreeFile = (path: string): string => readFileSync(join(root, path), "utf8");

/** Static imports, `export … from` and dynamic imports of a literal, of one file. */
export function importsOf(path: string, text: string): readonly Import[] {
  const { module } = parse(path, text);
  const found = [
    ...module.staticImports.map(({ moduleRequest, start, entries }) => ({
      specifier: moduleRequest.value,
      start,
      names: entries.map(({ importName }) => importName.name ?? "*"),
    })),
    ...module.staticExports.flatMap(({ entries, start }) => {
      const request = entries.find((entry) => entry.moduleRequest !== null)?.moduleRequest;
      return request
        ? [{ specifier: request.value, start, names: entries.map(({ importName }) => importName.name ?? "*") }]
        : [];
    }),
    ...module.dynamicImports.flatMap(({ moduleRequest, start }) => {
      const literal = /^["'`]([^"'`$]*)["'`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1];
      return literal === undefined ? [] : [{ specifier: literal, start, names: ["*"] }];
    }),
  ];
  return found.map(({ specifier, start, names }) => ({
    from: path,
    to: specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier,
    ours: specifier.startsWith("."),
    line: lineAt(text, start),
    names,
  }));
}

/** What a file exports itself, types left out: a type may be there to be read. */
export function exportsOf(path: string, text: string): readonly Export[] {
  const { module } = parse(path, text);
  return module.staticExports.flatMap(({ entries, start }) =>
    entries
      .filter(({ moduleRequest, isType }) => moduleRequest === null && !isType)
      .map(({ exportName }) => ({ from: path, name: exportName.name ?? "default", line: lineAt(text, start) })),
  );
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** Every node of the file's syntax tree that `wanted` picks, as `path:line`. */
export function placesOf(path: string, text: string, wanted: (node: SyntaxNode) => boolean): readonly string[] {
  const places: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === "object" && value !== null) {
      const node = value as SyntaxNode;
      if (typeof node.type === "string" && wanted(node)) {
        places.push(`${path}:${lineAt(text, node.start)}`);
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(parse(path, text).program);
  return places;
}

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

function parse(path: string, text: string): ReturnType<typeof parseSync> {
  const parsed = parseSync(path, text);
  const [error] = parsed.errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  return parsed;
}
