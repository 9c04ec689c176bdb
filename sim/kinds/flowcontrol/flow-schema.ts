/** Flow schemas: which requests belong to which priority level. Source: the published defaults, validation and columns. */
import { dns1123SubdomainErrors, noErrors } from "../../../wire/names.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf, ownChild } from "../../contract/objects.ts";
import { goStrings } from "../../objects/causes.ts";
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
import type { Rule, Place } from "../../objects/place.ts";
import {
  struct,
  required,
  format,
  fine,
  type Table,
  present,
  forbidden,
  always,
  oneOf,
  caseOf,
  all,
  each,
  textThat,
  fieldRules,
  atLeast,
  atMost,
  orNil,
} from "../../objects/rules.ts";
import { subdomain } from "../shared/formats.ts";

const precedenceMax = 10_000;
/** The schema that looks after what must never wait: it alone comes first. */
const exemptName = "exempt";
const everything = "*";

/** Kind of a subject, the field that says which, and what it says. */
const subjectKinds: readonly (readonly [kind: string, field: string, rule: Rule])[] = [
  ["Group", "group", struct({ name: required() })],
  [
    "ServiceAccount",
    "serviceAccount",
    struct({
      name: required(format((name) => (name === everything ? noErrors : dns1123SubdomainErrors(name)))),
      namespace: required(fine, "must specify namespace for service account"),
    }),
  ],
  ["User", "user", struct({ name: required() })],
];

const fieldsOfSubject = (kind: string): Table =>
  Object.fromEntries(
    subjectKinds.map(([other, field, rule]) => [
      field,
      other === kind
        ? present(rule, `${field} is required when subject kind is '${kind}'`)
        : forbidden(`${field} is forbidden when subject kind is not '${other}'`),
    ]),
  );

const kindNames = subjectKinds.map(([kind]) => kind);
const subject = struct(
  { kind: always(oneOf(kindNames)) },
  caseOf("kind", Object.fromEntries(kindNames.map((kind) => [kind, fieldsOfSubject(kind)]))),
);

/** What stands for all leaves no room for others. */
const alone =
  (what: string) =>
  (values: readonly string[], at: Place): void => {
    if (values.length === 1 || !values.includes(everything)) return;
    at.invalidText(goStrings(values), `if '*' is present, must not specify other ${what}`);
  };

const verbsOf = (known: readonly string[]): Rule =>
  required((verbs: readonly string[], at) => {
    if (verbs.includes(everything)) alone("verbs")(verbs, at);
    else if (verbs.some((verb) => !known.includes(verb))) {
      at.invalidText(goStrings(verbs), `supported values: ${known.join(", ")}`);
    }
  }, "verbs must contain at least one value");

const resourceVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const urlVerbs = ["delete", "get", "head", "options", "patch", "post", "put"];

const resourceRule = struct(
  {
    verbs: verbsOf(resourceVerbs),
    apiGroups: required(alone("api groups"), "resource rules must supply at least one api group"),
    resources: required(alone("resources"), "resource rules must supply at least one resource"),
  },
  ({ namespaces, clusterScope }: JsonObject, at) => {
    const detail = "resource rules that are not cluster scoped must supply at least one namespace";
    const rule = alone("namespaces");
    at.judge("namespaces", namespaces, clusterScope === true ? rule : required(rule, detail));
  },
);

const urls = all(
  alone("non-resource URLs"),
  each(textThat((url) => url === everything || url.startsWith("/"), "must start with slash")),
);

const rule = struct(
  { subjects: required(each(subject), "subjects must contain at least one value") },
  (it: JsonObject, at) => {
    if (listOf(it, "resourceRules").length + listOf(it, "nonResourceRules").length > 0) return;
    at.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  },
  {
    resourceRules: each(resourceRule),
    nonResourceRules: each(
      struct({
        verbs: verbsOf(urlVerbs),
        nonResourceURLs: required(urls, "nonResourceURLs must contain at least one value"),
      }),
    ),
  },
);

const flowSchemaRules: KindRules = {
  defaults: (draft) => fill(ownChild(draft, "spec"), "matchingPrecedence", 1000),
  validate: fieldRules(
    {
      "spec.matchingPrecedence": always(
        all(atLeast(1, "must be a positive value"), atMost(precedenceMax, `must not be greater than ${precedenceMax}`)),
      ),
    },
    (schema: JsonObject, at) => {
      if (numberAt(schema, "spec.matchingPrecedence") !== 1 || metadataOf(schema).name === exemptName) return;
      const detail = "only the schema named 'exempt' may have matchingPrecedence 1";
      at.of("spec", "matchingPrecedence").invalid(1, detail);
    },
    {
      "spec.distinguisherMethod": struct({ type: orNil(oneOf(["ByNamespace", "ByUser"])) }),
      "spec.priorityLevelConfiguration.name": required(subdomain, "must reference a priority level"),
      "spec.rules": each(rule),
    },
  ),
};

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
