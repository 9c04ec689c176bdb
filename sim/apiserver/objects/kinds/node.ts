/**
 * Nodes. Source: recorded answers: allocatable follows capacity until it is set, and a new node is kept free of pods
 * until somebody has found it ready.
 */
import type { JsonObject } from "../../http-message.ts";
import { isObject, ownChild } from "../types.ts";
import type { KindRules } from "./kind-rules.ts";

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
};
