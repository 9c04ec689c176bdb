/** Leases. Source: the published rules. */
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

const leaseRules: KindRules = {
  validate(object, causes) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    const seconds = spec["leaseDurationSeconds"] as number | undefined;
    if (seconds !== undefined && seconds <= 0) {
      causes.push(invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
    }
    const transitions = spec["leaseTransitions"] as number | undefined;
    if (transitions !== undefined && transitions < 0) {
      causes.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
    }
    if (spec["holderIdentity"] === "") causes.push(invalidValue("spec.holderIdentity", "", "must not be empty"));
  },
};

export const leaseKind: KindRow = {
  resource: "coordination.svc.io/leases",
  createOnUpdate: true,
  unconditionalUpdate: false,
  rules: leaseRules,
  columns: printer(nameColumn, column("Holder", "Who has the lease.", text("spec.holderIdentity")), ageColumn),
};
