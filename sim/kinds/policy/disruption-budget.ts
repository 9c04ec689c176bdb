/** PodDisruptionBudgets: one of two amounts, and whose pods. Source: the published validation. */
import type { JsonObject, Json } from "../../contract/http-message.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { at, printer, nameColumn, column, integerColumn, numberAt, ageColumn } from "../shared/printer.ts";
import { fieldRules, struct, all, oneOf, fields, nonNegative } from "../../objects/rules.ts";
import { amount, partOfWhole } from "../shared/amounts.ts";
import { labelSelector } from "../shared/label-selector.ts";
import type { KindRow } from "../kind-row.ts";

const counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

const disruptionBudgetRules: KindRules = {
  validate: fieldRules(
    {
      spec: struct(({ minAvailable, maxUnavailable }: JsonObject, at) => {
        if (minAvailable === undefined || maxUnavailable === undefined) return;
        // Simplification: the real server prints the whole spec, with the addresses of its pointers.
        at.invalidText("policy.PodDisruptionBudgetSpec{}", "minAvailable and maxUnavailable cannot be both set");
      }),
      "spec.minAvailable": all(amount, partOfWhole),
      "spec.maxUnavailable": all(amount, partOfWhole),
      "spec.selector": labelSelector,
      "spec.unhealthyPodEvictionPolicy": oneOf(["AlwaysAllow", "IfHealthyBudget"]),
    },
    { status: struct(fields(counts, nonNegative)) },
  ),
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
