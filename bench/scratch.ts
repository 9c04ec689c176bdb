/** Folders for what a benchmark writes: they go when its process ends, by itself or by a signal. */
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

let whole: string | undefined;

export function scratchFolder(): string {
  whole ??= begun();
  return mkdtempSync(join(whole, "f"));
}

function begun(): string {
  const folder = mkdtempSync(join(tmpdir(), "touchstone-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  return folder;
}
