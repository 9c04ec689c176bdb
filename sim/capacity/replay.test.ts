import { expect, it } from "vitest";
import { withoutVersion } from "./replay.ts";

it("leaves nothing of another cluster's versions that a server would refuse", () => {
  expect(withoutVersion("limit=500&resourceVersion=77&resourceVersionMatch=NotOlderThan")).toBe("limit=500");
  expect(withoutVersion("resourceVersion=77&resourceVersionMatch=Exact")).toBe("");
  expect(withoutVersion("limit=500&continue=abc&labelSelector=a%3Db")).toBe("limit=500&labelSelector=a%3Db");
  expect(withoutVersion("resourceVersion=0&resourceVersionMatch=NotOlderThan")).toBe(
    "resourceVersion=0&resourceVersionMatch=NotOlderThan",
  );
  expect(withoutVersion("watch=true&sendInitialEvents=true&resourceVersion=&resourceVersionMatch=NotOlderThan")).toBe(
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  );
});
