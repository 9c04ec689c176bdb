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

/**
 * The floors of `sim` and of `conformance`, from the ground up. A file imports from its own room and from rooms on lower
 * floors; rooms on one floor do not see each other. A room is a folder with all that is in it, but for rooms of their own.
 */
export const floors: readonly (readonly string[])[] = [
  ["sim/kernel"],
  ["sim/network", "sim/store", "sim/cri"],
  ["sim/planted"],
  ["sim/contract"],
  ["sim/expressions"],
  ["sim/objects"],
  ["sim/kinds"],
  ["sim/client", "sim/configuration"],
  ["sim/apiserver/encodings"],
  ["sim/apiserver/cache"],
  ["sim/apiserver/reads"],
  ["sim/apiserver/catalogue"],
  ["sim/apiserver/access"],
  ["sim/apiserver/requests"],
  ["sim/apiserver/metrics"],
  ["sim/apiserver/answers"],
  ["sim/apiserver/admission"],
  ["sim/apiserver/proxy"],
  ["sim/apiserver/verbs"],
  ["sim/apiserver/openapi"],
  ["sim/apiserver/discovery"],
  ["sim/planted/wrappers"],
  ["sim/apiserver"],
  ["sim/control", "sim/runtime", "sim/agent", "sim/outside"],
  ["sim/cluster"],
  ["sim/checkers", "sim/faults", "sim/disk"],
  ["sim/experiments", "sim/capacity", "sim/grpc", "sim/recorded", "sim/streams"],
  ["sim/http"],
  ["sim/testing"],

  ["conformance/client"],
  ["conformance/model", "conformance/agent"],
  ["conformance/arbitraries"],
  ["conformance/profiles", "conformance/requirements"],
  ["conformance/runner"],
  ["conformance/checks", "conformance/diff"],
  ["conformance/testing"],
  ["conformance"],
];

const floorOfRoom = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));

/** The innermost room that a file stands in. */
export function roomOf(path: string): string | undefined {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const room = path.slice(0, end);
    if (floorOfRoom.has(room)) return room;
  }
  return undefined;
}

const hasFloors = (path: string): boolean => path.startsWith("sim/") || path.startsWith("conformance/");

function pointsUp({ from, to }: Import): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === target) return false;
  return (floorOfRoom.get(target ?? "") ?? Infinity) >= (floorOfRoom.get(room ?? "") ?? -1);
}

/** What the model may know of the rest of the suite: the shapes of what was recorded. */
const recordedShapes = new Set(["types", "findings", "exchange"].map((name) => `conformance/client/${name}.ts`));

/** Places in sim/ that bind it to a real machine, or put a user's code in Node on virtual time. */
const adapters = ["sim/http/", "sim/grpc/", "sim/streams/", "sim/disk/", "sim/testing/"];

/** Packages that run wherever the simulator does: in Node, a worker or a browser. */
const portable = new Set([
  "seedrandom",
  "yaml",
  "protobufjs",
  "re2js",
  "zod",
  "@marcbachmann/cel-js",
  "@noble/curves",
  "@noble/hashes",
  "fflate",
]);

const sockets = new Set(
  ["net", "http", "https", "http2", "tls", "dgram", "dns", "child_process"]
    .map((name) => `node:${name}`)
    .concat("undici"),
);

/** What makes the package, and is not in it. */
const packaging = "cli/packaging/";

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
    name: "floors: sim and conformance import from their own room and from lower floors alone",
    breaks: (edge) =>
      edge.ours &&
      hasFloors(edge.from) &&
      !isForTests(edge.from) &&
      folder(edge.to) === folder(edge.from) &&
      pointsUp(edge),
  },
  {
    name: "the suite's model is pure: the shapes of what was recorded, and packages that run anywhere",
    breaks: ({ from, to, ours }) =>
      from.startsWith("conformance/model/") &&
      !isForTests(from) &&
      (ours
        ? to.startsWith("conformance/") && !to.startsWith("conformance/model/") && !recordedShapes.has(to)
        : !portable.has(packageOf(to))),
  },
  {
    name: "every package is declared, and outside tests and tools it is no devDependency",
    breaks: ({ from, to, ours }, { dependencies, devDependencies }) =>
      !ours &&
      !to.startsWith("node:") &&
      !dependencies.has(packageOf(to)) &&
      !(
        devDependencies.has(packageOf(to)) &&
        (isForTests(from) || ["docs", ".ci", "vitest.config.ts"].includes(folder(from)) || from.startsWith(packaging))
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

/** Circles of files that import each other, by value or by type, each as its files in order. Tests are left out. */
export function circles(graph: readonly Import[]): readonly (readonly string[])[] {
  const edges = new Map<string, string[]>();
  for (const { from, to, ours } of graph) {
    if (ours && !isForTests(from)) edges.set(from, [...(edges.get(from) ?? []), to]);
  }
  // Tarjan's strongly connected components, without recursion.
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const found: string[][] = [];
  for (const start of edges.keys()) {
    const path: { readonly file: string; next: number }[] = order.has(start) ? [] : [{ file: start, next: 0 }];
    while (path.length > 0) {
      const step = path.at(-1) as (typeof path)[number];
      const { file } = step;
      if (step.next === 0) {
        order.set(file, order.size);
        lowest.set(file, order.size - 1);
        open.push(file);
        isOpen.add(file);
      }
      const to = edges.get(file)?.[step.next++];
      if (to !== undefined) {
        if (!order.has(to)) path.push({ file: to, next: 0 });
        else if (isOpen.has(to)) lowest.set(file, Math.min(at(lowest, file), at(order, to)));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lowest.set(parent.file, Math.min(at(lowest, parent.file), at(lowest, file)));
      if (lowest.get(file) !== order.get(file)) continue;
      const circle = open.splice(open.indexOf(file));
      for (const member of circle) isOpen.delete(member);
      if (circle.length > 1 || edges.get(file)?.includes(file) === true) found.push(circle.sort());
    }
  }
  return found;
}

const at = (map: ReadonlyMap<string, number>, key: string): number => map.get(key) ?? 0;

/** Packages of `package.json` that no file imports and no command needs. */
export function unusedPackages(graph: readonly Import[], { dependencies, devDependencies }: PackageLists): string[] {
  const used = new Set(graph.filter(({ ours }) => !ours).map(({ to }) => packageOf(to)));
  return [...dependencies, ...devDependencies].filter(
    (name) => !used.has(name) && !tools.has(name) && !used.has(name.replace("@types/", "")),
  );
}

/** Started as commands, or read by the compiler. */
const tools = new Set(["@biomejs/biome", "node", "oxlint", "oxlint-tsgolint", "typescript", "@types/node"]);

const folder = (path: string): string => path.split("/", 1)[0] as string;

const isTest = (path: string): boolean => path.endsWith(".test.ts");

const isForTests = (path: string): boolean => /\.(test|fixture)\.ts$/.test(path);

const isPortable = (from: string): boolean =>
  (from.startsWith("sim/") || from.startsWith("wire/")) &&
  !isTest(from) &&
  !adapters.some((adapter) => from.startsWith(adapter));

const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
