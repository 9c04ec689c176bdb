/**
 * PriorityClasses: a value that stays, and names that are the system's own.
 * Source: the published validation, and the classes that every cluster starts with.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, integerColumn, numberAt, ageColumn, column } from "../shared/printer.ts";
import { booleanColumn, text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { fieldRules, required, oneOf, stepRules, fixed, immutable } from "../../objects/rules.ts";

const valueMax = 1_000_000_000;

const systemValues: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

/** The classes of what a cluster cannot do without. */
export const systemPriorityClasses: readonly JsonObject[] = [
  {
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  {
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

const priorityClassRules: KindRules = {
  defaults(draft) {
    draft["preemptionPolicy"] ??= "PreemptLowerPriority";
  },
  validate: fieldRules(
    (it: JsonObject, at) => {
      const { name = "" } = metadataOf(it);
      const value = (it["value"] ?? 0) as number;
      if (name.startsWith("system-")) {
        const error = systemError(name, value, it["globalDefault"] === true);
        if (error === undefined) return;
        const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${error}`;
        at.of("metadata", "name").forbidden(detail);
      } else if (value > valueMax) {
        at.of("value").forbidden(`maximum allowed value of a user defined priority is ${valueMax}`);
      }
    },
    { preemptionPolicy: required(oneOf(["PreemptLowerPriority", "Never"])) },
  ),
  stepFirst: true,
  validateUpdate: stepRules({
    value: fixed((at) => at.forbidden("may not be changed in an update."), 0),
    preemptionPolicy: immutable(),
  }),
};

function systemError(name: string, value: number, isDefault: boolean): string | undefined {
  if (!Object.hasOwn(systemValues, name)) return `${name} is not a known system priority class`;
  if (value !== systemValues[name]) return `value of ${name} PriorityClass must be ${systemValues[name]}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export const priorityClassKind: KindRow = {
  resource: "scheduling.svc.io/priorityclasses",
  usesGeneration: true,
  rules: priorityClassRules,
  columns: printer(
    nameColumn,
    integerColumn("Value", "The priority; more comes first.", (it) => numberAt(it, "value")),
    booleanColumn("Global-Default", "For pods that name no class.", "globalDefault"),
    ageColumn,
    column("PreemptionPolicy", "Whether others are made to go.", text("preemptionPolicy")),
  ),
};
