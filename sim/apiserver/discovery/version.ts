/** What `/version` says. */
import type { JsonObject } from "../../contract/http-message.ts";

/** What the simulated server says it is: the version whose behaviour it models, built by nobody's compiler. */
export const versionDocument: JsonObject = {
  major: "1",
  minor: "33",
  emulationMajor: "1",
  emulationMinor: "33",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "32",
  gitVersion: "v1.33.3+touchstone",
  gitCommit: "none",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "simulated",
};
