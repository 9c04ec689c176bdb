import { describe, expect, it } from "vitest";
import type { EmbeddedTask } from "./embedded-part.ts";
import { embeddedPool, inParallel } from "./embedded-pool.ts";

const task = (check: string, seed = 1): EmbeddedTask => ({
  details: { seed, faults: [], featureGates: {} },
  selection: { profile: "svc", seed, runs: 3 },
  check,
});

describe("embeddedPool", () => {
  it("finds on a thread what it finds in place, as plain data", async () => {
    const check = "watch-starts-after-its-version";
    const seen: string[] = [];
    const [here, there] = await Promise.all(
      [1, 2].map(async (threads) => {
        const pool = embeddedPool(threads, new AbortController().signal);
        const { part } = await pool.run(task(check), (progress) => seen.push(progress.kind));
        await pool.close();
        return part;
      }),
    );
    expect(there).toEqual(here);
    expect(here?.outcomes[0]?.verdict.status).toBe("passed");
    expect(seen.filter((kind) => kind === "check-ended")).toHaveLength(2);
  });

  it("tells what broke in a thread, instead of waiting for it", async () => {
    const pool = embeddedPool(2, new AbortController().signal);
    await expect(pool.run(task("no-such-check"), () => {})).rejects.toThrow("no-such-check");
    await pool.close();
  });

  it("ends early when it is told to, with nothing proven", async () => {
    const pool = embeddedPool(2, AbortSignal.abort());
    const { part } = await pool.run(task("watch-starts-after-its-version"), () => {});
    await pool.close();
    expect(part.outcomes[0]?.verdict.status).toBe("inconclusive");
  });
});

describe("inParallel", () => {
  it("keeps the order of the items and the limit", async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel([3, 1, 2], 2, async (n) => {
      most = Math.max(most, ++running);
      for (let i = 0; i < n; i++) await Promise.resolve();
      running--;
      return n * 10;
    });
    expect([results, most]).toEqual([[30, 10, 20], 2]);
  });
});
