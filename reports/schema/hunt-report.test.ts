import { describe, expect, it } from "vitest";
import { type HuntReport, mergeHunts } from "./hunt-report.ts";

const part = (shard: string | undefined, change: Partial<HuntReport> = {}): HuntReport => ({
  apiVersion: "reports/v1",
  kind: "HuntReport",
  scenario: "x",
  build: "b",
  profile: "svc",
  mode: "lite",
  bugs: [],
  seedCount: 10,
  wallSeconds: 1,
  seedsPerSecond: 10,
  failures: [],
  broke: [],
  coverage: { "watch.broken": 2 },
  neverSeen: ["lease.changed-hands"],
  ...(shard === undefined ? {} : { shard }),
  ...change,
});
const merged = (...parts: HuntReport[]) => mergeHunts(parts, ["watch.broken", "lease.changed-hands"]);

describe("parts of a hunt", () => {
  it("are one hunt together, and what no part has seen was not seen", () => {
    expect(merged(part("2/2"), part("1/2", { seedCount: 11 }))).toMatchObject({
      seedCount: 21,
      coverage: { "watch.broken": 4 },
      neverSeen: ["lease.changed-hands"],
    });
  });

  it.each([
    [[part("1/2"), part("1/2")], "part 2/2 is missing"],
    [[part("1/3")], "parts 2/3, 3/3 are missing"],
    [[part("1/2"), part("2/2"), part("2/2")], "a part is given twice"],
    [[part("1/2"), part("2/3")], "divided differently: 1/2, 2/3"],
    [[part("1/2"), part(undefined)], "a report is of a whole hunt"],
    [[part(undefined), part("1/2")], "a report is of a whole hunt"],
    [[part("1/2"), part("2/2", { build: "c" })], "these are of different hunts"],
    [
      [part("1/2", { hunt: "a1" }), part("2/2", { hunt: "b2" })],
      "build b, hunt a1, and x, profile svc, mode lite, build b, hunt b2",
    ],
    [[], "there is nothing to merge"],
  ])("are refused unless each is there once: %#", (parts, message) => {
    expect(() => merged(...parts)).toThrow(message);
  });
});
