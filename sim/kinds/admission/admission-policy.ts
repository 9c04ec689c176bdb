/**
 * ValidatingAdmissionPolicies and their bindings: defaults, and what makes one unusable. Expressions are compiled here
 * once to be judged, and once more when the stored policy is first in force.
 * Source: the published defaults and validation.
 */
import { qualifiedNameErrors } from "../../../wire/names.ts";
import { matchConditionCauses } from "./match-conditions.ts";
import { compilePolicy, itemsOf, textOf } from "./policy-expressions.ts";
import type { Cause } from "../../contract/errors.ts";
import { type Compiled, compilePaced } from "../../expressions/stored-expressions.ts";
import { formatType } from "../../expressions/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { duplicateValue, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { type Check, judgeAt, type Place } from "../../objects/place.ts";
import {
  all,
  always,
  distinct,
  each,
  fieldRules,
  oneOf,
  orNil,
  present,
  required,
  struct,
} from "../../objects/rules.ts";
import { subdomain } from "../shared/formats.ts";
import { eachItem } from "../core/pod-template.ts";
import { anySelector, requestRule } from "./webhook-configuration.ts";
import { printer, nameColumn, integerColumn, sizeAt, column, at, unset, textAt, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

const admissionPolicyRules: KindRules = {
  defaults(draft) {
    if (!isObject(draft["spec"])) return;
    const spec = ownChild(draft, "spec");
    spec["failurePolicy"] ??= "Fail";
    if (isObject(spec["matchConstraints"])) matchDefaults(ownChild(spec, "matchConstraints"));
  },
  validate(object, causes) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    policyCauses(spec, causes);
  },
};

const admissionPolicyBindingRules: KindRules = {
  defaults(draft) {
    if (!isObject(draft["spec"])) return;
    const spec = ownChild(draft, "spec");
    if (isObject(spec["matchResources"])) matchDefaults(ownChild(spec, "matchResources"));
  },
  validate: (binding, ...more) => judgeBinding(binding, ...more),
};

function matchDefaults(match: Draft): void {
  match["matchPolicy"] ??= "Equivalent";
  match["namespaceSelector"] ??= {};
  match["objectSelector"] ??= {};
  for (const field of ["resourceRules", "excludeResourceRules"]) {
    eachItem(match, field, (rule) => (rule["scope"] ??= "*"));
  }
}

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

function policyCauses(spec: JsonObject, causes: Cause[]): void {
  const compiled = compilePolicy(spec, compilePaced);
  const { paramKind, matchConstraints } = spec;
  if (spec["failurePolicy"] !== "Fail" && spec["failurePolicy"] !== "Ignore") {
    causes.push(unsupportedValue("spec.failurePolicy", spec["failurePolicy"], ["Fail", "Ignore"]));
  }
  if (isObject(paramKind)) {
    for (const field of ["apiVersion", "kind"]) {
      if (textOf(paramKind, field) === "") causes.push(requiredValue(`spec.paramKind.${field}`));
    }
  }
  if (!isObject(matchConstraints)) causes.push(requiredValue("spec.matchConstraints"));
  else {
    if (itemsOf(matchConstraints, "resourceRules").length === 0) {
      causes.push(requiredValue("spec.matchConstraints.resourceRules"));
    }
    judgeAt(match, matchConstraints, "spec.matchConstraints", causes);
  }
  const conditions = itemsOf(spec, "matchConditions");
  matchConditionCauses(conditions, "spec.matchConditions", compiled.conditionVariables, causes);
  variableCauses(spec, compiled.variables, causes);
  const { validations, auditAnnotations } = compiled;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    causes.push(requiredValue("spec.validations", "validations or auditAnnotations must be non-empty"));
    causes.push(requiredValue("spec.auditAnnotations", "validations or auditAnnotations must be non-empty"));
  }
  itemsOf(spec, "validations").forEach((raw, at) => {
    const path = `spec.validations[${at}]`;
    const validation = validations[at];
    if (validation === undefined) return;
    compiledCauses(validation.source, validation.expression, `${path}.expression`, ["bool"], causes);
    messageCauses(raw, path, causes);
    if (validation.messageExpression !== undefined) {
      const source = textOf(raw, "messageExpression");
      compiledCauses(source, validation.messageExpression, `${path}.messageExpression`, ["string"], causes);
    }
    const reason = raw["reason"];
    if (reason !== undefined && !reasons.includes(String(reason))) {
      causes.push(unsupportedValue(`${path}.reason`, reason, reasons));
    }
  });
  annotationCauses(spec, auditAnnotations, causes);
}

/** Causes for refusing an expression that was compiled; `wanted` types, or any when there are none. */
function compiledCauses(
  source: string,
  compiled: Compiled,
  path: string,
  wanted: readonly string[],
  causes: Cause[],
): void {
  if (source === "") {
    causes.push(requiredValue(path, "expression is not specified"));
    return;
  }
  if ("error" in compiled) {
    causes.push(invalidValue(path, source, `compilation failed: ${compiled.error}`));
    return;
  }
  const type = formatType(compiled.type);
  if (wanted.length === 0 || wanted.includes(type) || type === "dyn") return;
  const expected = wanted.length === 1 ? String(wanted[0]) : `one of [${wanted.join(" ")}]`;
  causes.push(invalidValue(path, source, `must evaluate to ${expected}`));
}

function variableCauses(
  spec: JsonObject,
  variables: readonly { readonly name: string; readonly expression: Compiled }[],
  causes: Cause[],
): void {
  const names = new Set<string>();
  variables.forEach(({ name, expression }, at) => {
    const path = `spec.variables[${at}]`;
    if (name === "") causes.push(requiredValue(`${path}.name`, "name is not specified"));
    else if (!/^[A-Za-z_]\w*$/.test(name)) {
      causes.push(invalidValue(`${path}.name`, name, "name is not a valid CEL identifier"));
    } else if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
    names.add(name);
    const source = textOf(itemsOf(spec, "variables")[at] as JsonObject, "expression");
    compiledCauses(source, expression, `${path}.expression`, [], causes);
  });
}

function messageCauses(validation: JsonObject, path: string, causes: Cause[]): void {
  const message = validation["message"];
  if (typeof message !== "string" || message === "") return;
  const refuse = (text: string): unknown => causes.push(invalidValue(`${path}.message`, message, text));
  if (message.trim() === "") refuse("message must be non-empty if specified");
  else if (/[\r\n]/.test(message.trim())) refuse("message must not contain line breaks");
}

function annotationCauses(spec: JsonObject, compiled: readonly Compiled[], causes: Cause[]): void {
  const keys = new Set<string>();
  itemsOf(spec, "auditAnnotations").forEach((annotation, at) => {
    const path = `spec.auditAnnotations[${at}]`;
    const key = textOf(annotation, "key");
    if (key === "") causes.push(requiredValue(`${path}.key`));
    pushInvalid(`${path}.key`, key, key === "" ? [] : qualifiedNameErrors(key), causes);
    if (keys.has(key)) causes.push(duplicateValue(`${path}.key`, key));
    keys.add(key);
    const source = textOf(annotation, "valueExpression");
    compiledCauses(source, compiled[at] as Compiled, `${path}.valueExpression`, ["string", "null"], causes);
  });
}

const match = struct({
  resourceRules: each(requestRule),
  excludeResourceRules: each(requestRule),
  matchPolicy: orNil(oneOf(["Equivalent", "Exact"])),
  namespaceSelector: anySelector,
  objectSelector: anySelector,
});

const denyAndWarn =
  "must not contain both Deny and Warn (repeating the same validation failure information in the API response " +
  "and headers serves no purpose)";

const actions: Check = (chosen: readonly string[], at: Place) => {
  if (chosen.includes("Deny") && chosen.includes("Warn")) at.invalid(chosen, denyAndWarn);
};

const parameters = struct(
  (ref: JsonObject, at) => {
    const { selector } = ref;
    const name = textOf(ref, "name");
    if (name === "" && selector === undefined) at.required("one of name or selector must be specified");
    if (name !== "" && selector !== undefined) at.of("name").forbidden("name and selector are mutually exclusive");
  },
  { selector: anySelector, parameterNotFoundAction: present(oneOf(["Deny", "Allow"])) },
);

const policyName = required(subdomain);

const bindingSpec = struct({
  policyName: { zero: "", absent: "", judge: (name: string, at) => policyName.judge(name.trim() as never, at) },
  paramRef: parameters,
  matchResources: match,
  validationActions: required(all(each(all(oneOf(["Audit", "Deny", "Warn"]), distinct)), actions)),
});

const judgeBinding = fieldRules({ spec: always(bindingSpec) });

export const validatingAdmissionPolicyKind: KindRow = {
  resource: "admissionregistration.svc.io/validatingadmissionpolicies",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: admissionPolicyRules,
  columns: printer(
    nameColumn,
    integerColumn("Validations", "How many rules there are.", (it) => sizeAt(it, "spec.validations")),
    column("ParamKind", "What its parameters are.", (it) => {
      const kind = at(it, "spec.paramKind");
      if (kind === undefined) return unset;
      return `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`;
    }),
    ageColumn,
  ),
};

export const validatingAdmissionPolicyBindingKind: KindRow = {
  resource: "admissionregistration.svc.io/validatingadmissionpolicybindings",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: admissionPolicyBindingRules,
  columns: printer(
    nameColumn,
    column("PolicyName", "What it puts to use.", text("spec.policyName")),
    column("ParamRef", "Where its parameters are.", (it) => {
      const reference = at(it, "spec.paramRef");
      if (reference === undefined) return unset;
      const namespace = textAt(reference, "namespace");
      const name = textAt(reference, "name") || "*";
      return namespace === "" ? name : `${namespace}/${name}`;
    }),
    ageColumn,
  ),
};
