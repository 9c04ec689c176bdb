/** ControllerRevisions: said once. Source: the published validation. */
import type { KindRules } from "../../objects/kind-rules.ts";
import { fieldRules, present, fine, nonNegative, stepRules, immutableAs } from "../../objects/rules.ts";
import type { KindRow } from "../kind-row.ts";
import { printer, nameColumn, column, ageColumn, none } from "../shared/printer.ts";
import { numberOf } from "../shared/columns.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";

const controllerRevisionRules: KindRules = {
  validate: fieldRules({ data: present(fine, "data is mandatory"), revision: nonNegative }),
  // Simplification: the real server prints what was sent, in its language.
  validateUpdate: stepRules({ data: immutableAs(() => "runtime.RawExtension{}") }),
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
