/**
 * The registry of served APIs. What the server serves itself is listed as local; another server's API can't be
 * registered, for no request is passed on: it is refused where it would be named, in `spec.service`.
 *
 * Simplification: groups of custom resources come and go without an entry here.
 * Source: the published aggregator's validation and its registration of local APIs.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { groupRows } from "../../../wire/resources.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue } from "../../objects/causes.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn, textAt, listAt } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

const apiServiceRules: KindRules = {
  validate(object, causes) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    const { version = "", group = "" } = spec as Readonly<Record<string, string>>;
    const { name = "" } = metadataOf(object);
    const expected = `${version}.${group}`;
    if (name !== expected) {
      causes.push(invalidValue("metadata.name", name, `must be \`spec.version+"."+spec.group\`: "${expected}"`));
    }
    if (version === "") causes.push(requiredValue("spec.version"));
    for (const [field, max] of priorities) {
      const priority = (spec[field] ?? 0) as number;
      if (priority <= 0 || priority > max) {
        causes.push(invalidValue(`spec.${field}`, priority, `must be positive and less than ${max}`));
      }
    }
    if ((spec["service"] ?? null) !== null) {
      causes.push(forbiddenField("spec.service", "aggregated APIs are not supported by this simulator"));
    }
  },
};

const priorities = [
  ["groupPriorityMinimum", 20_000],
  ["versionPriority", 1000],
] as const;

/** Of an API that no other server has. */
export const localCondition = {
  type: "Available",
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const;

const corePriority = 18_000;
const groupPriority = 17_800;

/** Every built-in group version, as a client would post it; the preferred ones come first. */
export function localApiServices(dialect: Dialect): readonly JsonObject[] {
  const core = { group: "", versions: ["v1"] };
  return [core, ...groupRows].flatMap(({ group, versions }, place) =>
    versions.map((version, at) => {
      const name = groupInDialect(dialect, group);
      return {
        metadata: {
          name: `${version}.${name}`,
          labels: { [`kube-aggregator.${dialect.labelSuffix}/automanaged`]: "onstart" },
        },
        spec: {
          ...(name === "" ? {} : { group: name }),
          groupPriorityMinimum: name === "" ? corePriority : groupPriority - place * 10,
          version,
          versionPriority: 15 - at,
        },
      };
    }),
  );
}

export const apiServiceKind: KindRow = {
  resource: "apiregistration.svc.io/apiservices",
  unconditionalUpdate: false,
  nameRule: "pathSegment",
  rules: apiServiceRules,
  columns: printer(
    nameColumn,
    column("Service", "Which service hosts the API.", serviceOf),
    column("Available", "Whether the API is served.", availability),
    ageColumn,
  ),
};

/** `namespace/name`, or that the server itself is it. */
function serviceOf(it: JsonObject): string {
  const name = textAt(it, "spec.service.name");
  return name === "" ? "Local" : `${textAt(it, "spec.service.namespace")}/${name}`;
}

function availability(it: JsonObject): string {
  const available = listAt(it, "status.conditions").find(({ type }) => type === "Available");
  if (available === undefined) return "Unknown";
  const { status, reason } = available;
  return status === "True" ? "True" : `${String(status)} (${String(reason)})`;
}
