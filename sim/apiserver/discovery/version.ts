/** What `/version` says. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { Release } from "../../contract/profile.ts";

/** What the simulated server says it is: the version whose behaviour it models, built by nobody's compiler. */
export const versionDocument = ({ minor, patch }: Release): JsonObject => ({
  major: "1",
  minor,
  emulationMajor: "1",
  emulationMinor: minor,
  minCompatibilityMajor: "1",
  minCompatibilityMinor: String(Number(minor) - 1),
  gitVersion: `v1.${minor}.${patch}+touchstone`,
  gitCommit: "none",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "simulated",
});
