/** Classes of volumes: who makes them, how, and when. Source: the published defaults and validation. */
import { utf8Length } from "../../../wire/go-strings.ts";
import { qualifiedNameErrors } from "../../../wire/names.ts";
import { fill } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameOf, column, textAt, at, ageColumn, nameColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";
import { fixed, fieldRules, required, format, orNil, oneOf, stepRules, immutable } from "../../objects/rules.ts";
import type { Place } from "../../objects/place.ts";

const parametersMax = 512;
const parameterBytesMax = 262_144;

const settled = fixed((at) => at.forbidden(`updates to ${at.path} are forbidden.`));

function parameters(texts: Readonly<Record<string, string>>, at: Place): void {
  const names = Object.keys(texts);
  if (names.length > parametersMax) {
    at.tooLong(parametersMax);
    return;
  }
  if (names.includes("")) at.invalid("", "field can not be empty.");
  const bytes = names.reduce((sum, name) => sum + utf8Length(name) + utf8Length(texts[name] as string), 0);
  if (bytes > parameterBytesMax) at.tooLong(parameterBytesMax);
}

const storageClassRules: KindRules = {
  defaults(draft) {
    fill(draft, "reclaimPolicy", "Delete");
    fill(draft, "volumeBindingMode", "Immediate");
  },
  validate: fieldRules({
    provisioner: required(format((name) => qualifiedNameErrors(name.toLowerCase()))),
    parameters,
    reclaimPolicy: orNil(oneOf(["Delete", "Retain"])),
    volumeBindingMode: orNil(oneOf(["Immediate", "WaitForFirstConsumer"])),
  }),
  validateUpdate: stepRules({
    parameters: settled,
    provisioner: settled,
    reclaimPolicy: settled,
    volumeBindingMode: immutable(),
  }),
};

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
