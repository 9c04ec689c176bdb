#!/usr/bin/env node
// The `touchstone` command of a checkout.
import { join } from "node:path";
import { nodeMissing, root, usableNode } from "./pinned-node.mjs";
import { runNode } from "./run-child.mjs";
import { serverHeapFlags } from "./server-heap.mjs";

const node = usableNode();
const args = process.argv.slice(2);
// Room for what dies young, and for the rest. A server lives long and need not have much: measured, 40 MB less, and as fast. What a simulated run makes
// lives until its end: with more room from the start it is copied less often (`cli/targets/engine-room.ts` does it for threads).
const simulated = ["--min-semi-space-size=32", "--max-semi-space-size=64", "--heap-growing-percent=40"];
// A cluster that starts pods makes half a megabyte for each that is soon gone: with twice the room it is copied half as often.
const crowded = ["--min-semi-space-size=32", "--max-semi-space-size=128", "--heap-growing-percent=40"];
const rooms = {
  serve: ["--max-semi-space-size=32", ...serverHeapFlags(args)],
  run: simulated,
  hunt: simulated,
  shrink: simulated,
  capacity: crowded,
};
const flags = Object.hasOwn(rooms, args[0] ?? "") ? rooms[args[0]] : [];
if (node === undefined) {
  console.error(`${nodeMissing}\nRun \`npm start\` once in ${root}: it installs the pinned Node.`);
  process.exitCode = 2;
} else {
  process.exitCode = await runNode(node, [...flags, join(root, "cli", "main.ts"), ...args], { watched: true });
}
