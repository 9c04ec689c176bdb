import { expect, it } from "vitest";
import { allChecks } from "../conformance/checks/index.ts";
import { likelyAreas, likelyFirst } from "./fault-campaign.ts";

it("tries the checks of a fault's area first, and all the others after them in their order", () => {
  const checks = ["watch", "objects", "deletion", "watch", "dry-run"].map((area, index) => ({ area, index }));
  expect(likelyFirst(checks, "dry-run").map(({ index }) => index)).toEqual([4, 0, 1, 2, 3]);
  expect(likelyFirst(checks, "watches").map(({ index }) => index)).toEqual([0, 3, 1, 2, 4]);
});

it("names areas that have checks", () => {
  const known = new Set(allChecks.map(({ area }) => area));
  expect(Object.values(likelyAreas).flatMap((areas) => areas.filter((area) => !known.has(area)))).toEqual([]);
});
