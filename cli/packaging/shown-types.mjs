// The declarations that users of the package can meet: those of its entries, and what these import.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

const imported = /(?:\bfrom|\bimport) *\(?"([^"\n]+)"/g;

/**
 * Files (`.d.ts`, as paths from `folder`, with slashes) and packages that the declarations of `entries` (paths without an ending)
 * reach.
 */
export function shownTypes(folder, entries) {
  const files = new Set();
  const packages = new Set();
  const open = entries.map((entry) => `${entry}.d.ts`);
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, target] of readFileSync(join(folder, file), "utf8").matchAll(imported)) {
      if (target.startsWith(".")) open.push(posix.join(posix.dirname(file), target.replace(/\.[jt]s$/, ".d.ts")));
      else if (!target.startsWith("node:")) packages.add(/^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target);
    }
  }
  return { files, packages };
}
