import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { HuntedSeed } from "../../sim/experiments/hunt-seed.ts";
import { seedsOf } from "../flags/hunt-seeds.ts";
import { HuntStore } from "./hunt-store.ts";

const folder = mkdtempSync(join(tmpdir(), "hunt-store-"));
const file = join(folder, "hunt.sqlite");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Even seeds fail, the highest the soonest; each third shows something. */
const played = (seed: number): HuntedSeed => ({
  seed,
  traceHash: "",
  records: 1,
  coverage: seed % 3 === 0 ? ["begun", "third"] : ["begun"],
  ...(seed % 2 === 0 ? { failure: failureOf(seed), faults: [] } : {}),
  ...(seed === 5 ? { broke: "planted" } : {}),
});
const failureOf = (seed: number): Required<HuntedSeed>["failure"] => ({
  requirement: "even",
  text: "",
  expected: "odd",
  actual: "even",
  evidence: [],
  atMicros: 100 - (seed % 50),
  atRecord: 1,
  traceHash: "",
  signature: "even",
});

function found(asked: Parameters<typeof seedsOf>[0], hunt = "a") {
  const store = new HuntStore(file, hunt, seedsOf(asked).walk);
  const { seedCount } = store;
  const [group] = store.groups();
  const of = { seedCount, known: [...store.known()], coverage: store.coverage(), broke: store.broke().length };
  store.close();
  return { ...of, failed: group?.count ?? 0, first: group?.firstSeed, soonest: group?.fastest.seed };
}

it("tells of the seeds that are asked for, whatever else was played", () => {
  const range = (first: number, last: number) => ({ seeds: { first, last } });
  const all = [...seedsOf(range(1, 12)).seeds, ...seedsOf({ ...range(1, 3), commit: "fffffffe" }).seeds];
  const store = new HuntStore(file, "a", seedsOf(range(1, 12)).walk);
  expect(store.add(all.map(played))).toBe(14); // 0 is in neither, 1 in both
  expect(store.add([played(7)])).toBe(0);
  store.close();
  expect(found(range(1, 12))).toMatchObject({ seedCount: 12, failed: 6, first: 2, soonest: 12, broke: 1 });
  expect(found(range(1, 12)).coverage).toEqual({ begun: 12, third: 4 });
  expect(found(range(1, 1))).toEqual({ ...found(range(1, 1)), seedCount: 1, failed: 0, broke: 0 });
  expect(found(range(3, 8))).toMatchObject({ failed: 3, first: 4, soonest: 8, coverage: { begun: 6, third: 2 } });
  const shard = { index: 2, count: 3, text: "2/3" };
  expect(found({ ...range(2, 10), shard }).known).toEqual([3, 6, 9]);
  expect(found({ ...range(1, 3), commit: "fffffffe" }).known).toEqual([0, 1, 4_294_967_295]);
  expect(found({ time: 1 })).toMatchObject({ seedCount: 13 });
  expect(found(range(1, 12), "b")).toMatchObject({ seedCount: 0, failed: 0, coverage: {} });
});
