#!/usr/bin/env node
// The `touchstone` command of a checkout.
import { join } from "node:path";
import { nodeMissing, root, usableNode } from "./pinned-node.mjs";
import { runNode } from "./run-child.mjs";

const node = usableNode();
const args = process.argv.slice(2);
// A server lives long: it need not have room for all that dies young. Measured: 40 MB less, and as fast.
const flags = args[0] === "serve" ? ["--max-semi-space-size=32"] : [];
if (node === undefined) {
  console.error(`${nodeMissing}\nRun \`npm start\` once in ${root}: it installs the pinned Node.`);
  process.exitCode = 2;
} else {
  process.exitCode = await runNode(node, [...flags, join(root, "cli", "main.ts"), ...args]);
}
