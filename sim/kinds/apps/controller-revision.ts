/** ControllerRevisions: said once. Source: the published validation. */
import { invalidText, invalidValue, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn, none } from "../shared/printer.ts";
import { numberOf } from "../shared/columns.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";

const controllerRevisionRules: KindRules = {
  validate(revision, causes) {
    if ((revision["data"] ?? null) === null) causes.push(requiredValue("data", "data is mandatory"));
    const number = (revision["revision"] ?? 0) as number;
    if (number < 0) causes.push(invalidValue("revision", number, "must be greater than or equal to 0"));
  },
  validateUpdate(revision, live, causes) {
    // Simplification: the real server prints what was sent, in its language.
    if (!jsonEqual(revision["data"], live["data"]))
      causes.push(invalidText("data", "runtime.RawExtension{}", "field is immutable"));
  },
};

export const controllerRevisionKind: KindRow = {
  resource: "apps/controllerrevisions",
  rules: controllerRevisionRules,
  columns: printer(
    nameColumn,
    column("Controller", "Whose state this is.", controllerOf),
    column("Revision", "Its place among the states.", numberOf("revision")),
    ageColumn,
  ),
};

function controllerOf(object: JsonObject): string {
  const owner = metadataOf(object).ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return none;
  const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0] as string}` : "";
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
