/** References to objects of any kind, by group, kind and name. Source: the published validation of typed references. */
import { dns1123SubdomainErrors, pathSegmentErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { pushInvalid, requiredValue } from "../../objects/causes.ts";

export function referenceCauses(reference: JsonObject, path: string, causes: Cause[]): void {
  const group = (reference["apiGroup"] ?? "") as string;
  if (group !== "") pushInvalid(`${path}.apiGroup`, group, dns1123SubdomainErrors(group), causes);
  for (const field of ["kind", "name"]) {
    const text = (reference[field] ?? "") as string;
    if (text === "") causes.push(requiredValue(`${path}.${field}`));
    else pushInvalid(`${path}.${field}`, text, pathSegmentErrors(text), causes);
  }
}
