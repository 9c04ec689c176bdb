/** Which files of this folder hold benchmarks. The others are parts of them, or scripts and threads of their own. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const benchFolder = dirname(fileURLToPath(import.meta.url));

/** Their names, sorted. They are told by their text: some of the others begin to work as soon as they are imported. */
export function benchFiles(): readonly string[] {
  return readdirSync(benchFolder)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => /^export const benches\b/m.test(readFileSync(join(benchFolder, name), "utf8")))
    .sort();
}
