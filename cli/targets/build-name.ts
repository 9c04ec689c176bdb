/** Which Touchstone this is: results of one build are not those of another. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** The checkout, or the package. */
const root =
  [join(here, "..", ".."), join(here, "..", "..", "..")].find((folder) => existsSync(join(folder, "package.json"))) ??
  here;

/** `0.1.0`, and in a checkout `0.1.0+1a2b3c4d`, with `.changed` when files differ from the commit. */
export function buildName(): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const commit = git("rev-parse", "--short=8", "HEAD");
  if (commit === undefined) return version;
  const isChanged = git("status", "--porcelain", "--untracked-files=no", "--", "sim", "wire", "scenarios") !== "";
  return `${version}+${commit}${isChanged ? ".changed" : ""}`;
}

/** Undefined when this is no checkout of its own. */
function git(...args: readonly string[]): string | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}
