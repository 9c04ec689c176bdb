#!/usr/bin/env node
// The `touchstone` command of a checkout.
import { join } from "node:path";
import { engineFlags } from "./engine-flags.mjs";
import { compiled, nodeMissing, root, usableNode } from "./pinned-node.mjs";
import { runNode } from "./run-child.mjs";

const node = usableNode();
const args = process.argv.slice(2);
if (node === undefined) {
  console.error(`${nodeMissing}\nRun \`npm start\` once in ${root}: it installs the pinned Node.`);
  process.exitCode = 2;
} else {
  const command = [...engineFlags(args), join(root, "cli", "main.ts"), ...args];
  process.exitCode = await runNode(node, command, { compiled, watched: true });
}
