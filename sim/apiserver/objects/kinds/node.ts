/**
 * Nodes. Source: recorded answers: allocatable follows capacity until it is set, and a new node is kept free of pods
 * until somebody has found it ready. The published validation of taints and of updates.
 */
import { labelValueErrors, qualifiedNameErrors } from "../../../../wire/names.ts";
import { goQuote } from "../../../../wire/go-strings.ts";
import type { Cause } from "../../errors.ts";
import type { JsonObject } from "../../http-message.ts";
import { forbiddenField, invalidValue } from "../causes.ts";
import { jsonEqual } from "../equality.ts";
import { isObject, ownChild } from "../types.ts";
import { enumCauses, listOf } from "./fields.ts";
import type { KindRules } from "./kind-rules.ts";
import { taintEffects } from "./pods/scheduling.ts";

export const nodeRules: KindRules = {
  defaults(draft) {
    const status = draft["status"];
    if (!isObject(status) || status["allocatable"] !== undefined || status["capacity"] === undefined) return;
    ownChild(draft, "status")["allocatable"] = status["capacity"];
  },
  prepareForCreate(draft, dialect) {
    const spec = ownChild(draft, "spec");
    const taints = (spec["taints"] ?? []) as readonly JsonObject[];
    const notReady = { key: `node.${dialect.labelSuffix}/not-ready`, effect: "NoSchedule" };
    const isThere = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect);
    if (!isThere) spec["taints"] = [...taints, notReady];
  },
  validate(object, causes) {
    taintCauses(listOf((object["spec"] ?? {}) as JsonObject, "taints"), causes);
  },
  stepFirst: true,
  validateUpdate(object, live, causes) {
    const after = (object["spec"] ?? {}) as JsonObject;
    const before = (live["spec"] ?? {}) as JsonObject;
    for (const [field, name] of [
      ["podCIDRs", "podCIDR"],
      ["providerID", "providerID"],
    ] as const) {
      if (before[field] === undefined || before[field] === "" || jsonEqual(before[field], after[field])) continue;
      const detail = `node updates may not change ${name} except from "" to valid`;
      causes.push(forbiddenField(`spec.${field}`, detail));
    }
  },
};

function taintCauses(taints: readonly JsonObject[], causes: Cause[]): void {
  const seen = new Set<string>();
  taints.forEach((taint, at) => {
    const path = `spec.taints[${at}]`;
    const { key = "", value = "", effect = "" } = taint as Readonly<Record<string, string>>;
    for (const text of qualifiedNameErrors(key)) causes.push(invalidValue(`${path}.key`, key, text));
    const errors = labelValueErrors(value);
    if (errors.length > 0) causes.push(invalidValue(`${path}.value`, value, errors.join(";")));
    enumCauses(effect, taintEffects, `${path}.effect`, causes);
    const pair = JSON.stringify([key, effect]);
    if (seen.has(pair)) causes.push(duplicateTaint(path, key, value, effect));
    seen.add(pair);
  });
}

/** As the real server prints it. Simplification: when it was added is not printed. */
function duplicateTaint(field: string, key: string, value: string, effect: string): Cause {
  const taint = `core.Taint{Key:${goQuote(key)}, Value:${goQuote(value)}, Effect:${goQuote(effect)}, TimeAdded:<nil>}`;
  const message = `Duplicate value: ${taint}: taints must be unique by key and effect pair`;
  return { reason: "FieldValueDuplicate", message, field };
}
