import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, scratch, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

function file(name: string, text: string): string {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
}

const good = file("good.yaml", "apiVersion: apiserver.svc.io/v1beta1\nkind: TracingConfiguration\n");
const bad = file(
  "bad.yaml",
  "apiVersion: apiserver.svc.io/v1beta1\nkind: TracingConfiguration\nrate: 1\nendpoint: 5\n",
);

test("a good file is explained", async () => {
  const { code, stdout } = await start("config", "check", good).ended;
  expect(code).toBe(0);
  expect(stdout).toContain("localhost:4317");
});

test("of a bad one everything that is wrong is told, with its place", async () => {
  const { code, stdout } = await start("config", "check", good, bad, "--json").ended;
  expect(code).toBe(2);
  const { files } = JSON.parse(stdout) as { files: { valid: boolean; problems?: { field: string }[] }[] };
  expect(files.map(({ valid }) => valid)).toEqual([true, false]);
  expect(files[1]?.problems?.map(({ field }) => field).sort()).toEqual(["endpoint", "rate"]);
});

test("a schema is JSON", async () => {
  const { code, stdout } = await start("config", "schema", "TracingConfiguration").ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ title: "TracingConfiguration" });
});
