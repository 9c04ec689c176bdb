/** Autoscalers: what is scaled, between which numbers. Source: the published defaults and validation. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import {
  printer,
  type Printer,
  nameColumn,
  column,
  at,
  listAt,
  textAt,
  unset,
  ageColumn,
  none,
} from "../shared/printer.ts";
import { numberOf } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { struct, atLeast, always, required, called, fieldRules } from "../../objects/rules.ts";
import { pathSegment } from "../shared/formats.ts";

const metricsAnnotation = /^autoscaling\.alpha\.(?:svc|kubernetes)\.io\/metrics$/;

/** Between how many pods it may choose, and what is scaled. */
export const autoscalerSpec = struct(
  { minReplicas: atLeast(1), maxReplicas: always(atLeast(1, "must be greater than 0")) },
  ({ minReplicas = 1, maxReplicas = 0 }: Readonly<Record<string, number>>, at) => {
    if (maxReplicas >= minReplicas) return;
    at.of("maxReplicas").invalid(maxReplicas, "must be greater than or equal to `minReplicas`");
  },
  { scaleTargetRef: always(struct({ kind: required(pathSegment), name: required(pathSegment) })) },
);

/** The real server calls the share as its newer version does. */
const share = called("metrics[0].resource.target.averageUtilization", atLeast(1, "must be greater than 0"));

const autoscalerRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "minReplicas");
    if (spec === undefined) return;
    spec["minReplicas"] ??= 1;
    const hasMetrics = Object.keys(metadataOf(draft).annotations ?? {}).some((name) => metricsAnnotation.test(name));
    if (!hasMetrics) spec["targetCPUUtilizationPercentage"] ??= 80;
  },
  validate: fieldRules({
    spec: always(struct(autoscalerSpec.judge, { targetCPUUtilizationPercentage: share })),
  }),
};

/** Of both versions. */
export const autoscalerColumns: Printer = printer(
  nameColumn,
  column("Reference", "What is scaled.", (it) => {
    const target = at(it, "spec.scaleTargetRef");
    return `${textAt(target, "kind")}/${textAt(target, "name")}`;
  }),
  column("Targets", "Measured and wanted use.", targetsText),
  column("MinPods", "Never fewer than these.", (it) => {
    const least = at(it, "spec.minReplicas");
    return least === undefined ? unset : String(least as number);
  }),
  column("MaxPods", "Never more than these.", numberOf("spec.maxReplicas")),
  column("Replicas", "Pods that there are.", numberOf("status.currentReplicas")),
  ageColumn,
);

export const horizontalPodAutoscalerKind: KindRow = {
  resource: "autoscaling/horizontalpodautoscalers",
  rules: autoscalerRules,
  columns: autoscalerColumns,
};

const targetsShown = 2;

/** Version 1 knows of processors alone. */
function targetsText(autoscaler: JsonObject): string {
  const share = at(autoscaler, "spec.targetCPUUtilizationPercentage");
  if (share !== undefined) {
    return `cpu: ${percent(at(autoscaler, "status.currentCPUUtilizationPercentage"))}/${percent(share)}`;
  }
  const metrics = listAt(autoscaler, "spec.metrics");
  const current = listAt(autoscaler, "status.currentMetrics");
  const texts = metrics.slice(0, targetsShown).map((metric, index) => metricText(metric, current[index]));
  const more = metrics.length - texts.length;
  return texts.length === 0 ? none : `${texts.join(", ")}${more > 0 ? ` + ${more} more...` : ""}`;
}

const percent = (value: Json | undefined): string =>
  value === undefined ? "<unknown>" : `${String(value as number)}%`;
const amount = (value: Json | undefined): string => (value === undefined ? "<unknown>" : String(value as string));

/** How much there is, and how much is wanted. */
function metricText(metric: JsonObject, current: JsonObject | undefined): string {
  const type = textAt(metric, "type");
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const [wanted, now] = [at(metric, `${field}.target`), at(current, `${field}.current`)];
  const share = at(wanted, "averageUtilization");
  const name = textAt(metric, `${field}.name`);
  const label = name === "" ? "" : `${name}: `;
  if (share !== undefined) return `${label}${percent(at(now, "averageUtilization"))}/${percent(share)}`;
  const average = at(wanted, "averageValue");
  if (average === undefined) return `${label}${amount(at(now, "value"))}/${amount(at(wanted, "value"))}`;
  return `${label}${amount(at(now, "averageValue"))}/${amount(average)}${name === "" && type !== "Pods" ? " (avg)" : ""}`;
}
