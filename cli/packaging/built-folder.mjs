// The folder of a build: a build removes what an earlier one has made there, and never what it has not.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Beside the folder, since all that is in it is packed. */
const listOf = (folder) => `${folder}.files`;

/** Empties the folder; or changes nothing and says why not. */
export function emptyBuilt(folder) {
  const list = listOf(folder);
  const made = new Set(existsSync(list) ? readFileSync(list, "utf8").split("\n") : []);
  const foreign = filesIn(folder).filter((file) => !made.has(file));
  if (foreign.length > 0) {
    const named = foreign.slice(0, namedMax).join(", ") + (foreign.length > namedMax ? ", …" : "");
    return `${folder} has what no build has made: ${named}. A build empties this folder: move it elsewhere.`;
  }
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const namedMax = 5;

/** Writes down that all that is in the folder by now is the build's, also of one that went wrong. */
export function listBuilt(folder) {
  mkdirSync(dirname(folder), { recursive: true });
  writeFileSync(listOf(folder), filesIn(folder).join("\n"));
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((file) => join(folder, file))
    .filter((path) => !statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => relative(folder, path));
}
