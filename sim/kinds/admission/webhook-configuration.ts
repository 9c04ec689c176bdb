/**
 * Configurations of webhooks: defaults, and what makes one unusable.
 * Source: the published defaults and validation.
 */
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import { requestVariables } from "./request-variables.ts";
import { matchConditionCauses } from "./match-conditions.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Check, Place, Rule } from "../../objects/place.ts";
import {
  all,
  between,
  distinct,
  each,
  fieldRules,
  fine,
  oneOf,
  orNil,
  present,
  required,
  struct,
  textThat,
  unlessEmpty,
} from "../../objects/rules.ts";
import { subdomain } from "../shared/formats.ts";
import { eachItem } from "../core/pod-template.ts";
import { printer, nameColumn, integerColumn, sizeAt, ageColumn } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

const webhookName = all(
  subdomain,
  textThat((name) => name.split(".").length >= 3, "should be a domain with at least three segments separated by dots"),
);

/** All are meant by a star alone. */
const starAlone = (what: string): Rule => ({
  zero: [],
  holds: (list: readonly string[]) => list.length < 2 || !list.includes("*"),
  judge(list: readonly string[], at) {
    if (list.length > 1 && list.includes("*")) {
      at.invalid(list, `if '*' is present, must not specify other ${what}`);
    }
  },
});

const values = required(starAlone("values"));

/** Requests by what they do to what. */
export const requestRule = struct(
  { apiGroups: values, apiVersions: values, resources: required(), operations: required(starAlone("operations")) },
  {
    operations: each(oneOf(["*", "CONNECT", "CREATE", "DELETE", "UPDATE"])),
    scope: oneOf(["*", "Cluster", "Namespaced"]),
  },
);

/** A selector of labels, told without a word of what is wrong with it. */
export const anySelector: Check = (selector: JsonObject, at: Place) => {
  if (isSelectorError(parseLabelSelector(selectorText(selector)))) at.invalid("", "is not a selector");
};

const reviewVersions: Check = (versions: readonly string[], at: Place) => {
  if (!versions.includes("v1")) at.invalid(versions, "must include at least one of v1");
};

const url: Check = (text: string, at: Place) => {
  const parsed = URL.parse(text);
  if (parsed === null) {
    at.required("url must be a valid URL");
    return;
  }
  const format = "desired format: https://host[/path]";
  if (parsed.protocol !== "https:") at.invalid(text, `'https' is the only allowed URL scheme; ${format}`);
  if (parsed.hostname === "") at.invalid(text, `host must be specified; ${format}`);
  if (parsed.username !== "" || parsed.password !== "")
    at.invalid(text, "user information is not permitted in the URL");
  if (parsed.hash !== "") at.invalid(text, "fragments are not permitted in the URL");
  if (parsed.search !== "") at.invalid(text, "query parameters are not permitted in the URL");
};

const service = struct({
  name: required(fine, "service name is required"),
  namespace: required(fine, "service namespace is required"),
  port: between(1, 65_535, "port is not valid: must be between 1 and 65535, inclusive"),
  path: unlessEmpty(textThat((path) => path.startsWith("/"), "must start with a '/'")),
});
const client = struct({ url, service });

const webhook = struct(
  {
    name: required(webhookName),
    rules: each(requestRule),
    failurePolicy: orNil(oneOf(["Fail", "Ignore"])),
    matchPolicy: orNil(oneOf(["Equivalent", "Exact"])),
    sideEffects: present(oneOf(["None", "NoneOnDryRun"]), "must specify one of None, NoneOnDryRun"),
    timeoutSeconds: between(1, 30, "the timeout value must be between 1 and 30 seconds"),
    namespaceSelector: anySelector,
    objectSelector: anySelector,
    matchConditions: (conditions: readonly JsonObject[], at: Place) =>
      matchConditionCauses(conditions, at.path, requestVariables, at.causes),
    admissionReviewVersions: required(reviewVersions, "must specify one of v1, v1beta1"),
    clientConfig: {
      zero: {},
      absent: {},
      judge(config: JsonObject, at) {
        if ((config["url"] === undefined) === (config["service"] === undefined)) {
          at.required("exactly one of url or service is required");
        } else client.judge(config as never, at);
      },
    },
  },
  { name: unlessEmpty(distinct) },
);

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
    validate: fieldRules({
      webhooks: each(mutating ? struct(webhook, { reinvocationPolicy: orNil(oneOf(["IfNeeded", "Never"])) }) : webhook),
    }),
  };
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
