/**
 * What is special about one kind, in one place: how it is written and deleted, its rules, its columns, the fields that
 * selectors may name, what quotas count of it. Names, scope, verbs and fields come from the tables in `wire/tables`.
 */
import type { KindRules } from "../objects/kind-rules.ts";
import type { StrategyRow } from "../objects/strategy.ts";
import type { FieldLabel } from "./shared/field-labels.ts";
import type { Printer } from "./shared/printer.ts";

/** Only what differs from the usual is said; `StrategyRow` has the rest of the fields. */
export interface KindRow extends Partial<StrategyRow> {
  /** `group/resource`, or `group/version/resource` for one version alone; in the `svc` dialect, the core group empty. */
  readonly resource: string;
  /** Rules that need code. */
  readonly rules?: KindRules;
  /** In tables. Default: name and creation time. */
  readonly columns?: Printer;
  /** All that field selectors may name. Default: `metadata.name` and `metadata.namespace`. */
  readonly fieldLabels?: readonly FieldLabel[];
}
