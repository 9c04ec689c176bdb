#!/usr/bin/env node
// The `touchstone` command of a checkout.
import { join } from "node:path";
import { nodeMissing, root, usableNode } from "./pinned-node.mjs";
import { runNode } from "./run-child.mjs";

const node = usableNode();
if (node === undefined) {
  console.error(`${nodeMissing}\nRun \`npm start\` once in ${root}: it installs the pinned Node.`);
  process.exitCode = 2;
} else {
  process.exitCode = await runNode(node, [join(root, "cli", "main.ts"), ...process.argv.slice(2)]);
}
