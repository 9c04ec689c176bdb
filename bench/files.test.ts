import { expect, it } from "vitest";
import type { Bench } from "./harness.ts";
import { benchFiles } from "./files.ts";

it("finds files that can be imported without anything being begun, each with benchmarks of names that no other has", async () => {
  const names: string[] = [];
  for (const file of benchFiles()) {
    const { benches } = (await import(/* @vite-ignore */ `./${file}`)) as { benches: readonly Bench[] };
    expect(benches.length, file).toBeGreaterThan(0);
    names.push(...benches.map(({ name }) => name));
  }
  expect(names.length).toBeGreaterThan(30);
  expect(new Set(names).size).toBe(names.length);
}, 60_000);
