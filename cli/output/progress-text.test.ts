import { describe, expect, it } from "vitest";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { progressText } from "./progress-text.ts";

const planned: SuiteProgress = { kind: "planned", checks: 10, requirements: 20 };
const phase = (name: "checking" | "expiring"): SuiteProgress => ({ kind: "phase", phase: name });
const started = (check: string): SuiteProgress => ({ kind: "check-started", check, area: "watch" });
const ended = (check: string, status: "passed" | "failed" = "passed"): SuiteProgress => ({
  kind: "check-ended",
  check,
  area: "watch",
  verdict: status === "passed" ? { status, runs: 1 } : { status, expected: "a", actual: "b" },
  runs: 1,
});

const kinds = new Map(
  Array.from({ length: 8 }, (_, index) => [`check-${index}`, { name: "quick", usualMillis: 1000 }]),
);

/** The last line of a run whose steps are told at these times. */
function lineAfter(
  agedCount: number,
  ...steps: readonly (readonly [millis: number, progress: SuiteProgress])[]
): string {
  let now = 1_000_000;
  const text = progressText({ kinds, jobs: 1, agedCount, maxWaitMillis: 900_000, nowMillis: () => now });
  let line = "";
  for (const [millis, progress] of steps) {
    now = 1_000_000 + millis;
    line = text(progress);
  }
  return line;
}

/** Three of eight checks, two seconds each, the second one failed. */
const threeEnded: readonly (readonly [number, SuiteProgress])[] = [
  [0, planned],
  [0, phase("checking")],
  ...[0, 1, 2].flatMap((index) => [
    [index * 2000, started(`check-${index}`)] as const,
    [index * 2000 + 2000, ended(`check-${index}`, index === 1 ? "failed" : "passed")] as const,
  ]),
];

describe("the progress line", () => {
  it("says what is going on before a pace can be told", () => {
    const line = lineAfter(0, [0, planned], [0, started("check-0")], [1, ended("check-0")], [1, started("check-1")]);
    expect(line).toBe("1/10 checks  check-1");
  });

  it("tells the time left from the pace so far, rounded up", () => {
    expect(lineAfter(0, ...threeEnded)).toBe("3/10 checks, 1 failed, about 10 s left  check-2");
  });

  it("counts what waits for expiry apart, by the longest that it may take", () => {
    const line = lineAfter(2, ...threeEnded);
    expect(line).toBe("3/10 checks, 1 failed, about 10 s left, with expiry at most 15 min  check-2");
    expect(lineAfter(2, [0, planned], [0, phase("checking")], [300_000, phase("expiring")])).toBe(
      "0/10 checks, at most 10 min left  expiring",
    );
  });

  it("says nothing of time when nothing is left", () => {
    const all = Array.from({ length: 10 }, (_, index) => [index * 1000, ended(`check-${index}`)] as const);
    expect(lineAfter(0, [0, planned], ...all)).toBe("10/10 checks  ");
  });
});

/** The checks of a run at the level quick by URL, in the order in which they begin: kind, programs, milliseconds, as measured. */
// biome-ignore format: a table
const measured: readonly (readonly [kind: string, programs: number, millis: number])[] = [
  ["slow", 3, 15645], ["waiting", 23, 15985], ["slow", 2, 8420], ["slow", 2, 5231], ["slow", 5, 6788], ["slow", 6, 5199],
  ["slow", 1, 4580], ["slow", 3, 3076], ["slow", 1, 1304], ["slow", 1, 1034], ["slow", 2, 997], ["slow", 3, 888],
  ...[223, 1305, 1554, 381, 407, 3127, 4198, 3236, 2885, 4991, 5282, 1374, 1681, 1991, 3013, 2897, 5807, 3081, 4963, 3725,
    4529, 1674, 3907, 1776, 3083, 4855, 2562, 5570, 2535, 1428, 2809, 6846, 1603, 1580, 3387, 1480, 2041, 3846, 2733, 1513,
    1500, 1786, 1824, 2237, 2239, 5369, 1992, 1958, 1139, 1212, 5696, 1706, 2164, 2145, 2840, 1690, 2336, 2509, 1866, 1862,
  ].map((millis) => ["quick, many", 20, millis] as const),
  ...[644, 81, 284, 448, 205, 62, 55, 140, 295, 94, 86, 299, 213, 125, 1486, 294, 43, 1199, 219, 2199, 2179, 1309, 3300,
  ].map((millis) => ["quick, one", 1, millis] as const),
];

/** What elsewhere was usual may be far off. */
const usual: Readonly<Record<string, number>> = {
  slow: 2000,
  waiting: 20_000,
  "quick, many": 2000,
  "quick, one": 1000,
};

it.each([1, 2, 4, 8])(
  "the time left is true within a half, or what it is rounded by, at %i checks at a time",
  (jobs) => {
    const steps: { readonly at: number; readonly progress: SuiteProgress }[] = [];
    const free = Array.from({ length: jobs }, () => 0);
    for (const [index, [, programs, millis]] of measured.entries()) {
      const worker = free.indexOf(Math.min(...free));
      const began = free[worker] as number;
      const check = `check-${index}`;
      steps.push({ at: began, progress: started(check) });
      for (let done = 1; done <= programs; done += 1) {
        const at = began + (millis * done) / programs;
        steps.push({ at, progress: { kind: "program-ended", check, done, of: programs } });
      }
      steps.push({ at: began + millis, progress: ended(check) });
      free[worker] = began + millis;
    }
    const endMillis = Math.max(...free);
    let now = 0;
    const text = progressText({
      kinds: new Map(measured.map(([name], index) => [`check-${index}`, { name, usualMillis: usual[name] ?? 0 }])),
      jobs,
      agedCount: 0,
      maxWaitMillis: 0,
      nowMillis: () => now,
    });
    text({ kind: "planned", checks: measured.length, requirements: 1 });
    let told = 0;
    for (const { at, progress } of steps.toSorted((one, other) => one.at - other.at)) {
      now = at;
      const left = /about (\d+) (s|min) left/.exec(text(progress));
      if (left === null || at < endMillis / 5) continue;
      told += 1;
      const millis = Number(left[1]) * (left[2] === "s" ? 1000 : 60_000);
      const truth = endMillis - at;
      expect(Math.abs(millis - truth), `${left[0]} at ${at} of ${endMillis}`).toBeLessThan(
        truth / 2 + (left[2] === "s" ? 8000 : 30_000),
      );
    }
    expect(told).toBeGreaterThan(300);
  },
);
