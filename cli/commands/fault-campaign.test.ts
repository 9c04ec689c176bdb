import { expect, it } from "vitest";
import { allChecks } from "../../conformance/checks/index.ts";
import { serverBugRows } from "../../sim/planted/server-bugs.ts";
import { runFaultCampaign, soonestFirst } from "./fault-campaign.ts";

it("tries the check that a bug's row names first, and all the others after it in their order", () => {
  const checks = ["a", "b", "c"].map((id) => ({ id }));
  expect(soonestFirst(checks, "b").map(({ id }) => id)).toEqual(["b", "a", "c"]);
  expect(soonestFirst(checks, "d").map(({ id }) => id)).toEqual(["a", "b", "c"]);
});

it("every planted bug names a check that there is", () => {
  const known = new Set(allChecks.map(({ id }) => id));
  expect(Object.entries(serverBugRows).filter(([, { foundBy }]) => !known.has(foundBy))).toEqual([]);
});

it("tries a bug of a feature that is off by default with that on, unless told otherwise", async () => {
  const hunt = (featureGates: { AllowUnsafeMalformedObjectDeletion?: boolean }) =>
    runFaultCampaign({
      faults: ["unsafe-delete-heeds-no-options"],
      featureGates,
      cleanSeeds: 0,
      selection: { profile: "svc", seed: 1, runs: 2, jobs: 1, only: ["unsafe-deletions-are-refused"] },
      onStep: () => {},
    });
  const [found] = (await hunt({})).faults;
  expect(found).toMatchObject({ found: true, requirement: expect.stringMatching(/^deletion\.unsafe-/) });
  expect(found?.replay).toContain("--feature-gates AllowUnsafeMalformedObjectDeletion=true");
  expect((await hunt({ AllowUnsafeMalformedObjectDeletion: false })).faults).toMatchObject([{ found: false }]);
});

it("tells what was tried when a person stops it, and not what was asked for", async () => {
  const stop = new AbortController();
  const report = await runFaultCampaign({
    faults: ["watch-start-inclusive"],
    featureGates: {},
    cleanSeeds: 3,
    selection: {
      profile: "svc",
      seed: 1,
      runs: 2,
      jobs: 1,
      only: ["watch-starts-after-its-version"],
      signal: stop.signal,
    },
    onStep: (_done, _steps, what) => {
      if (what === "seed 1") stop.abort();
    },
  });
  expect(report).toMatchObject({ complete: false, faultsAsked: 1, cleanSeedsAsked: 3, cleanSeeds: 1 });
  expect(report.faults.map(({ fault, found }) => [fault, found])).toEqual([["watch-start-inclusive", true]]);

  const never = await runFaultCampaign({
    faults: ["watch-start-inclusive", "list-null-items"],
    featureGates: {},
    cleanSeeds: 2,
    selection: { profile: "svc", seed: 1, jobs: 1, signal: AbortSignal.abort() },
    onStep: () => {},
  });
  expect(never).toMatchObject({ complete: false, faultsAsked: 2, faults: [], cleanSeedsAsked: 2, cleanSeeds: 0 });
});

it("tells of a rare bug in a line that plants it as rare, and finds it later", async () => {
  const hunt = async (rarity?: number) =>
    runFaultCampaign({
      faults: ["list-null-items"],
      rarity,
      featureGates: {},
      cleanSeeds: 0,
      selection: { profile: "svc", seed: 1, runs: 60, jobs: 1, only: [serverBugRows["list-null-items"].foundBy] },
      onStep: () => {},
    });
  const [always, rare] = [await hunt(), await hunt(20)];
  expect(rare.rarity).toBe(20);
  expect(rare.faults[0]).toMatchObject({ found: true });
  expect(rare.faults[0]?.replay).toMatch(/ --runs \d+ --fault list-null-items --rarity 20$/);
  expect(rare.faults[0]?.programs).toBeGreaterThan(always.faults[0]?.programs ?? 0);
  const again = await hunt(20);
  expect(again.faults[0]).toMatchObject({ programs: rare.faults[0]?.programs, replay: rare.faults[0]?.replay });
});
