import { expect, it } from "vitest";
import { svcProfile } from "../../contract/profile.ts";
import type { ServerBugName } from "../server-bugs.ts";
import { compressWith } from "./compress-wrappers.ts";
import { plantedOf } from "./planted.ts";

it("packs what it should not, and twice, under the bugs that say so", () => {
  const packing = (bugs: readonly ServerBugName[], coding = "") => {
    const request = { method: "GET", path: "/", query: "", headers: { "accept-encoding": coding } };
    return compressWith(plantedOf(bugs))(svcProfile, request, 200, 10);
  };
  expect([packing([]), packing([], "gzip")]).toEqual([false, true]);
  expect([packing(["gzip-unasked"]), packing(["gzip-packed-twice"], "gzip"), packing(["gzip-packed-twice"])]).toEqual([
    true,
    "twice",
    false,
  ]);
});
