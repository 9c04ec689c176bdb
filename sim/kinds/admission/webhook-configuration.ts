/**
 * Configurations of webhooks: defaults, and what makes one unusable.
 * Source: the published defaults and validation.
 */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import { requestVariables } from "./request-variables.ts";
import { matchConditionCauses } from "./match-conditions.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { duplicateValue, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "../core/pod-template.ts";
import { printer, nameColumn, integerColumn, sizeAt, ageColumn } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

const validatingWebhookRules: KindRules = webhookRules(false);
const mutatingWebhookRules: KindRules = webhookRules(true);

function webhookRules(mutating: boolean): KindRules {
  return {
    defaults(draft) {
      eachItem(draft, "webhooks", (webhook) => {
        webhook["failurePolicy"] ??= "Fail";
        webhook["matchPolicy"] ??= "Equivalent";
        webhook["namespaceSelector"] ??= {};
        webhook["objectSelector"] ??= {};
        webhook["timeoutSeconds"] ??= 10;
        if (mutating) webhook["reinvocationPolicy"] ??= "Never";
        eachItem(webhook, "rules", (rule) => (rule["scope"] ??= "*"));
        const { clientConfig } = webhook;
        if (isObject(clientConfig) && isObject(clientConfig["service"])) {
          ownChild(ownChild(webhook, "clientConfig"), "service")["port"] ??= 443;
        }
      });
    },
    validate(object, causes) {
      const names = new Set<string>();
      itemsOf(object, "webhooks").forEach((webhook, at) => {
        const path = `webhooks[${at}]`;
        webhookCauses(webhook, path, causes);
        const name = (webhook["name"] ?? "") as string;
        if (name !== "" && names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
        names.add(name);
        if (mutating) oneOf(webhook["reinvocationPolicy"], ["IfNeeded", "Never"], `${path}.reinvocationPolicy`, causes);
      });
    },
  };
}

const itemsOf = (object: JsonObject, field: string): readonly JsonObject[] =>
  (object[field] ?? []) as readonly JsonObject[];

function webhookCauses(webhook: JsonObject, path: string, causes: Cause[]): void {
  nameCauses((webhook["name"] ?? "") as string, `${path}.name`, causes);
  itemsOf(webhook, "rules").forEach((rule, at) => ruleCauses(rule, `${path}.rules[${at}]`, causes));
  oneOf(webhook["failurePolicy"], ["Fail", "Ignore"], `${path}.failurePolicy`, causes);
  oneOf(webhook["matchPolicy"], ["Equivalent", "Exact"], `${path}.matchPolicy`, causes);
  if (webhook["sideEffects"] === undefined) causes.push(requiredValue(`${path}.sideEffects`, sideEffectsNeeded));
  else oneOf(webhook["sideEffects"], ["None", "NoneOnDryRun"], `${path}.sideEffects`, causes);
  const seconds = webhook["timeoutSeconds"] as number;
  if (seconds < 1 || seconds > 30) {
    causes.push(invalidValue(`${path}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"));
  }
  for (const field of ["namespaceSelector", "objectSelector"]) {
    const parsed = parseLabelSelector(selectorText((webhook[field] ?? {}) as JsonObject));
    if (isSelectorError(parsed)) causes.push(invalidValue(`${path}.${field}`, "", "is not a selector"));
  }
  matchConditionCauses(itemsOf(webhook, "matchConditions"), `${path}.matchConditions`, requestVariables, causes);
  versionCauses(
    (webhook["admissionReviewVersions"] ?? []) as readonly string[],
    `${path}.admissionReviewVersions`,
    causes,
  );
  clientCauses((webhook["clientConfig"] ?? {}) as JsonObject, `${path}.clientConfig`, causes);
}

const sideEffectsNeeded = "must specify one of None, NoneOnDryRun";

function oneOf(value: unknown, supported: readonly string[], path: string, causes: Cause[]): void {
  if (!supported.includes(value as string)) causes.push(unsupportedValue(path, value, supported));
}

function nameCauses(name: string, path: string, causes: Cause[]): void {
  if (name === "") {
    causes.push(requiredValue(path));
    return;
  }
  pushInvalid(path, name, dns1123SubdomainErrors(name), causes);
  if (name.split(".").length < 3) {
    causes.push(invalidValue(path, name, "should be a domain with at least three segments separated by dots"));
  }
}

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

export function ruleCauses(rule: JsonObject, path: string, causes: Cause[]): void {
  for (const field of ["apiGroups", "apiVersions", "resources", "operations"]) {
    const list = (rule[field] ?? []) as readonly string[];
    if (list.length === 0) causes.push(requiredValue(`${path}.${field}`));
    if (field !== "resources" && list.length > 1 && list.includes("*")) {
      const text = "if '*' is present, must not specify other " + (field === "operations" ? "operations" : "values");
      causes.push(invalidValue(`${path}.${field}`, list, text));
    }
  }
  ((rule["operations"] ?? []) as readonly string[]).forEach((operation, at) =>
    oneOf(operation, operations, `${path}.operations[${at}]`, causes),
  );
  oneOf(rule["scope"] ?? "*", ["*", "Cluster", "Namespaced"], `${path}.scope`, causes);
}

function versionCauses(versions: readonly string[], path: string, causes: Cause[]): void {
  if (versions.length === 0) causes.push(requiredValue(path, "must specify one of v1, v1beta1"));
  else if (!versions.includes("v1")) {
    causes.push(invalidValue(path, versions, "must include at least one of v1"));
  }
}

function clientCauses(client: JsonObject, path: string, causes: Cause[]): void {
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) {
    causes.push(requiredValue(path, "exactly one of url or service is required"));
    return;
  }
  if (url !== undefined) urlCauses(url as string, `${path}.url`, causes);
  if (!isObject(service)) return;
  for (const field of ["name", "namespace"]) {
    const text = `service ${field} is required`;
    if ((service[field] ?? "") === "") causes.push(requiredValue(`${path}.service.${field}`, text));
  }
  const port = service["port"] as number;
  if (port < 1 || port > 65_535) {
    causes.push(
      invalidValue(`${path}.service.port`, port, "port is not valid: must be between 1 and 65535, inclusive"),
    );
  }
  const pathText = (service["path"] ?? "") as string;
  if (pathText !== "" && !pathText.startsWith("/")) {
    causes.push(invalidValue(`${path}.service.path`, pathText, "must start with a '/'"));
  }
}

function urlCauses(text: string, path: string, causes: Cause[]): void {
  const url = URL.parse(text);
  if (url === null) {
    causes.push(requiredValue(path, "url must be a valid URL"));
    return;
  }
  const refuse = (why: string): unknown => causes.push(invalidValue(path, text, why));
  if (url.protocol !== "https:") refuse("'https' is the only allowed URL scheme; desired format: https://host[/path]");
  if (url.hostname === "") refuse("host must be specified; desired format: https://host[/path]");
  if (url.username !== "" || url.password !== "") refuse("user information is not permitted in the URL");
  if (url.hash !== "") refuse("fragments are not permitted in the URL");
  if (url.search !== "") refuse("query parameters are not permitted in the URL");
}

const webhooks = printer(
  nameColumn,
  integerColumn("Webhooks", "How many webhooks there are.", (it) => sizeAt(it, "webhooks")),
  ageColumn,
);

export const mutatingWebhookConfigurationKind: KindRow = {
  resource: "admissionregistration.svc.io/mutatingwebhookconfigurations",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: mutatingWebhookRules,
  columns: webhooks,
};

export const validatingWebhookConfigurationKind: KindRow = {
  resource: "admissionregistration.svc.io/validatingwebhookconfigurations",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: validatingWebhookRules,
  columns: webhooks,
};
