/** Autoscalers of version 2, by any metric. Source: the published defaults and validation. */
import { autoscalerSpec, autoscalerColumns } from "./autoscaler.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { specToDefault } from "../shared/fields.ts";
import {
  atLeast,
  always,
  struct,
  required,
  textThat,
  fine,
  oneOf,
  all,
  atMost,
  each,
  fieldRules,
} from "../../objects/rules.ts";
import type { Rule } from "../../objects/place.ts";
import { pathSegment } from "../shared/formats.ts";
import { labelSelector } from "../shared/label-selector.ts";

/** Used where nothing is said: up by doubling or four pods each 15 s, down at once after five quiet minutes. */
const usualRules = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  },
  scaleDown: { policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
} as const;

const greaterThanZero = atLeast(1, "must be greater than zero");

/** How much is wanted: the ways to say it, the field that is named as missing, and what is told of none, or of two. */
function target(ways: readonly string[], missing: string, none: string, both = ""): Rule {
  return always(
    struct(
      {
        type: required(
          textThat(
            (type) => ["AverageValue", "Utilization", "Value"].includes(type),
            "must be either Utilization, Value, or AverageValue",
          ),
          "must specify a metric target type",
        ),
        averageUtilization: atLeast(1, "must be greater than 0"),
        value: positive,
        averageValue: positive,
      },
      (it: JsonObject, at) => {
        const given = ways.filter((way) => it[way] !== undefined);
        if (given.length === 0) at.of(missing).required(none);
        if (given.length > 1) at.of("averageValue").forbidden(both);
      },
    ),
  );
}

const positive = textThat((text) => {
  const quantity = parseQuantity(String(text));
  return !("error" in quantity) && quantity.digits > 0n;
}, "must be positive");

const metric = always(struct({ name: required(pathSegment, "must specify a metric name"), selector: labelSelector }));

const ofResource = {
  name: required(fine, "must specify a resource name"),
  target: target(
    ["averageUtilization", "averageValue"],
    "averageUtilization",
    "must set either a target raw value or a target utilization",
    "may not set both a target raw value and a target utilization",
  ),
};

/** By the type of a metric: the field that says more, and what it says. */
const sources: Readonly<Record<string, readonly [field: string, rule: Rule]>> = {
  ContainerResource: [
    "containerResource",
    struct({ container: required(fine, "must specify a container") }, ofResource),
  ],
  External: [
    "external",
    struct({
      metric,
      target: target(
        ["value", "averageValue"],
        "averageValue",
        "must set either a target value for metric or a per-pod target",
        "may not set both a target value for metric and a per-pod target",
      ),
    }),
  ],
  Object: [
    "object",
    struct({
      metric,
      target: target(
        ["value", "averageValue"],
        "averageValue",
        "must set either a target value or averageValue",
        "may not set both a target value and averageValue",
      ),
    }),
  ],
  Pods: [
    "pods",
    struct({
      metric,
      target: target(["averageValue"], "averageValue", "must specify a positive target averageValue"),
    }),
  ],
  Resource: ["resource", struct(ofResource)],
};

const metricSource = struct(
  { type: required(oneOf(Object.keys(sources)), "must specify a metric source type") },
  (it: JsonObject, at) => {
    const { type = "" } = it as Readonly<Record<string, string>>;
    const wanted = Object.hasOwn(sources, type) ? sources[type]?.[0] : undefined;
    for (const [field, rule] of Object.values(sources)) {
      at.judge(field, it[field], rule);
      if (it[field] === undefined || wanted === undefined || field === wanted) continue;
      at.of(field).forbidden("must populate the given metric source only");
    }
    if (wanted !== undefined && it[wanted] === undefined) {
      at.of(wanted).required("must populate information for the given metric source");
    }
  },
);

const scaling = struct({
  stabilizationWindowSeconds: all(atLeast(0, "must be greater than or equal to zero"), atMost(3600)),
  selectPolicy: oneOf(["Disabled", "Max", "Min"]),
  policies: required(
    each(
      struct({
        type: always(oneOf(["Percent", "Pods"])),
        value: always(greaterThanZero),
        periodSeconds: always(all(greaterThanZero, atMost(1800))),
      }),
    ),
    "must specify at least one Policy",
  ),
});

const autoscalerRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "minReplicas");
    if (spec === undefined) return;
    spec["minReplicas"] ??= 1;
    if (((spec["metrics"] ?? []) as readonly Json[]).length === 0) {
      const target = { type: "Utilization", averageUtilization: 80 };
      spec["metrics"] = [{ type: "Resource", resource: { name: "cpu", target } }];
    }
    if (!isObject(spec["behavior"])) return;
    const behavior = ownChild(spec, "behavior");
    for (const [direction, usual] of Object.entries(usualRules)) rulesDefaults(behavior, direction, usual);
  },
  validate: fieldRules({
    spec: always(
      struct(autoscalerSpec.judge, {
        metrics: each(metricSource),
        "behavior.scaleUp": scaling,
        "behavior.scaleDown": scaling,
      }),
    ),
  }),
};

function rulesDefaults(behavior: Draft, direction: string, usual: JsonObject): void {
  const rules = ownChild(behavior, direction);
  rules["selectPolicy"] ??= "Max";
  for (const [field, value] of Object.entries(usual)) rules[field] ??= value;
}

export const horizontalPodAutoscalerV2Kind: KindRow = {
  resource: "autoscaling/v2/horizontalpodautoscalers",
  rules: autoscalerRules,
  columns: autoscalerColumns,
};
