/**
 * Autoscalers of version 1, which are stored in version 2's form. Version 1 has a field for the use of processors alone;
 * whatever else version 2 says stands in annotations there, as JSON in a form of their own.
 * Source: the published conversion between the two versions.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";

const annotationNames = ["metrics", "current-metrics", "conditions", "behavior"] as const;
type Annotation = (typeof annotationNames)[number];

/** What a metric's type calls the field that says more, in both versions. */
const sources: Readonly<Record<string, string>> = {
  Object: "object",
  Pods: "pods",
  Resource: "resource",
  ContainerResource: "containerResource",
  External: "external",
};

/** Wanted amounts, or measured ones. */
type Amounts = "target" | "current";

export function autoscalerForms({ labelSuffix }: Dialect): {
  toView(stored: JsonObject, apiVersion: string): JsonObject;
  toStored(object: JsonObject): JsonObject;
} {
  const prefix = `autoscaling.alpha.${labelSuffix}/`;
  return {
    toView: (stored, apiVersion) => toFirst(stored, apiVersion, prefix),
    toStored: (object) => toSecond(object, prefix),
  };
}

const itemsOf = (holder: JsonObject, field: string): readonly JsonObject[] => {
  const items = holder[field];
  return Array.isArray(items) ? (items as readonly Json[]).filter(isObject) : [];
};
const childOf = (holder: JsonObject, field: string): JsonObject => {
  const child = holder[field];
  return isObject(child) ? child : {};
};

/** Leaves out what is not there. */
const known = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

function toFirst(stored: JsonObject, apiVersion: string, prefix: string): JsonObject {
  const [spec, status] = [childOf(stored, "spec"), childOf(stored, "status")];
  const { scaleTargetRef, minReplicas, maxReplicas, behavior } = spec;
  const { observedGeneration, lastScaleTime, currentReplicas = 0, desiredReplicas, conditions } = status;
  const wanted = split(itemsOf(spec, "metrics"), "target");
  const measured = split(itemsOf(status, "currentMetrics"), "current");
  const texts: Readonly<Record<Annotation, Json | undefined>> = {
    metrics: wanted.others.length > 0 ? wanted.others : undefined,
    "current-metrics": measured.others.length > 0 ? measured.others : undefined,
    conditions: Array.isArray(conditions) && conditions.length > 0 ? conditions : undefined,
    behavior,
  };
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion,
    metadata: withAnnotations(stored, prefix, texts),
    spec: known({ scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: wanted.share }),
    status: known({
      observedGeneration,
      lastScaleTime,
      currentReplicas,
      desiredReplicas,
      currentCPUUtilizationPercentage: measured.share,
    }),
  };
}

function withAnnotations(
  object: JsonObject,
  prefix: string,
  texts: Readonly<Record<Annotation, Json | undefined>>,
): JsonObject {
  const { annotations = {}, ...metadata } = (object["metadata"] ?? {}) as JsonObject & {
    readonly annotations?: JsonObject;
  };
  const own = Object.entries(annotations).filter(([name]) => !isOurs(name, prefix));
  const added = annotationNames.flatMap((name) =>
    texts[name] === undefined ? [] : [[`${prefix}${name}`, JSON.stringify(texts[name])] as const],
  );
  const all = [...own, ...added].sort(([one], [other]) => (one < other ? -1 : 1));
  return all.length === 0 ? metadata : inPlace(object, Object.fromEntries(all) as JsonObject);
}

/** With these annotations, at the place where metadata has them. */
function inPlace(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = (object["metadata"] ?? {}) as JsonObject;
  if (metadata["annotations"] !== undefined) return { ...metadata, annotations };
  const { ownerReferences, finalizers, managedFields, ...before } = metadata;
  return { ...before, annotations, ...known({ ownerReferences, finalizers, managedFields }) };
}

const isOurs = (name: string, prefix: string): boolean =>
  name.startsWith(prefix) && (annotationNames as readonly string[]).includes(name.slice(prefix.length));

/** The first share of processors, and all other metrics in the annotations' form. */
function split(
  metrics: readonly JsonObject[],
  amounts: Amounts,
): { readonly share: Json | undefined; readonly others: Json[] } {
  const ofProcessors = metrics.find((metric) => shareOf(metric, amounts) !== undefined);
  return {
    share: ofProcessors === undefined ? undefined : shareOf(ofProcessors, amounts),
    others: metrics.filter((metric) => metric !== ofProcessors).map((metric) => inAnnotation(metric, amounts)),
  };
}

function shareOf(metric: JsonObject, amounts: Amounts): Json | undefined {
  const resource = childOf(metric, "resource");
  if (metric["type"] !== "Resource" || resource["name"] !== "cpu") return undefined;
  return childOf(resource, amounts)["averageUtilization"];
}

function inAnnotation(metric: JsonObject, amounts: Amounts): JsonObject {
  const type = metric["type"] as string;
  const field = sources[type];
  if (field === undefined) return { type };
  const source = childOf(metric, field);
  const { name: metricName, selector } = childOf(source, "metric");
  const { value, averageValue, averageUtilization } = childOf(source, amounts);
  const average = { [`${amounts}AverageValue`]: averageValue };
  const forms: Readonly<Record<string, Readonly<Record<string, Json | undefined>>>> = {
    object: {
      target: source["describedObject"],
      metricName,
      [`${amounts}Value`]: value ?? "0",
      selector,
      averageValue,
    },
    pods: { metricName, ...average, selector },
    resource: { name: source["name"], [`${amounts}AverageUtilization`]: averageUtilization, ...average },
    containerResource: {
      name: source["name"],
      [`${amounts}AverageUtilization`]: averageUtilization,
      ...average,
      container: source["container"],
    },
    external: { metricName, metricSelector: selector, [`${amounts}Value`]: value, ...average },
  };
  return { type, [field]: known(forms[field] as Readonly<Record<string, Json | undefined>>) };
}

function toSecond(object: JsonObject, prefix: string): JsonObject {
  const { targetCPUUtilizationPercentage: wanted, scaleTargetRef, minReplicas, maxReplicas } = childOf(object, "spec");
  const status = childOf(object, "status");
  const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = status;
  const annotations = metadataOf(object).annotations ?? {};
  const said = (name: Annotation): unknown => parsed(annotations[`${prefix}${name}`]);
  const metrics = [...ofProcessors(wanted, "target"), ...fromAnnotation(said("metrics"), "target")];
  const currentMetrics = [
    ...ofProcessors(status["currentCPUUtilizationPercentage"], "current"),
    ...fromAnnotation(said("current-metrics"), "current"),
  ];
  const conditions = said("conditions");
  const behavior = said("behavior");
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(object, prefix, {
      metrics: undefined,
      "current-metrics": undefined,
      conditions: undefined,
      behavior: undefined,
    }),
    spec: known({
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics: metrics.length > 0 ? metrics : undefined,
      behavior: isObject(behavior as Json) ? behaviorOf(behavior as JsonObject) : undefined,
    }),
    status: known({
      observedGeneration,
      lastScaleTime,
      currentReplicas: currentReplicas === 0 ? undefined : currentReplicas,
      desiredReplicas,
      currentMetrics: currentMetrics.length > 0 ? currentMetrics : null,
      conditions: Array.isArray(conditions)
        ? (conditions as readonly Json[]).filter(isObject).map((condition) => textsOf(condition, conditionFields))
        : undefined,
    }),
  };
}

/** Of an annotation that anybody may have written: undefined for what is no JSON. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function ofProcessors(share: Json | undefined, amounts: Amounts): JsonObject[] {
  if (share === undefined) return [];
  const amount =
    amounts === "target" ? { type: "Utilization", averageUtilization: share } : { averageUtilization: share };
  return [{ type: "Resource", resource: { name: "cpu", [amounts]: amount } }];
}

/** What does not have the annotation's form is left out: it was never judged. */
function fromAnnotation(list: unknown, amounts: Amounts): JsonObject[] {
  if (!Array.isArray(list)) return [];
  return (list as readonly Json[]).filter(isObject).flatMap((metric) => {
    const { type } = metric;
    const field = typeof type === "string" && Object.hasOwn(sources, type) ? (sources[type] as string) : undefined;
    if (field === undefined || !isObject(metric[field])) return [];
    return [{ type: type as string, [field]: sourceOf(field, metric[field], amounts) }];
  });
}

function sourceOf(field: string, said: JsonObject, amounts: Amounts): JsonObject {
  const text = (name: string): string | undefined => {
    const value = said[name];
    return typeof value === "string" ? value : undefined;
  };
  const share = said[`${amounts}AverageUtilization`];
  const amount = known({
    value: text(`${amounts}Value`),
    averageValue: text(field === "object" ? "averageValue" : `${amounts}AverageValue`),
    averageUtilization: typeof share === "number" ? share : undefined,
  });
  const way =
    amount["averageUtilization"] !== undefined
      ? "Utilization"
      : amount["averageValue"] !== undefined
        ? "AverageValue"
        : "Value";
  const measure = { [amounts]: amounts === "target" ? { type: way, ...amount } : amount };
  if (field === "resource") return { name: text("name") ?? "", ...measure };
  if (field === "containerResource")
    return { container: text("container") ?? "", name: text("name") ?? "", ...measure };
  const selector = said[field === "external" ? "metricSelector" : "selector"];
  const metric = known({
    name: text("metricName") ?? "",
    selector: isObject(selector) ? selectorOf(selector) : undefined,
  });
  if (field !== "object") return { metric, ...measure };
  const target = childOf(said, "target");
  return { describedObject: textsOf(target, ["kind", "name", "apiVersion"]), ...measure, metric };
}

const conditionFields = ["type", "status", "lastTransitionTime", "reason", "message"];

const textsOf = (holder: JsonObject, fields: readonly string[]): JsonObject =>
  known(
    Object.fromEntries(fields.map((field) => [field, typeof holder[field] === "string" ? holder[field] : undefined])),
  );

function selectorOf(selector: JsonObject): JsonObject {
  const labels = childOf(selector, "matchLabels");
  const expressions = itemsOf(selector, "matchExpressions").map((each) => ({
    ...textsOf(each, ["key", "operator"]),
    ...(Array.isArray(each["values"]) ? { values: (each["values"] as readonly Json[]).filter(isText) } : {}),
  }));
  return known({
    matchLabels: Object.keys(labels).length > 0 ? textsOf(labels, Object.keys(labels)) : undefined,
    matchExpressions: expressions.length > 0 ? expressions : undefined,
  });
}

const isText = (value: Json): value is string => typeof value === "string";

function behaviorOf(said: JsonObject): JsonObject {
  const rules = (direction: string): JsonObject | undefined => {
    const given = said[direction];
    if (!isObject(given)) return undefined;
    const window = given["stabilizationWindowSeconds"];
    const policies = itemsOf(given, "policies").map(({ type, value, periodSeconds }) =>
      known({
        type: typeof type === "string" ? type : "",
        value: typeof value === "number" ? value : 0,
        periodSeconds: typeof periodSeconds === "number" ? periodSeconds : 0,
      }),
    );
    return known({
      stabilizationWindowSeconds: typeof window === "number" ? window : undefined,
      ...textsOf(given, ["selectPolicy"]),
      policies: policies.length > 0 ? policies : undefined,
      ...textsOf(given, ["tolerance"]),
    });
  };
  return known({ scaleUp: rules("scaleUp"), scaleDown: rules("scaleDown") });
}
