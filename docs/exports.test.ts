import { describe, expect, it } from "vitest";
import { exportsOf, importsOf, isSource, readTreeFile, treeFiles } from "./sources.ts";

/** Their readers are outside the tree, or import whatever file they find. */
const isEntry = (path: string): boolean =>
  ["cli/library.ts", "sim/testing/testing.ts", "vitest.config.ts", "cli/packaging/tested-command.mjs"].includes(path) ||
  path.startsWith("bench/");

/** Values that no other file imports, as `path:line name`. */
function unread(files: ReadonlyMap<string, string>): readonly string[] {
  const read = new Set<string>();
  for (const [path, text] of files) {
    for (const { to, names } of importsOf(path, text)) for (const name of names) read.add(`${to} ${name}`);
  }
  return [...files]
    .filter(([path]) => !isEntry(path))
    .flatMap(([path, text]) => exportsOf(path, text))
    .filter(({ from, name }) => !read.has(`${from} ${name}`) && !read.has(`${from} *`))
    .map(({ from, name, line }) => `${from}:${line} ${name}`);
}

describe("exports", () => {
  it("have a reader in another file: delete what has none, or keep it to its file", () => {
    const files = new Map(
      treeFiles()
        .filter(isSource)
        .map((path) => [path, readTreeFile(path)]),
    );
    expect(files.size).toBeGreaterThan(50);
    expect(unread(files)).toEqual([]);
  });

  it("are found where nobody reads them, types excepted", () => {
    const a = `export const b = 1;\nexport function c() {}\nexport interface D {}\nexport { e } from "./e.ts";`;
    const user = `import { c as renamed } from "./a.ts";\nconst all = await import("./e.ts");`;
    const files = new Map([
      ["sim/a.ts", a],
      ["sim/e.ts", "export const e = 1;\nexport class F {}"],
      ["sim/user.test.ts", user],
    ]);
    expect(unread(files)).toEqual(["sim/a.ts:1 b"]);
  });
});
