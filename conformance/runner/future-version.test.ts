import { expect, it } from "vitest";
import { Unsupported } from "../client/findings.ts";
import { futureVersion } from "./future-version.ts";

it("is a number that is far ahead", () => {
  expect(futureVersion("41")).toBe("1000000041");
  expect(futureVersion("900719925474099267")).toBe("900719926474099267");
});

it.each(["v-1a", "", "0", "007", "1e9", "1732219200000000000"])("is none where %j is a version", (version) => {
  expect(() => futureVersion(version)).toThrow(Unsupported); // versions are opaque: that is nobody's failure
});
