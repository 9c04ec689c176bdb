import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { svcDialect } from "../../wire/dialect.ts";
import { findResource, resourceRows } from "../../wire/resources.ts";
import type { Cause } from "../contract/errors.ts";
import { allKinds, kindRow } from "./all-kinds.ts";
import type { KindRow } from "./kind-row.ts";
import { strategyOf } from "./strategies.ts";

it("has one row a kind, each of a resource that the tables have", () => {
  const known = new Set(
    resourceRows.flatMap(({ group, version, resource }) => [`${group}/${resource}`, `${group}/${version}/${resource}`]),
  );
  const named = allKinds.map(({ resource }) => resource);
  expect(named.filter((resource) => !known.has(resource))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
});

it("is made as CONTRIBUTING.md says: one file, whose row is all that there is to say", async () => {
  const guide = readFileSync(new URL("../../CONTRIBUTING.md", import.meta.url), "utf8");
  const [, path = "", code = ""] = /```ts\n\/\/ (sim\/kinds\/\S+)\n(.*?)```/s.exec(guide) ?? [];
  const folder = new URL("../../out/recipe/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  try {
    // The same code from another folder: its imports are those of the file that it would be.
    const home = new URL(`../../${path}`, import.meta.url);
    const moved = code.replace(/from "(\.[^"]+)"/g, (_, target: string) => `from "${new URL(target, home).href}"`);
    const file = new URL("kind.ts", folder);
    writeFileSync(file, moved);
    const made = (await import(fileURLToPath(file))) as Record<string, KindRow>;
    const [row] = Object.values(made) as [KindRow];
    const [group = "", resource = ""] = row.resource.split("/");
    expect(findResource(group, "v1", resource)?.kind).toBe("RuntimeClass");
    const causes: Cause[] = [];
    row.rules?.validateUpdate?.({ handler: "b" }, { handler: "a" }, causes, "", svcDialect);
    expect(causes).toMatchObject([{ field: "handler", message: 'Invalid value: "b": field is immutable' }]);
    expect(row.columns?.row({ metadata: { name: "n" }, handler: "a" }, 0).cells.slice(0, 2)).toEqual(["n", "a"]);
    expect(row.unconditionalUpdate).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("follows what a row leaves out from what is usual, for all versions and dialects alike", () => {
  const leases = findResource("coordination.svc.io", "v1", "leases");
  if (leases === undefined) throw new Error("there are leases");
  expect(strategyOf(leases, svcDialect)).toMatchObject({
    createOnUpdate: true,
    nameRule: "subdomain",
    graceful: false,
  });
  expect(kindRow("", "v1", "bindings")).toBeUndefined();
});
