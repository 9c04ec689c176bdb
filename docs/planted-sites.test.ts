import { expect, it } from "vitest";
import { readTreeFile, treeFiles } from "./sources.ts";

/**
 * Places where reference code asks for a planted bug by its name: there are none. A bug belongs into the folder `planted/` of its room
 * (`sim/planted/wrappers/` for a server), as a wrapper or as a decision in the place of the right one, or into `sim/faults/` around a
 * whole store or server, so that whoever reads the code reads what is right.
 */
const site = /[bB]ugs(?:\?\.)?(?:\[\s*"[a-z0-9-]+"|\.has\(\s*"[a-z0-9-]+")/g;

/** Rows, wrappers, and whatever is of tests alone. */
const isReference = (path: string): boolean =>
  /^(sim|cli)\/.*\.ts$/.test(path) &&
  !/^sim\/((.*\/)?planted|faults)\//.test(path) &&
  !/\.(test|fixture)\.ts$/.test(path);

const sitesOf = (text: string): number => text.match(site)?.length ?? 0;

it("no place of the reference code asks for a planted bug", () => {
  const places = treeFiles()
    .filter(isReference)
    .filter((path) => sitesOf(readTreeFile(path)) > 0);
  expect(places).toEqual([]);
});

it("sees a bug that is asked for by name, however it is written", () => {
  expect(sitesOf('if (bugs["a-b"] && !this.bugs?.["c"]) x(rules.serverBugs["d"]);')).toBe(3);
  expect(sitesOf('bugs.has("a-b") || bugs[\n  "c"\n]')).toBe(2);
  expect(sitesOf('bugs[name]; other["a-b"]; bugs.size')).toBe(0);
});
