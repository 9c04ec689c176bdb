/** PodDisruptionBudgets: one of two amounts, and whose pods. Source: the published validation. */
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidText, unsupportedValue } from "../../objects/causes.ts";
import { isObject } from "../../contract/objects.ts";
import { amountCauses, wholeCauses } from "../shared/amounts.ts";
import { nonNegativeCauses } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { printer, nameColumn, column, at, integerColumn, numberAt, ageColumn } from "../shared/printer.ts";
import type { Json } from "../../contract/http-message.ts";
import type { KindRow } from "../kind-row.ts";

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];
const counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

const disruptionBudgetRules: KindRules = {
  validate(object, causes) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      // Simplification: the real server prints the whole spec, with the addresses of its pointers.
      const text = "policy.PodDisruptionBudgetSpec{}";
      causes.push(invalidText("spec", text, "minAvailable and maxUnavailable cannot be both set"));
    }
    for (const field of ["minAvailable", "maxUnavailable"]) {
      amountCauses(spec[field], `spec.${field}`, causes);
      wholeCauses(spec[field], `spec.${field}`, causes);
    }
    if (isObject(selector)) selectorCauses(selector, "spec.selector", causes);
    if (policy !== undefined && !evictionPolicies.includes(policy as string)) {
      causes.push(unsupportedValue("spec.unhealthyPodEvictionPolicy", policy, evictionPolicies));
    }
    nonNegativeCauses((object["status"] ?? {}) as JsonObject, counts, "status", causes);
  },
};

export const podDisruptionBudgetKind: KindRow = {
  resource: "policy/poddisruptionbudgets",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: disruptionBudgetRules,
  columns: printer(
    nameColumn,
    column("Min Available", "How many pods must stay.", (it) => orNotApplicable(at(it, "spec.minAvailable"))),
    column("Max Unavailable", "How many pods may go.", (it) => orNotApplicable(at(it, "spec.maxUnavailable"))),
    integerColumn("Allowed Disruptions", "How many pods may go now.", (it) =>
      numberAt(it, "status.disruptionsAllowed"),
    ),
    ageColumn,
  ),
};

const orNotApplicable = (value: Json | undefined): string => (value === undefined ? "N/A" : String(value as string));
