#!/usr/bin/env node
// The `touchstone` command of the package, where `main.js` lies beside it. An older Node says what is wrong instead of what it
// stumbled over. Code is kept as it was compiled from one start to the next, which saves a start a third of its time.
import process from "node:process";

const oldestMajor = 24;

if (Number.parseInt(process.versions.node, 10) < oldestMajor) {
  console.error(`touchstone: needs Node ${oldestMajor} or later; this is ${process.versions.node}`);
  process.exitCode = 2; // nothing was run
} else {
  await main(process.argv.slice(2));
}

/** What needs flags of the engine runs in a process of its own, and what does not needs no second one. */
async function main(args) {
  const { enableCompileCache } = await import("node:module");
  const { engineFlags } = await import("./engine-flags.mjs");
  const flags = engineFlags(args);
  const script = new URL("main.js", import.meta.url);
  const { directory } = enableCompileCache();
  if (flags.length === 0) {
    await import(script.href);
    return;
  }
  const { runNode } = await import("./run-child.mjs");
  const { fileURLToPath } = await import("node:url");
  const command = [...flags, fileURLToPath(script), ...args];
  process.exitCode = await runNode(process.execPath, command, { compiled: directory, watched: true });
}
