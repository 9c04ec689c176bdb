/** RuntimeClasses: a handler, which never changes. Source: the published validation. */
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { fieldRules, always, stepRules, immutable } from "../../objects/rules.ts";
import { label } from "../shared/formats.ts";

const runtimeClassRules: KindRules = {
  validate: fieldRules({ handler: always(label) }),
  validateUpdate: stepRules({ handler: immutable("") }),
};

export const runtimeClassKind: KindRow = {
  resource: "node.svc.io/runtimeclasses",
  unconditionalUpdate: false,
  rules: runtimeClassRules,
  columns: printer(nameColumn, column("Handler", "What runs such pods.", text("handler")), ageColumn),
};
