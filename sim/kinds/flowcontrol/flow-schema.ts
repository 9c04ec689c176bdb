/** Flow schemas: which requests belong to which priority level. Source: the published defaults, validation and columns. */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import {
  forbiddenField,
  goStrings,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { fill, listOf } from "../shared/fields.ts";
import {
  ageColumn,
  column,
  conditionStatus,
  integerColumn,
  nameColumn,
  none,
  numberAt,
  printer,
  textAt,
} from "../shared/printer.ts";

const precedenceMax = 10_000;
/** The schema that looks after what must never wait: it alone comes first. */
const exemptName = "exempt";

const flowSchemaRules: KindRules = {
  defaults: (draft) => fill(ownChild(draft, "spec"), "matchingPrecedence", 1000),
  validate(schema, causes) {
    const spec = (schema["spec"] ?? {}) as JsonObject;
    precedenceCauses(metadataOf(schema).name ?? "", (spec["matchingPrecedence"] ?? 0) as number, causes);
    const { distinguisherMethod: method } = spec;
    const type = isObject(method) ? method["type"] : "ByUser";
    if (type !== "ByUser" && type !== "ByNamespace") {
      causes.push(unsupportedValue("spec.distinguisherMethod.type", type, ["ByNamespace", "ByUser"]));
    }
    const level = textAt(spec, "priorityLevelConfiguration.name");
    const path = "spec.priorityLevelConfiguration.name";
    if (level === "") causes.push(requiredValue(path, "must reference a priority level"));
    else pushInvalid(path, level, dns1123SubdomainErrors(level), causes);
    listOf(spec, "rules").forEach((rule, at) => ruleCauses(rule, `spec.rules[${at}]`, causes));
  },
};

function precedenceCauses(name: string, precedence: number, causes: Cause[]): void {
  const path = "spec.matchingPrecedence";
  if (precedence <= 0) causes.push(invalidValue(path, precedence, "must be a positive value"));
  if (precedence > precedenceMax) {
    causes.push(invalidValue(path, precedence, `must not be greater than ${precedenceMax}`));
  }
  if (precedence === 1 && name !== exemptName) {
    causes.push(invalidValue(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
}

function ruleCauses(rule: JsonObject, path: string, causes: Cause[]): void {
  const subjects = listOf(rule, "subjects");
  const [resources, urls] = [listOf(rule, "resourceRules"), listOf(rule, "nonResourceRules")];
  if (subjects.length === 0) {
    causes.push(requiredValue(`${path}.subjects`, "subjects must contain at least one value"));
  }
  subjects.forEach((subject, at) => subjectCauses(subject, `${path}.subjects[${at}]`, causes));
  if (resources.length + urls.length === 0) {
    causes.push(requiredValue(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  resources.forEach((one, at) => resourceRuleCauses(one, `${path}.resourceRules[${at}]`, causes));
  urls.forEach((one, at) => urlRuleCauses(one, `${path}.nonResourceRules[${at}]`, causes));
}

/** Kind of a subject, and the field that says which. */
const subjectKinds: Readonly<Record<string, string>> = {
  Group: "group",
  ServiceAccount: "serviceAccount",
  User: "user",
};

function subjectCauses(subject: JsonObject, path: string, causes: Cause[]): void {
  const kind = (subject["kind"] ?? "") as string;
  if (!Object.hasOwn(subjectKinds, kind)) {
    causes.push(unsupportedValue(`${path}.kind`, kind, Object.keys(subjectKinds)));
    return;
  }
  for (const [other, field] of Object.entries(subjectKinds)) {
    const given = subject[field];
    const here = `${path}.${field}`;
    if (other !== kind) {
      if (given !== undefined) {
        causes.push(forbiddenField(here, `${field} is forbidden when subject kind is not '${other}'`));
      }
    } else if (!isObject(given)) {
      causes.push(requiredValue(here, `${field} is required when subject kind is '${kind}'`));
    } else whoCauses(given, kind === "ServiceAccount", here, causes);
  }
}

function whoCauses(who: JsonObject, isAccount: boolean, path: string, causes: Cause[]): void {
  const [name, namespace] = [textAt(who, "name"), textAt(who, "namespace")];
  if (name === "") causes.push(requiredValue(`${path}.name`));
  else if (isAccount && name !== everything) pushInvalid(`${path}.name`, name, dns1123SubdomainErrors(name), causes);
  if (!isAccount) return;
  if (namespace === "") causes.push(requiredValue(`${path}.namespace`, "must specify namespace for service account"));
}

const everything = "*";
const resourceVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const urlVerbs = ["delete", "get", "head", "options", "patch", "post", "put"];

const textsOf = (rule: JsonObject, field: string): readonly string[] => (rule[field] ?? []) as readonly string[];

function verbCauses(rule: JsonObject, known: readonly string[], path: string, causes: Cause[]): void {
  const verbs = textsOf(rule, "verbs");
  const here = `${path}.verbs`;
  if (verbs.length === 0) causes.push(requiredValue(here, "verbs must contain at least one value"));
  else if (verbs.includes(everything)) aloneCauses(verbs, "verbs", here, causes);
  else if (verbs.some((verb) => !known.includes(verb))) {
    causes.push(invalidText(here, goStrings(verbs), `supported values: ${known.join(", ")}`));
  }
}

/** What stands for all leaves no room for others. */
function aloneCauses(values: readonly string[], what: string, path: string, causes: Cause[]): void {
  if (values.length === 1 || !values.includes(everything)) return;
  causes.push(invalidText(path, goStrings(values), `if '*' is present, must not specify other ${what}`));
}

function resourceRuleCauses(rule: JsonObject, path: string, causes: Cause[]): void {
  verbCauses(rule, resourceVerbs, path, causes);
  for (const [field, words] of [
    ["apiGroups", "api groups"],
    ["resources", "resources"],
  ] as const) {
    const values = textsOf(rule, field);
    if (values.length === 0) {
      causes.push(requiredValue(`${path}.${field}`, `resource rules must supply at least one ${words.slice(0, -1)}`));
    } else aloneCauses(values, words, `${path}.${field}`, causes);
  }
  const namespaces = textsOf(rule, "namespaces");
  if (namespaces.length === 0 && rule["clusterScope"] !== true) {
    const detail = "resource rules that are not cluster scoped must supply at least one namespace";
    causes.push(requiredValue(`${path}.namespaces`, detail));
  } else aloneCauses(namespaces, "namespaces", `${path}.namespaces`, causes);
}

function urlRuleCauses(rule: JsonObject, path: string, causes: Cause[]): void {
  verbCauses(rule, urlVerbs, path, causes);
  const urls = textsOf(rule, "nonResourceURLs");
  const here = `${path}.nonResourceURLs`;
  if (urls.length === 0) {
    causes.push(requiredValue(here, "nonResourceURLs must contain at least one value"));
    return;
  }
  aloneCauses(urls, "non-resource URLs", here, causes);
  urls.forEach((url, at) => {
    if (url !== everything && !url.startsWith("/")) {
      causes.push(invalidValue(`${here}[${at}]`, url, "must start with slash"));
    }
  });
}

export const flowSchemaKind: KindRow = {
  resource: "flowcontrol.apiserver.svc.io/flowschemas",
  usesGeneration: true,
  rules: flowSchemaRules,
  columns: printer(
    nameColumn,
    column("PriorityLevel", "The level of its requests.", (it) => textAt(it, "spec.priorityLevelConfiguration.name")),
    integerColumn("MatchingPrecedence", "The lowest is tried first.", (it) => numberAt(it, "spec.matchingPrecedence")),
    column(
      "DistinguisherMethod",
      "What parts its requests into flows.",
      (it) => textAt(it, "spec.distinguisherMethod.type") || none,
    ),
    ageColumn,
    column("MissingPL", "Its level does not exist.", (it) => conditionStatus(it, "Dangling") || "?"),
  ),
};
