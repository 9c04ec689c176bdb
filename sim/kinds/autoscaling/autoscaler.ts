/** Autoscalers: what is scaled, between which numbers. Source: the published defaults and validation. */
import { pathSegmentErrors } from "../../../wire/names.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue, requiredValue } from "../../objects/causes.ts";
import { metadataOf } from "../../contract/objects.ts";
import { specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, at, textAt, unset, ageColumn, none } from "../shared/printer.ts";
import { numberOf } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

const metricsAnnotation = /^autoscaling\.alpha\.(?:svc|kubernetes)\.io\/metrics$/;

const autoscalerRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "minReplicas");
    if (spec === undefined) return;
    spec["minReplicas"] ??= 1;
    const hasMetrics = Object.keys(metadataOf(draft).annotations ?? {}).some((name) => metricsAnnotation.test(name));
    if (!hasMetrics) spec["targetCPUUtilizationPercentage"] ??= 80;
  },
  validate(autoscaler, causes) {
    const spec = (autoscaler["spec"] ?? {}) as JsonObject;
    const least = (spec["minReplicas"] ?? 1) as number;
    const most = (spec["maxReplicas"] ?? 0) as number;
    if (least < 1) causes.push(invalidValue("spec.minReplicas", least, "must be greater than or equal to 1"));
    if (most < 1) causes.push(invalidValue("spec.maxReplicas", most, "must be greater than 0"));
    if (most < least) {
      causes.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
    }
    const target = (spec["scaleTargetRef"] ?? {}) as JsonObject;
    for (const field of ["kind", "name"]) {
      const text = (target[field] ?? "") as string;
      const path = `spec.scaleTargetRef.${field}`;
      if (text === "") causes.push(requiredValue(path));
      else for (const why of pathSegmentErrors(text)) causes.push(invalidValue(path, text, why));
    }
    const share = spec["targetCPUUtilizationPercentage"] as number | undefined;
    if (share === undefined || share >= 1) return;
    // The real server names the field of its newer version.
    causes.push(invalidValue("spec.metrics[0].resource.target.averageUtilization", share, "must be greater than 0"));
  },
};

export const horizontalPodAutoscalerKind: KindRow = {
  resource: "autoscaling/horizontalpodautoscalers",
  rules: autoscalerRules,
  columns: printer(
    nameColumn,
    column("Reference", "What is scaled.", (it) => {
      const target = at(it, "spec.scaleTargetRef");
      return `${textAt(target, "kind")}/${textAt(target, "name")}`;
    }),
    column("Targets", "Measured and wanted use.", autoscalerTargets),
    column("MinPods", "Never fewer than these.", (it) => {
      const least = at(it, "spec.minReplicas");
      return least === undefined ? unset : String(least as number);
    }),
    column("MaxPods", "Never more than these.", numberOf("spec.maxReplicas")),
    column("Replicas", "Pods that there are.", numberOf("status.currentReplicas")),
    ageColumn,
  ),
};

/** Version 1 knows of processors alone. */
function autoscalerTargets(autoscaler: JsonObject): string {
  const target = at(autoscaler, "spec.targetCPUUtilizationPercentage");
  if (target === undefined) return none;
  const current = at(autoscaler, "status.currentCPUUtilizationPercentage");
  return `cpu: ${current === undefined ? "<unknown>" : `${String(current as number)}%`}/${String(target as number)}%`;
}
