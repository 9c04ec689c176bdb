import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { refusalHere } from "../command-here.fixture.ts";
import { asSchema, readJsonFile } from "./json-file.ts";

const refused = (read: () => unknown): string => {
  try {
    return String(read());
  } catch (error) {
    return (error as Error).message;
  }
};

const scratch = mkdtempSync(join(tmpdir(), "json-"));
afterAll(() => rmSync(scratch, { recursive: true }));

it("says that a file is not there, is a folder or no JSON, each as what it is", async () => {
  const file = join(scratch, "a.json");
  writeFileSync(file, "{");
  const said = (path: string): string => refused(() => readJsonFile(path, "x", "Give y."));
  expect(said(join(scratch, "nowhere"))).toBe("x: cannot be read: there is no such file. Give y.");
  expect(said(join(file, "below"))).toBe("x: cannot be read: there is no such file. Give y.");
  expect(said(scratch)).toBe("x: cannot be read: it is a folder. Give y.");
  expect(said(file)).toMatch(/^x: not JSON: .*\. Give y\.$/);
  expect(await refusalHere("capacity", "compare", join(scratch, "nowhere"))).toBe(
    `compare ${join(scratch, "nowhere")}: cannot be read: there is no such file. Give the report.json of capacity.`,
  );
});

it("says in plain words where a document is another one", async () => {
  const schema = z.object({ apiVersion: z.literal("x/v1"), rows: z.array(z.object({ count: z.number() })) });
  const said = (document: unknown): string => refused(() => asSchema(schema, document, "x", "Give y."));
  expect(said(null)).toBe("x: the document: expected fields, not nothing. Give y.");
  expect(said({ apiVersion: "x/v2", rows: [] })).toBe("x: apiVersion: expected x/v1. Give y.");
  expect(said({ apiVersion: "x/v1", rows: [{ count: "1" }] })).toBe(
    "x: rows.0.count: expected a number, not a text. Give y.",
  );
  const other = join(scratch, "other.json");
  writeFileSync(other, '{ "apiVersion": "capacity-reports/v1", "kind": "CapacityReport" }');
  for (const command of ["view", "replay"])
    expect(await refusalHere(command, other)).toMatch(/other\.json: apiVersion: expected reports\/v1\. Give /);
});
