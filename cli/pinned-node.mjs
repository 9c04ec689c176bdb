// Which Node runs the project. Plain JavaScript without dependencies: it must load under Node 20, before
// anything is installed.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where a checkout keeps its code as it was compiled last, without its types. */
export const compiled = join(root, "node_modules", ".cache", "compiled");

/** First version that runs TypeScript files as they are and has every API that the project uses. */
const oldestMajor = 24;

/** The Node that package.json pins through the npm package `node`; undefined when it is not installed. */
export function pinnedNode() {
  const bin = join(root, "node_modules", "node", "bin");
  return [join(bin, "node.exe"), join(bin, "node")].find((path) =>
    process.platform === "win32"
      ? path.endsWith(".exe") && existsSync(path)
      : !path.endsWith(".exe") && existsSync(path),
  );
}

/** The pinned Node, else the running one when it is new enough, else undefined. */
export function usableNode() {
  const pinned = pinnedNode();
  if (pinned !== undefined) return pinned;
  return Number.parseInt(process.versions.node, 10) >= oldestMajor ? process.execPath : undefined;
}

export const nodeMissing = `Touchstone needs Node ${oldestMajor} or later; this is ${process.versions.node}, and the pinned one is not installed.`;
