/** RuntimeClasses: a handler, which never changes. Source: the published validation. */
import { dns1123LabelErrors } from "../../../wire/names.ts";
import { invalidValue, pushInvalid } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

const runtimeClassRules: KindRules = {
  validate(runtimeClass, causes) {
    const handler = (runtimeClass["handler"] ?? "") as string;
    pushInvalid("handler", handler, dns1123LabelErrors(handler), causes);
  },
  validateUpdate(runtimeClass, live, causes) {
    const handler = (runtimeClass["handler"] ?? "") as string;
    if (handler !== live["handler"]) causes.push(invalidValue("handler", handler, "field is immutable"));
  },
};

export const runtimeClassKind: KindRow = {
  resource: "node.svc.io/runtimeclasses",
  unconditionalUpdate: false,
  rules: runtimeClassRules,
  columns: printer(nameColumn, column("Handler", "What runs such pods.", text("handler")), ageColumn),
};
