/** Limits of what one thing may ask for: names, amounts that fit each other. Source: the published defaults and validation. */
import { compareBytes } from "../../../wire/go-strings.ts";
import { qualifiedNameErrors } from "../../../wire/names.ts";
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
} from "../../objects/causes.ts";
import { type Draft, ownChild } from "../../contract/objects.ts";
import { listOf } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "./pod-template.ts";
import { type Check, judgeAt } from "../../objects/place.ts";
import { resourceName } from "./pods/resources.ts";
import { goQuantity, isStandardResource } from "./resource-quota.ts";
import type { KindRow } from "../kind-row.ts";

const limitRangeRules: KindRules = {
  defaults(draft) {
    if (draft["spec"] === undefined || Object.isFrozen(draft["spec"])) return;
    eachItem(ownChild(draft, "spec"), "limits", limitDefaults);
  },
  validate(range, causes) {
    const types = new Set<string>();
    listOf((range["spec"] ?? {}) as JsonObject, "limits").forEach((limit, at) => {
      const path = `spec.limits[${at}]`;
      const type = (limit["type"] ?? "") as string;
      typeCauses(type, `${path}.type`, causes);
      if (types.has(type)) causes.push(duplicateValue(`${path}.type`, type));
      types.add(type);
      limitCauses(limit, type, path, causes);
    });
  },
};

type Amounts = Readonly<Record<string, Json>>;
const amountsIn = (limit: JsonObject | Draft, field: string): Amounts => (limit[field] ?? {}) as Amounts;

/** Containers that say nothing get the most, and ask for that or for the least. */
function limitDefaults(limit: Draft): void {
  if (limit["type"] !== "Container") return;
  const most = { ...amountsIn(limit, "max"), ...amountsIn(limit, "default") };
  const least = { ...amountsIn(limit, "min"), ...most, ...amountsIn(limit, "defaultRequest") };
  for (const [field, amounts] of [
    ["default", most],
    ["defaultRequest", least],
  ] as const) {
    const names = Object.keys(amounts).sort(compareBytes);
    if (names.length > 0) limit[field] = Object.fromEntries(names.map((name) => [name, amounts[name] as Json])) as Json;
  }
}

const standardTypes = ["Pod", "Container", "PersistentVolumeClaim"];

function typeCauses(type: string, path: string, causes: Cause[]): void {
  const errors = qualifiedNameErrors(type);
  pushInvalid(path, type, errors, causes);
  if (errors.length > 0 || type.includes("/") || standardTypes.includes(type)) return;
  causes.push(invalidValue(path, type, "must be a standard limit type or fully qualified"));
}

const fields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function limitCauses(limit: JsonObject, type: string, path: string, causes: Cause[]): void {
  const names = new Set<string>();
  for (const field of fields) {
    const given = Object.keys(amountsIn(limit, field)).sort(compareBytes);
    if (type === "Pod" && (field === "default" || field === "defaultRequest")) {
      if (given.length > 0) {
        causes.push(forbiddenField(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
      }
      continue;
    }
    if (field === "maxLimitRequestRatio") storageCauses(limit, type, path, causes);
    for (const name of given) {
      nameCauses(name, type, `${path}.${field}[${name}]`, causes);
      names.add(name);
    }
  }
  for (const name of [...names].sort(compareBytes)) relationCauses(limit, type, name, path, causes);
}

function storageCauses(limit: JsonObject, type: string, path: string, causes: Cause[]): void {
  if (type !== "PersistentVolumeClaim") return;
  if (["min", "max"].some((field) => amountsIn(limit, field)["storage"] !== undefined)) return;
  const detail = "either minimum or maximum storage value is required, but neither was provided";
  causes.push(requiredValue(`${path}.limits`, detail));
}

function nameCauses(name: string, type: string, path: string, causes: Cause[]): void {
  if (type === "Pod" || type === "Container") {
    judgeAt(resourceName as Check, name, path, causes);
    return;
  }
  const errors = qualifiedNameErrors(name);
  pushInvalid(path, name, errors, causes);
  if (errors.length > 0 || name.includes("/") || name === "storage" || isStandardResource(name)) return;
  causes.push(invalidValue(path, name, "must be a standard resource type or fully qualified"));
}

/** Pairs of amounts of which the first may not be more: where it is told, and how. */
const relations: readonly (readonly [
  low: (typeof fields)[number],
  high: (typeof fields)[number],
  at: (typeof fields)[number],
  shown: (typeof fields)[number],
  lowCalled: string,
  highCalled: string,
])[] = [
  ["min", "max", "min", "min", "min value", "max value"],
  ["min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"],
  ["defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"],
  ["defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value", "default limit value"],
  ["min", "default", "default", "min", "min value", "default value"],
  ["default", "max", "default", "max", "default value", "max value"],
];

function relationCauses(limit: JsonObject, type: string, name: string, path: string, causes: Cause[]): void {
  const read = (field: string): Quantity | undefined => {
    if (type === "Pod" && field.startsWith("default")) return undefined;
    const amount = amountsIn(limit, field)[name];
    const quantity = amount === undefined ? undefined : parseQuantity(String(amount));
    return quantity === undefined || "error" in quantity ? undefined : quantity;
  };
  for (const [low, high, at, shown, lowCalled, highCalled] of relations) {
    const [less, more] = [read(low), read(high)];
    if (less === undefined || more === undefined || compareQuantities(less, more) <= 0) continue;
    const detail = `${lowCalled} ${formatQuantity(less)} is greater than ${highCalled} ${formatQuantity(more)}`;
    causes.push(invalidText(`${path}.${at}[${name}]`, goQuantity(read(shown) as Quantity), detail));
  }
  const ratio = read("maxLimitRequestRatio");
  const one = parseQuantity("1") as Quantity;
  if (ratio === undefined || compareQuantities(ratio, one) >= 0) return;
  const detail = `ratio ${formatQuantity(ratio)} is less than 1`;
  causes.push(invalidText(`${path}.maxLimitRequestRatio[${name}]`, goQuantity(ratio), detail));
}

export const limitRangeKind: KindRow = {
  resource: "/limitranges",
  createOnUpdate: true,
  rules: limitRangeRules,
};
