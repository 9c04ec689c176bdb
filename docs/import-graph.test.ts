import { describe, expect, it } from "vitest";
import { brokenRules, circles, floors, type PackageLists, roomOf, ruleNames, unusedPackages } from "./import-rules.ts";
import { importsOf, isSource, readTreeFile, treeFiles } from "./sources.ts";

const manifest = JSON.parse(readTreeFile("package.json")) as Record<"dependencies" | "devDependencies", object>;
const packages: PackageLists = {
  dependencies: new Set(Object.keys(manifest.dependencies)),
  devDependencies: new Set(Object.keys(manifest.devDependencies)),
};

const files = treeFiles().filter(isSource);
const graph = files.flatMap((path) => importsOf(path, readTreeFile(path)));

/** Used without an import of ours: the driver that bullmq loads, and the browser's of a script in `.ci`. */
const usedElsewhere = new Set(["ioredis", "playwright-core"]);

describe("the import graph", () => {
  it("keeps every rule", () => {
    expect(graph.length).toBeGreaterThan(50);
    expect(brokenRules(graph, packages)).toEqual([]);
  });

  it("has no circle of files, by value or by type", () => {
    expect(circles(graph)).toEqual([]);
    const circle = (text: Record<string, string>) =>
      circles(Object.entries(text).flatMap(([path, source]) => importsOf(path, source)));
    const b = `export { c } from "./c.ts";`;
    const c = `import type { A } from "./a.ts";`;
    expect(
      circle({ "sim/store/a.ts": `import { b } from "./b.ts";`, "sim/store/b.ts": b, "sim/store/c.ts": c }),
    ).toEqual([["sim/store/a.ts", "sim/store/b.ts", "sim/store/c.ts"]]);
    expect(circle({ "sim/store/b.ts": b, "sim/store/c.ts": c })).toEqual([]);
    expect(circle({ "sim/store/a.ts": `import { a } from "./a.ts";` })).toEqual([["sim/store/a.ts"]]);
  });

  it("has a floor for every file of sim and conformance", () => {
    const housed = files.filter((path) => /^(sim|conformance)\//.test(path));
    expect(housed.length).toBeGreaterThan(500);
    expect(housed.filter((path) => roomOf(path) === undefined)).toEqual([]);
    expect(roomOf("sim/apiserver/cache/a.ts")).toBe("sim/apiserver/cache");
    expect(roomOf("sim/apiserver/a.ts")).toBe("sim/apiserver");
    expect(roomOf("sim/attic/a.ts")).toBeUndefined();
    const rooms = floors.flat();
    expect(new Set(rooms).size).toBe(rooms.length);
  });

  it("needs every package that is declared", () => {
    expect(unusedPackages(graph, packages).filter((name) => !usedElsewhere.has(name))).toEqual([]);
    const lists = {
      dependencies: new Set(["a", "b"]),
      devDependencies: new Set(["@types/a", "@types/b", "typescript"]),
    };
    expect(unusedPackages(importsOf("sim/a.ts", `import "a/part";`), lists)).toEqual(["b", "@types/b"]);
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
    ["conformance/runner/a.ts", `import net from "node:net";`, 2],
    ["cli/a.ts", `import { world } from "./world.test.ts";`, 3],
    ["cli/a.ts", `import { world } from "./world.fixture.ts";`, 3],
    ["sim/store/a.ts", `import type { Json } from "../contract/http-message.ts";`, 4],
    ["sim/network/a.ts", `export { b } from "../store/b.ts";`, 4],
    ["sim/apiserver/cache/a.ts", `import type { B } from "../api-server.ts";`, 4],
    ["sim/apiserver/a.ts", `import { b } from "../control/b.ts";`, 4],
    ["sim/attic/a.ts", `import { b } from "../store/b.ts";`, 4],
    ["conformance/client/a.ts", `import { b } from "../run-suite.ts";`, 4],
    ["conformance/model/a.ts", `import { b } from "../client/client.ts";`, 5],
    ["conformance/model/a.ts", `import fc from "fast-check";`, 5],
    ["cli/a.ts", `import { it } from "vitest";`, 6],
    ["cli/a.ts", `import chalk from "chalk";`, 6],
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
