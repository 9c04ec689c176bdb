/** Classes of volumes: who makes them, how, and when. Source: the published defaults and validation. */
import { utf8Length } from "../../../wire/go-strings.ts";
import { qualifiedNameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import {
  forbiddenField,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { fill } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, nameOf, column, textAt, at, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";

const parametersMax = 512;
const parameterBytesMax = 262_144;

const storageClassRules: KindRules = {
  defaults(draft) {
    fill(draft, "reclaimPolicy", "Delete");
    fill(draft, "volumeBindingMode", "Immediate");
  },
  validate(storageClass, causes) {
    const provisioner = (storageClass["provisioner"] ?? "") as string;
    if (provisioner === "") causes.push(requiredValue("provisioner"));
    else {
      pushInvalid("provisioner", provisioner, qualifiedNameErrors(provisioner.toLowerCase()), causes);
    }
    parameterCauses((storageClass["parameters"] ?? {}) as Readonly<Record<string, string>>, causes);
    for (const [field, supported] of [
      ["reclaimPolicy", ["Delete", "Retain"]],
      ["volumeBindingMode", ["Immediate", "WaitForFirstConsumer"]],
    ] as const) {
      const value = storageClass[field] as string;
      if (!(supported as readonly string[]).includes(value)) causes.push(unsupportedValue(field, value, supported));
    }
  },
  validateUpdate(storageClass, live, causes) {
    for (const field of ["parameters", "provisioner", "reclaimPolicy"]) {
      if (jsonEqual(storageClass[field], live[field])) continue;
      causes.push(forbiddenField(field, `updates to ${field} are forbidden.`));
    }
    const mode = storageClass["volumeBindingMode"];
    if (mode !== live["volumeBindingMode"]) causes.push(invalidValue("volumeBindingMode", mode, "field is immutable"));
  },
};

function parameterCauses(parameters: Readonly<Record<string, string>>, causes: Cause[]): void {
  const names = Object.keys(parameters);
  if (names.length > parametersMax) {
    causes.push(tooLongValue("parameters", parametersMax));
    return;
  }
  if (names.includes("")) causes.push(invalidValue("parameters", "", "field can not be empty."));
  const bytes = names.reduce((sum, name) => sum + utf8Length(name) + utf8Length(parameters[name] as string), 0);
  if (bytes > parameterBytesMax) causes.push(tooLongValue("parameters", parameterBytesMax));
}

export const storageClassKind: KindRow = {
  resource: "storage.svc.io/storageclasses",
  returnsDeleted: true,
  rules: storageClassRules,
  columns: printer(
    { ...nameColumn, cell: (it) => `${nameOf(it)}${isDefaultClass(it) ? " (default)" : ""}` },
    column("Provisioner", "Who makes the volumes.", text("provisioner")),
    column("ReclaimPolicy", "What becomes of released volumes.", (it) => textAt(it, "reclaimPolicy") || "Delete"),
    column("VolumeBindingMode", "When a volume is bound.", (it) => textAt(it, "volumeBindingMode") || "Immediate"),
    column("AllowVolumeExpansion", "Whether volumes can grow.", (it) => at(it, "allowVolumeExpansion") === true),
    ageColumn,
  ),
};

function isDefaultClass(object: JsonObject): boolean {
  return Object.entries(metadataOf(object).annotations ?? {}).some(
    ([key, value]) => defaultClass.test(key) && value === "true",
  );
}

const defaultClass = /^storageclass(?:\.beta)?\.[^/]+\/is-default-class$/;
