import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { refusalHere } from "../command-here.fixture.ts";
import { readJsonFile } from "./json-file.ts";

const scratch = mkdtempSync(join(tmpdir(), "json-"));
afterAll(() => rmSync(scratch, { recursive: true }));

it("says that a file is not there, is a folder or no JSON, each as what it is", async () => {
  const file = join(scratch, "a.json");
  writeFileSync(file, "{");
  const said = (path: string): string => {
    try {
      return String(readJsonFile(path, "x", "Give y."));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(said(join(scratch, "nowhere"))).toBe("x: there is no such file. Give y.");
  expect(said(join(file, "below"))).toBe("x: there is no such file. Give y.");
  expect(said(scratch)).toBe("x: it is a folder. Give y.");
  expect(said(file)).toMatch(/^x: not JSON: .*\. Give y\.$/);
  expect(await refusalHere("capacity", "compare", join(scratch, "nowhere"))).toBe(
    `compare ${join(scratch, "nowhere")}: there is no such file. Give the report.json of capacity.`,
  );
});
