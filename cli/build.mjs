// `npm run build`: the publishable package in dist/package/, as JavaScript with types, and its tarball beside it.
// What is there and no build has made is left, and the build refused. The package needs no TypeScript and no build at its user's: Node refuses to strip types below node_modules.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyBuilt, listBuilt } from "./built-folder.mjs";
import { root } from "./pinned-node.mjs";

/** What the package holds beside compiled code: data that is read at run time, and what a person reads. */
const copied = [
  "conformance/requirements/*.yaml",
  "reports/html/*.{css,mjs}",
  "docs/*.{md,png}",
  "sim/testing/examples/*.ts",
  "reports/*/*.schema.json",
  "scenarios/**/*.yaml",
  "scenarios/*.schema.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
];

/** What can be imported: an entry of the package, and the module behind it. */
const entries = { library: "cli/library", testing: "sim/testing/testing" };

/** The oldest Node that runs the package, stated in its manifest and told to whoever has an older one. */
const oldestNode = 24;

/** Imported before everything else, so that an older Node says what is wrong instead of what it stumbled over. */
const nodeVersionGuard = `if (Number.parseInt(process.versions.node, 10) < ${oldestNode}) {
  throw new Error("touchstone needs Node ${oldestNode} or later; this is " + process.versions.node);
}
`;

const dist = join(root, "dist/package");
const problem = emptyBuilt(dist);
if (problem === undefined) build();
else {
  console.error(`touchstone: ${problem}`);
  process.exitCode = 2; // nothing was run
}

function build() {
  try {
    fill();
  } finally {
    listBuilt(dist);
  }
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", root], {
    cwd: dist,
    encoding: "utf8",
  }).trim();
  console.log(`${packed}\nIn a project of your own: npm install --save-dev ${join(root, packed)}`);
}

function fill() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "--project", join(root, "tsconfig.build.json")], { stdio: "inherit" });
  for (const file of copied.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    mkdirSync(join(dist, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(dist, file));
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  writeCommand(join(dist, "cli/touchstone.js"));
  mkdirSync(join(dist, "entry"));
  writeFileSync(join(dist, "entry/node-version.js"), nodeVersionGuard);
  for (const [name, path] of Object.entries(entries)) writeEntry(name, path);
}

function manifest() {
  const { name, version, description, license, type, dependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const entry = (name) => ({ types: `./${entries[name]}.d.ts`, default: `./entry/${name}.js` });
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: `>=${oldestNode}` },
    bin: { touchstone: "./cli/touchstone.js" },
    exports: {
      ".": entry("library"),
      "./testing": entry("testing"),
      "./package.json": "./package.json",
    },
    dependencies,
  };
}

/** Modules are evaluated in the order of their imports: the guard first. */
function writeEntry(name, path) {
  writeFileSync(join(dist, "entry", `${name}.js`), `import "./node-version.js";\nexport * from "../${path}.js";\n`);
}

/** The command. Compiled code is kept from one start to the next, which saves a start a third of its time. */
function writeCommand(path) {
  const lines = [
    "#!/usr/bin/env node",
    `if (Number.parseInt(process.versions.node, 10) < ${oldestNode}) {`,
    `  console.error("touchstone: needs Node ${oldestNode} or later; this is " + process.versions.node);`,
    "  process.exitCode = 2; // nothing was run",
    "} else {",
    '  const { enableCompileCache } = await import("node:module");',
    "  enableCompileCache();",
    '  await import("./main.js");',
    "}",
    "",
  ];
  writeFileSync(path, lines.join("\n"));
  chmodSync(path, 0o755);
}
