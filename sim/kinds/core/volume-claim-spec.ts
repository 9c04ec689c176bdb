/** What a claim asks of a volume. Source: the published validation of claims. */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { canonicalQuantity, parseQuantity } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { labelCauses } from "../../objects/metadata.ts";
import { isObject } from "../../contract/objects.ts";
import { selectorCauses } from "../shared/label-selector.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const volumeModes = ["Block", "Filesystem"];

/** A claim made for each pod: its labels and its spec. */
export function claimTemplateCauses(template: JsonObject, path: string, causes: Cause[]): void {
  const metadata = (template["metadata"] ?? {}) as JsonObject;
  if (isObject(metadata["labels"])) {
    labelCauses(metadata["labels"] as Readonly<Record<string, string>>, `${path}.metadata.labels`, causes);
  }
  claimSpecCauses((template["spec"] ?? {}) as JsonObject, `${path}.spec`, causes);
}

export function claimSpecCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const modes = (spec["accessModes"] ?? []) as readonly string[];
  if (modes.length === 0) causes.push(requiredValue(`${path}.accessModes`, "at least 1 access mode is required"));
  if (isObject(spec["selector"])) selectorCauses(spec["selector"], `${path}.selector`, causes);
  accessModeCauses(modes, `${path}.accessModes`, causes);
  sizeCauses(spec, `${path}.resources[storage]`, causes);
  classNameCauses(spec, ["storageClassName"], path, causes);
  const mode = spec["volumeMode"];
  if (mode !== undefined && !volumeModes.includes(mode as string)) {
    causes.push(unsupportedValue(`${path}.volumeMode`, mode, volumeModes));
  }
  for (const field of ["dataSource", "dataSourceRef"]) sourceCauses(spec[field], `${path}.${field}`, causes);
}

export function accessModeCauses(modes: readonly string[], path: string, causes: Cause[]): void {
  for (const mode of modes) if (!accessModes.includes(mode)) causes.push(unsupportedValue(path, mode, accessModes));
  const others = modes.filter((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode));
  if (modes.includes("ReadWriteOncePod") && others.length > 0) {
    causes.push(forbiddenField(path, "may not use ReadWriteOncePod with other access modes"));
  }
}

function sizeCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const requests = ((spec["resources"] as JsonObject | undefined)?.["requests"] ?? {}) as JsonObject;
  if (requests["storage"] === undefined) {
    causes.push(requiredValue(path));
    return;
  }
  const size = parseQuantity(String(requests["storage"]));
  if ("error" in size || size.digits > 0n) return;
  causes.push(invalidValue(path, canonicalQuantity(size), "must be greater than zero"));
}

/** Names of classes, which may be empty. */
export function classNameCauses(spec: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  for (const field of fields) {
    const name = (spec[field] ?? "") as string;
    if (name === "") continue;
    pushInvalid(`${path}.${field}`, name, dns1123SubdomainErrors(name), causes);
  }
}

function sourceCauses(source: JsonObject[string] | undefined, path: string, causes: Cause[]): void {
  if (!isObject(source)) return;
  for (const field of ["name", "kind"]) {
    if ((source[field] ?? "") === "") causes.push(requiredValue(`${path}.${field}`));
  }
  const group = (source["apiGroup"] ?? "") as string;
  if (group === "" && source["kind"] !== "PersistentVolumeClaim") {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    causes.push(invalidValue(path, source["kind"] ?? "", detail));
  }
  if (group !== "") {
    pushInvalid(`${path}.apiGroup`, group, dns1123SubdomainErrors(group), causes);
  }
}
