/** Selectors of nodes, as affinities and volumes have them. Source: the published validation of node selectors. */
import { dns1123SubdomainErrors, labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import { listOf } from "./fields.ts";

/** `path` is that of the selector. */
export function requiredNodesCauses(selector: JsonObject, path: string, causes: Cause[]): void {
  const terms = listOf(selector, "nodeSelectorTerms");
  const here = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) causes.push(requiredValue(here, "must have at least one node selector term"));
  terms.forEach((term, at) => nodeTermCauses(term, true, `${here}[${at}]`, causes));
}

/** A wish may name values that no node can have. */
export function nodeTermCauses(term: JsonObject, judgesValues: boolean, path: string, causes: Cause[]): void {
  listOf(term, "matchExpressions").forEach((requirement, at) =>
    labelRequirementCauses(requirement, judgesValues, `${path}.matchExpressions[${at}]`, causes),
  );
  listOf(term, "matchFields").forEach((requirement, at) =>
    fieldRequirementCauses(requirement, `${path}.matchFields[${at}]`, causes),
  );
}

const unknownOperator = "not a valid selector operator";

function labelRequirementCauses(requirement: JsonObject, judgesValues: boolean, path: string, causes: Cause[]): void {
  const { key = "", operator = "" } = requirement as Readonly<Record<string, string>>;
  const values = (requirement["values"] ?? []) as readonly string[];
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) {
      causes.push(requiredValue(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      causes.push(forbiddenField(`${path}.values`, detail));
    }
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1) {
      causes.push(requiredValue(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else causes.push(invalidValue(`${path}.operator`, operator, unknownOperator));
  pushInvalid(`${path}.key`, key, qualifiedNameErrors(key), causes);
  if (!judgesValues) return;
  values.forEach((value, at) => {
    pushInvalid(`${path}.values[${at}]`, value, labelValueErrors(value), causes);
  });
}

/** Of a node's fields its name alone selects, and one at a time. */
function fieldRequirementCauses(requirement: JsonObject, path: string, causes: Cause[]): void {
  const { key = "", operator = "" } = requirement as Readonly<Record<string, string>>;
  const values = (requirement["values"] ?? []) as readonly string[];
  if (operator !== "In" && operator !== "NotIn") {
    causes.push(invalidValue(`${path}.operator`, operator, unknownOperator));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    causes.push(requiredValue(`${path}.values`, detail));
  }
  if (key !== "metadata.name") causes.push(invalidValue(`${path}.key`, key, "not a valid field selector key"));
  else {
    values.forEach((value, at) => {
      pushInvalid(`${path}.values[${at}]`, value, dns1123SubdomainErrors(value), causes);
    });
  }
}
