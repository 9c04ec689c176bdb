import { describe, expect, it } from "vitest";
import { brokenRules, type PackageLists, ruleNames } from "./import-rules.ts";
import { importsOf, isSource, readTreeFile, treeFiles } from "./sources.ts";

const manifest = JSON.parse(readTreeFile("package.json")) as Record<"dependencies" | "devDependencies", object>;
const packages: PackageLists = {
  dependencies: new Set(Object.keys(manifest.dependencies)),
  devDependencies: new Set(Object.keys(manifest.devDependencies)),
};

describe("the import graph", () => {
  it("keeps every rule", () => {
    const graph = treeFiles()
      .filter(isSource)
      .flatMap((path) => importsOf(path, readTreeFile(path)));
    expect(graph.length).toBeGreaterThan(50);
    expect(brokenRules(graph, packages)).toEqual([]);
  });

  it.each([
    ["sim/agent/a.ts", `import { check } from "../../conformance/checks/a.ts";`, 0],
    ["conformance/model/a.ts", `import type { Store } from "../../sim/store/types.ts";`, 0],
    ["conformance/model/a.test.ts", `import { Store } from "../../sim/store/store.ts";`, 0],
    ["wire/a.ts", `export * from "../reports/verdict.ts";`, 0],
    ["reports/a.ts", `import { load } from "../scenarios/load.ts";`, 0],
    ["sim/store/a.ts", `const a = await import("../../cli/main.ts");`, 0],
    ["sim/store/a.ts", `import { createHash } from "node:crypto";`, 1],
    ["wire/a.ts", `import type { Socket } from "node:net";`, 1],
    ["sim/store/a.ts", `import { request } from "undici";`, 1],
    ["conformance/checks/a.ts", `import { request } from "undici";`, 2],
    ["conformance/model/a.ts", `import net from "node:net";`, 2],
    ["cli/a.ts", `import { world } from "./world.test.ts";`, 3],
    ["cli/a.ts", `import { it } from "vitest";`, 4],
    ["cli/a.ts", `import chalk from "chalk";`, 4],
  ])("rejects, in %s, %s", (path, text, rule) => {
    expect(brokenRules(importsOf(path, text), packages)).toEqual([
      { rule: ruleNames[rule], where: expect.stringContaining(`${path}:1 → `) },
    ]);
  });

  it.each([
    ["sim/http/a.ts", `import { createServer } from "node:http";`],
    ["sim/store/a.test.ts", `import { readFileSync } from "node:fs"; import { it } from "vitest";`],
    [
      "sim/apiserver/a.ts",
      `import table from "../../wire/tables/kinds.json" with { type: "json" }; import { parse } from "yaml";`,
    ],
    ["conformance/client/a.ts", `import { Agent } from "undici"; import { tables } from "../../wire/schema.ts";`],
    ["conformance/requirements/a.ts", `import { readFileSync } from "node:fs";`],
    [
      "cli/a.ts",
      `import { a } from "../sim/a.ts"; import { b } from "../conformance/b.ts"; import { c } from "./c.ts";`,
    ],
    ["bench/a.ts", `import { cpus } from "node:os"; import { a } from "../sim/a.ts";`],
    ["wire/a.ts", `// import { b } from "../sim/b.ts";\nexport const text = 'import { c } from "../sim/c.ts"';`],
  ])("accepts, in %s, %s", (path, text) => {
    expect(brokenRules(importsOf(path, text), packages)).toEqual([]);
  });
});
