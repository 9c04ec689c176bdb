/**
 * Who may import whom. `cli → {sim, conformance} → {scenarios, reports} → wire`, and a few places that
 * may not know of the machine. A pure function over the graph, so that a test can plant a wrong import.
 */
import type { Import } from "./sources.ts";

export interface PackageLists {
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
}

export interface BrokenRule {
  readonly rule: string;
  /** `from:line → to`. */
  readonly where: string;
}

/** Folder → the folders of ours that it may import beside itself. A folder that is not named here may import all. */
const below: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  reports: ["wire"],
  scenarios: ["wire"],
  sim: ["scenarios", "reports", "wire"],
  conformance: ["scenarios", "reports", "wire"],
  cli: ["sim", "conformance", "scenarios", "reports", "wire"],
  bench: ["sim", "conformance", "scenarios", "reports", "wire"],
};

/** Places in sim/ that bind it to a real machine, or put a user's code in Node on virtual time. */
const adapters = ["sim/http/", "sim/grpc/", "sim/testing/"];

/** Packages that run wherever the simulator does: in Node, a worker or a browser. */
const portable = new Set(["seedrandom", "yaml", "protobufjs", "re2js", "zod", "@marcbachmann/cel-js"]);

const sockets = new Set(
  ["net", "http", "https", "http2", "tls", "dgram", "dns", "child_process"]
    .map((name) => `node:${name}`)
    .concat("undici"),
);

interface Rule {
  readonly name: string;
  readonly breaks: (edge: Import, packages: PackageLists) => boolean;
}

const rules: readonly Rule[] = [
  {
    name: "direction: cli → {sim, conformance} → {scenarios, reports} → wire",
    breaks: ({ from, to, ours }) => {
      const allowed = below[folder(from)];
      const target = folder(to);
      return ours && allowed !== undefined && target !== folder(from) && !allowed.includes(target);
    },
  },
  {
    name: "sim and wire run in a browser: nothing from node: but in sim's adapters",
    breaks: ({ from, to, ours }) =>
      isPortable(from) && !ours && (to.startsWith("node:") || !portable.has(packageOf(to))),
  },
  {
    name: "only conformance/client has sockets",
    breaks: ({ from, to }) =>
      from.startsWith("conformance/") && !from.startsWith("conformance/client/") && !isTest(from) && sockets.has(to),
  },
  {
    name: "a test, or what stands in a *.fixture.ts for tests, is imported by nothing but tests and benchmarks",
    breaks: ({ from, to }) => isForTests(to) && !isForTests(from) && folder(from) !== "bench",
  },
  {
    name: "every package is declared, and outside tests and tools it is no devDependency",
    breaks: ({ from, to, ours }, { dependencies, devDependencies }) =>
      !ours &&
      !to.startsWith("node:") &&
      !dependencies.has(packageOf(to)) &&
      !(
        devDependencies.has(packageOf(to)) &&
        (isTest(from) || folder(from) === "docs" || folder(from) === "vitest.config.ts")
      ),
  },
];

export const ruleNames: readonly string[] = rules.map((rule) => rule.name);

export function brokenRules(graph: readonly Import[], packages: PackageLists): readonly BrokenRule[] {
  return graph.flatMap((edge) =>
    rules
      .filter((rule) => rule.breaks(edge, packages))
      .map((rule) => ({ rule: rule.name, where: `${edge.from}:${edge.line} → ${edge.to}` })),
  );
}

const folder = (path: string): string => path.split("/", 1)[0] as string;

const isTest = (path: string): boolean => path.endsWith(".test.ts");

const isForTests = (path: string): boolean => /\.(test|fixture)\.ts$/.test(path);

const isPortable = (from: string): boolean =>
  (from.startsWith("sim/") || from.startsWith("wire/")) &&
  !isTest(from) &&
  !adapters.some((adapter) => from.startsWith(adapter));

const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
