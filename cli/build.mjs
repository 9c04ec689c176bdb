// `npm run build`: the publishable package in dist/, as JavaScript with types, and its tarball beside it.
// The package needs no TypeScript and no build at its user's: Node refuses to strip types below node_modules.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./pinned-node.mjs";

/** What the package holds beside compiled code: data that is read at run time, and what a person reads. */
const copied = [
  "conformance/requirements/*.yaml",
  "reports/html/page*.{css,mjs}",
  "reports/*/*.schema.json",
  "scenarios/*.{yaml,schema.json}",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
];

const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [compiler, "--project", join(root, "tsconfig.build.json")], { stdio: "inherit" });
for (const file of copied.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
  mkdirSync(join(dist, dirname(file)), { recursive: true });
  cpSync(join(root, file), join(dist, file));
}
writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
writeCommand(join(dist, "cli/touchstone.js"));
execFileSync("npm", ["pack", "--silent", "--pack-destination", root], { cwd: dist, stdio: "inherit" });

function manifest() {
  const { name, version, description, license, type, dependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const entry = (path) => ({ types: `./${path}.d.ts`, default: `./${path}.js` });
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: ">=24" },
    bin: { touchstone: "./cli/touchstone.js" },
    exports: {
      ".": entry("cli/library"),
      "./testing": entry("sim/testing/testing"),
      "./package.json": "./package.json",
    },
    dependencies,
  };
}

/** The command. Compiled code is kept from one start to the next, which saves a start a third of its time. */
function writeCommand(path) {
  const lines = [
    "#!/usr/bin/env node",
    'import { enableCompileCache } from "node:module";',
    "enableCompileCache();",
    'await import("./main.js");',
    "",
  ];
  writeFileSync(path, lines.join("\n"));
  chmodSync(path, 0o755);
}
