import { expect, it } from "vitest";
import { gatesWith } from "./fault-gates.ts";

it("turns on what the bugs need, unless somebody says otherwise", () => {
  expect(gatesWith(["list-null-items"])).toEqual({});
  expect(gatesWith(["list-null-items", "initial-events-end-missing"])).toEqual({ WatchList: true });
  expect(gatesWith(["initial-events-end-missing"], { CBORServingAndStorage: true })).toEqual({
    WatchList: true,
    CBORServingAndStorage: true,
  });
  expect(gatesWith(["initial-events-end-missing"], { WatchList: false })).toEqual({ WatchList: false });
});
