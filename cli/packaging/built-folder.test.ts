import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const { emptyBuilt, listBuilt } = (await import(new URL("built-folder.mjs", import.meta.url).href)) as {
  readonly emptyBuilt: (folder: string) => string | undefined;
  readonly listBuilt: (folder: string) => void;
};

const scratch = mkdtempSync(join(tmpdir(), "built-"));
afterAll(() => rmSync(scratch, { recursive: true }));

it("is emptied of what a build has made, and left alone where somebody else has put something", () => {
  const folder = join(scratch, "dist", "package");
  expect(emptyBuilt(folder)).toBeUndefined();
  mkdirSync(join(folder, "cli"), { recursive: true });
  writeFileSync(join(folder, "cli", "main.js"), "");
  expect(emptyBuilt(folder)).toContain("has what no build has made: cli/main.js.");
  listBuilt(folder);
  writeFileSync(join(folder, "notes.txt"), "");
  expect(emptyBuilt(folder)).toContain("notes.txt");
  expect(readdirSync(folder)).toEqual(["cli", "notes.txt"]);
  rmSync(join(folder, "notes.txt"));
  expect(emptyBuilt(folder)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});
