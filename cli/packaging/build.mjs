// `npm run build`: the publishable package in dist/package/, as JavaScript with types, and its tarball beside it.
// What is there and no build has made is left, and the build refused. The package needs no TypeScript and no build at its user's: Node refuses to strip types below node_modules.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { bundle, isOutside, runtimeFiles } from "./bundle.mjs";
import { emptyBuilt, listBuilt } from "./built-folder.mjs";
import { root } from "../pinned-node.mjs";
import { shownTypes } from "./shown-types.mjs";

/** What the package holds beside its code: what that needs at run time, and what a person reads. */
const copied = [
  ...runtimeFiles,
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

/** The oldest Node that runs the package, stated in its manifest and told to whoever has an older one; also in `cli/touchstone.mjs`. */
const oldestNode = 24;

/** Imported before everything else, so that an older Node says what is wrong instead of what it stumbled over. */
const nodeVersionGuard = `if (Number.parseInt(process.versions.node, 10) < ${oldestNode}) {
  throw new Error("touchstone needs Node ${oldestNode} or later; this is " + process.versions.node);
}
`;

const dist = join(root, "dist/package");
const problem = emptyBuilt(dist);
if (problem === undefined) await build();
else {
  console.error(`touchstone: ${problem}`);
  process.exitCode = 2; // nothing was run
}

async function build() {
  try {
    await fill();
  } finally {
    listBuilt(dist);
  }
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", root], {
    cwd: dist,
    encoding: "utf8",
  }).trim();
  console.log(`${packed}\nIn a project of your own: npm install --save-dev ${join(root, packed)}`);
}

async function fill() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "--project", join(root, "tsconfig.build.json")], { stdio: "inherit" });
  const shown = shownTypes(dist, Object.values(entries));
  for (const file of globSync("**/*.d.ts", { cwd: dist }))
    if (!shown.files.has(file.split(sep).join("/"))) rmSync(join(dist, file));
  await bundle(dist);
  for (const file of copied.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    mkdirSync(join(dist, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(dist, file));
  }
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest(shown.packages), undefined, 2)}\n`);
  chmodSync(join(dist, "cli/touchstone.mjs"), 0o755);
  mkdirSync(join(dist, "entry"));
  writeFileSync(join(dist, "entry/node-version.js"), nodeVersionGuard);
  for (const [name, path] of Object.entries(entries)) writeEntry(name, path);
}

/** Libraries that are inside the code are still dependencies where users meet their types. */
function manifest(shownPackages) {
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
    bin: { touchstone: "./cli/touchstone.mjs" },
    exports: {
      ".": entry("library"),
      "./testing": entry("testing"),
      "./package.json": "./package.json",
    },
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => isOutside(name) || shownPackages.has(name)),
    ),
  };
}

/** Modules are evaluated in the order of their imports: the guard first. */
function writeEntry(name, path) {
  writeFileSync(join(dist, "entry", `${name}.js`), `import "./node-version.js";\nexport * from "../${path}.js";\n`);
}
