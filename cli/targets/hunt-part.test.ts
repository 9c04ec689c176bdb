import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import huntPart from "./hunt-part.ts";
import { huntThreads } from "./hunt-threads.ts";

it("comes to the same in a thread as here, seed by seed", { timeout: 120_000 }, async () => {
  const file = fileURLToPath(new URL("../../scenarios/explore/informers.yaml", import.meta.url));
  const part = {
    scenario: readFileSync(file, "utf8"),
    scenarioName: "informers.yaml",
    profile: "svc",
    mode: "swarm",
    bugs: ["client-gap-between-watches"],
    seeds: [1, 2, 3, 4],
  } as const;
  const threads = huntThreads(2);
  try {
    const there = await Promise.all([threads.run(part), threads.run({ ...part, seeds: [3, 4] })]);
    const here = huntPart(part);
    expect(there[0]).toEqual(here);
    expect(there[1]).toEqual(here.slice(2));
    expect(new Set(here.map(({ traceHash }) => traceHash)).size).toBe(4);
  } finally {
    await threads.close();
  }
});
