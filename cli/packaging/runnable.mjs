// What users of the package run, without what they read: `node cli/packaging/runnable.mjs FOLDER` makes it for tests. The folder has to
// be in the checkout, where code finds the libraries that it loads when they are needed. Run `FOLDER/cli/touchstone.mjs`.
import { cpSync, globSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { root } from "../pinned-node.mjs";
import { bundle, runtimeFiles } from "./bundle.mjs";

if (import.meta.main) {
  const [folder, ...more] = process.argv.slice(2);
  if (folder !== undefined && more.length === 0) await makeRunnable(resolve(folder));
  else {
    console.error(
      "usage: node cli/packaging/runnable.mjs FOLDER (in the checkout; what it makes is written over what is there)",
    );
    process.exitCode = 2;
  }
}

export async function makeRunnable(folder) {
  await bundle(folder);
  for (const file of ["package.json", ...runtimeFiles.flatMap((pattern) => globSync(pattern, { cwd: root }))]) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
}
