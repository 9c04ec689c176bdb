import { posix } from "node:path";
import { expect, it } from "vitest";
import { readTreeFile, treeFiles } from "./sources.ts";

/** Folders whose own folders have a row each. */
const opened = ["sim", "sim/apiserver", "conformance", "reports"];

it("ARCHITECTURE.md names every folder, and none that is not there", () => {
  const [, layout = ""] = readTreeFile("ARCHITECTURE.md").split("## Layout");
  const rows = layout.split("\n## ")[0]?.match(/^\| `.*?(?= \| )/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)\/`/g)].map(([, folder]) => folder as string));
  const parents = (folder: string): string[] => (folder === "." ? [] : [folder, ...parents(posix.dirname(folder))]);
  const folders = new Set(treeFiles().flatMap((path) => parents(posix.dirname(path))));
  expect(named.filter((folder) => !folders.has(folder))).toEqual([]);
  const wanted = [...folders].filter(
    (folder) => !folder.startsWith(".") && !opened.includes(folder) && ["", ...opened].includes(parentOf(folder)),
  );
  expect(wanted.length).toBeGreaterThan(20);
  expect(wanted.filter((folder) => !named.includes(folder))).toEqual([]);
});

const parentOf = (folder: string): string => (folder.includes("/") ? posix.dirname(folder) : "");
