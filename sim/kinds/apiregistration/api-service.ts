/**
 * The registry of served APIs. What the server serves itself is listed as local; another server's API can't be
 * registered, for no request is passed on: it is refused where it would be named, in `spec.service`.
 *
 * Simplification: groups of custom resources come and go without an entry here.
 * Source: the published aggregator's validation and its registration of local APIs.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn, textAt, listAt } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";
import type { Rule } from "../../objects/place.ts";
import { always, between, fieldRules, required, forbidden } from "../../objects/rules.ts";
import { groupRows } from "../../../wire/resources.ts";

const priorityTo = (max: number): Rule => always(between(1, max, `must be positive and less than ${max}`));

const apiServiceRules: KindRules = {
  validate: fieldRules(
    (it: JsonObject, at) => {
      const { version = "", group = "" } = (it["spec"] ?? {}) as Readonly<Record<string, string>>;
      const { name = "" } = metadataOf(it);
      const expected = `${version}.${group}`;
      if (name === expected) return;
      at.of("metadata", "name").invalid(name, `must be \`spec.version+"."+spec.group\`: "${expected}"`);
    },
    {
      "spec.version": required(),
      "spec.groupPriorityMinimum": priorityTo(20_000),
      "spec.versionPriority": priorityTo(1000),
      "spec.service": forbidden("aggregated APIs are not supported by this simulator"),
    },
  ),
};

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
