import { svcDialect } from "../../wire/dialect.ts";
import type { SuiteProfile } from "./profile.ts";

/** The documents, to the letter. Where they name no status, every refusal that means "your request is wrong" will do. */
export const svc: SuiteProfile = {
  name: "svc",
  dialect: svcDialect,
  invalidOptionStatuses: [400, 422],
  unparsableVersionStatuses: [400, 422],
  unservedPatchStatuses: [400, 406, 415, 422],
  acceptTies: "any",
  eventRules: "open",
  serviceNames: "letter-first",
  forgets: "time",
  forgottenVersion: undefined,
  deviations: [],
};
