/** Leases. Source: the published rules. */
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { fieldRules, atLeast, nonNegative, textThat } from "../../objects/rules.ts";

const leaseRules: KindRules = {
  validate: fieldRules({
    "spec.leaseDurationSeconds": atLeast(1, "must be greater than 0"),
    "spec.leaseTransitions": nonNegative,
    "spec.holderIdentity": textThat((holder) => holder !== "", "must not be empty"),
  }),
};

export const leaseKind: KindRow = {
  resource: "coordination.svc.io/leases",
  createOnUpdate: true,
  unconditionalUpdate: false,
  rules: leaseRules,
  columns: printer(nameColumn, column("Holder", "Who has the lease.", text("spec.holderIdentity")), ageColumn),
};
