/** Label selectors as fields of objects. Source: the published validation of LabelSelector. */
import { labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import { labelCauses } from "../../objects/metadata.ts";

/** What is wrong with the selector at `path`. */
export function selectorCauses(selector: JsonObject, path: string, causes: Cause[]): void {
  labelCauses((selector["matchLabels"] ?? {}) as Readonly<Record<string, string>>, `${path}.matchLabels`, causes);
  const expressions = (selector["matchExpressions"] ?? []) as readonly JsonObject[];
  expressions.forEach((each, at) => requirementCauses(each, `${path}.matchExpressions[${at}]`, causes));
}

const needsValues: Readonly<Record<string, boolean>> = { In: true, NotIn: true, Exists: false, DoesNotExist: false };

function requirementCauses(requirement: JsonObject, path: string, causes: Cause[]): void {
  const operator = (requirement["operator"] ?? "") as string;
  const values = (requirement["values"] ?? []) as readonly string[];
  const needs = Object.hasOwn(needsValues, operator) ? needsValues[operator] : undefined;
  if (needs === undefined) causes.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
  else if (needs && values.length === 0) {
    causes.push(requiredValue(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (!needs && values.length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    causes.push(forbiddenField(`${path}.values`, detail));
  }
  const key = (requirement["key"] ?? "") as string;
  pushInvalid(`${path}.key`, key, qualifiedNameErrors(key), causes);
  values.forEach((value, at) => {
    pushInvalid(`${path}.values[${at}]`, value, labelValueErrors(value), causes);
  });
}
