/**
 * Jobs: pods that end. A job finds them by a selector made from its uid, unless somebody looks after that.
 * Source: the published defaults, strategy and validation of jobs.
 */
import { dns1123LabelErrors } from "../../../wire/names.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { goStringMap, invalidText, invalidValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import { fill, listOf, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem, podTemplate } from "../core/pod-template.ts";
import { goSelector, matchesTemplate } from "../shared/pod-selector.ts";
import { defaultTemplate } from "../apps/workloads.ts";
import { printer, nameColumn, column, ageColumn, conditionStatus, numberAt, at, textAt } from "../shared/printer.ts";
import { template, selectorColumn } from "../shared/columns.ts";
import { humanDuration } from "../../../wire/human-duration.ts";
import { unixSeconds } from "../../contract/times.ts";
import { hiddenVariablesAt } from "../core/pods/hidden-variables.ts";
import type { KindRow } from "../kind-row.ts";
import { countAt, nameAndNamespace } from "../shared/field-labels.ts";
import type { Place, Rule } from "../../objects/place.ts";
import {
  struct,
  oneOf,
  required,
  always,
  each,
  all,
  atMostItems,
  distinct,
  fields,
  nonNegative,
  fieldRules,
  present,
  statusFieldRules,
} from "../../objects/rules.ts";
import { qualifiedName } from "../shared/formats.ts";
import { labelSelector } from "../shared/label-selector.ts";

function jobDefaults(spec: Draft): void {
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  spec["parallelism"] ??= 1;
  if (spec["backoffLimit"] === undefined) {
    spec["backoffLimit"] = spec["backoffLimitPerIndex"] === undefined ? 6 : 2_147_483_647;
  }
  spec["completionMode"] ??= "NonIndexed";
  spec["suspend"] ??= false;
  spec["manualSelector"] ??= false;
  spec["podReplacementPolicy"] ??= spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed";
  if (isObject(spec["podFailurePolicy"])) {
    eachItem(ownChild(spec, "podFailurePolicy"), "rules", (rule) =>
      eachItem(rule, "onPodConditions", (pattern) => fill(pattern, "status", "True")),
    );
  }
  defaultTemplate(spec);
}

const ownLabels = (job: JsonObject | Draft, { labelSuffix }: Dialect): Record<string, string> => {
  const { uid = "", name = "" } = metadataOf(job);
  return {
    [`batch.${labelSuffix}/controller-uid`]: uid,
    [`batch.${labelSuffix}/job-name`]: name,
    "controller-uid": uid,
    "job-name": name,
  };
};

/** What the template says of these labels already is left for the validation to find. */
function generateSelector(draft: Draft, spec: Draft, dialect: Dialect): void {
  const own = ownLabels(draft, dialect);
  const metadata = ownChild(ownChild(spec, "template"), "metadata");
  const labels = { ...own, ...(metadata["labels"] as Record<string, string> | undefined) };
  metadata["labels"] = Object.fromEntries(
    Object.keys(labels)
      .sort()
      .map((key) => [key, labels[key] as string]),
  );
  const [uidLabel = ""] = Object.keys(own);
  const selector = ownChild(spec, "selector");
  const wanted = { [uidLabel]: own[uidLabel] as string };
  selector["matchLabels"] = { ...wanted, ...(selector["matchLabels"] as JsonObject | undefined) } as JsonObject;
}

function generated(job: JsonObject, at: Place): void {
  const spec = (job["spec"] ?? {}) as JsonObject;
  const { selector } = spec;
  if (spec["manualSelector"] === true || !isObject(selector)) return;
  const own = ownLabels(job, at.dialect);
  const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels ?? {};
  for (const key of ["controller-uid", "job-name", ...Object.keys(own).slice(0, 2)]) {
    const here = at.of("spec", "template", "metadata", "labels", [key]);
    const detail = `must be '${own[key]}'`;
    if (labels[key] === undefined) here.required(detail);
    else if (labels[key] !== own[key]) here.invalidText(goStringMap(labels), detail);
  }
  const wanted = (selector["matchLabels"] ?? {}) as Readonly<Record<string, string>>;
  if (Object.keys(wanted).every((key) => own[key] === wanted[key])) return;
  at.of("spec", "selector").invalidText(goSelector(selector), "`selector` not auto-generated");
}

const limits = { parallelism: 100_000, failedIndexes: 100_000, completions: 100_000, whenMany: 10_000 };

function indexed(spec: JsonObject, at: Place): void {
  const { completions, parallelism, maxFailedIndexes } = spec as Readonly<Record<string, number | undefined>>;
  const limit = (field: string, value: number | undefined, max: number, when = ""): void => {
    if (value !== undefined && value > max) at.of(field).invalid(value, `must be less than or equal to ${max}${when}`);
  };
  if (completions === undefined) at.of("completions").required("when completion mode is Indexed");
  limit("parallelism", parallelism, limits.parallelism, " when completion mode is Indexed");
  if (maxFailedIndexes !== undefined && completions !== undefined && maxFailedIndexes > completions) {
    at.of("maxFailedIndexes").invalid(maxFailedIndexes, "must be less than or equal to completions");
  }
  limit("maxFailedIndexes", maxFailedIndexes, limits.failedIndexes);
  if (completions === undefined || completions <= limits.completions) return;
  if (spec["backoffLimitPerIndex"] === undefined) return;
  const many = ` when completions are above ${limits.completions} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    at.of("maxFailedIndexes").required(`must be specified when completions is above ${limits.completions}`);
  }
  limit("parallelism", parallelism, limits.whenMany, many);
  limit("maxFailedIndexes", maxFailedIndexes, limits.whenMany, many);
}

const indexedOnly = (value: number, at: Place): void => at.invalid(value, "requires indexed completion mode");
const notIndexed = struct({ backoffLimitPerIndex: indexedOnly, maxFailedIndexes: indexedOnly });

const endings = oneOf(["OnFailure", "Never"]);

/** A pod that is always started again never ends. */
function restartPolicy(spec: JsonObject, at: Place): void {
  const pod = ((spec["template"] as JsonObject | undefined)?.["spec"] ?? {}) as JsonObject;
  const policy = (pod["restartPolicy"] ?? "") as string;
  const here = at.of("template", "spec", "restartPolicy");
  if (policy === "" || policy === "Always") here.required('valid values: "OnFailure", "Never"');
  else if (policy !== "Never" && spec["podFailurePolicy"] !== undefined && policy === "OnFailure") {
    here.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified');
  } else endings.judge(policy as never, here);
}

const choice = (supported: readonly string[]): Rule =>
  required(oneOf(supported), `valid values: [${supported.map((one) => `"${one}"`).join(" ")}]`);

const action = choice(["Count", "FailIndex", "FailJob", "Ignore"]);
const operatorChoice = choice(["In", "NotIn"]);
const podCondition = struct({ type: always(qualifiedName), status: choice(["False", "True", "Unknown"]) });

/** What the end of a pod means for its job. */
function failurePolicy({ podFailurePolicy, template, backoffLimitPerIndex }: JsonObject, at: Place): void {
  if (!isObject(podFailurePolicy)) return;
  const pod = ((template as JsonObject | undefined)?.["spec"] ?? {}) as JsonObject;
  const names = [...listOf(pod, "containers"), ...listOf(pod, "initContainers")].map(({ name }) => name);
  const onExitCodes = (codes: JsonObject, place: Place): void => exitCodes(codes, names, place);
  const rule = (it: JsonObject, place: Place): void => {
    if (it["action"] === "FailIndex" && backoffLimitPerIndex === undefined) {
      place.of("action").invalid("FailIndex", "requires the backoffLimitPerIndex to be set");
    } else place.judge("action", it["action"], action);
    const hasCodes = isObject(it["onExitCodes"]);
    place.judge("onExitCodes", it["onExitCodes"], onExitCodes);
    place.judge("onPodConditions", it["onPodConditions"], each(podCondition));
    if (hasCodes !== listOf(it, "onPodConditions").length > 0) return;
    const what = hasCodes
      ? "specifying both OnExitCodes and OnPodConditions is not supported"
      : "specifying one of OnExitCodes and OnPodConditions is required";
    place.causes.push({ reason: "FieldValueInvalid", message: `Invalid value: ${what}`, field: place.path });
  };
  at.judge("podFailurePolicy", podFailurePolicy, struct({ rules: all(atMostItems(20), each(rule)) }));
}

function exitCodes(codes: JsonObject, names: readonly unknown[], at: Place): void {
  const { operator, containerName } = codes;
  const list = (codes["values"] ?? []) as readonly number[];
  at.judge("operator", operator, operatorChoice);
  if (containerName !== undefined && !names.includes(containerName)) {
    const detail = "must be one of the container or initContainer names in the pod template";
    at.of("containerName").invalid(containerName, detail);
  }
  const values = at.of("values");
  const shown = list.length === 0 ? "[]int32(nil)" : `[]int32{${list.join(", ")}}`;
  if (list.length === 0) values.invalidText(shown, "at least one value is required");
  if (list.length > valuesMax) values.tooMany(list.length, valuesMax);
  values.eachItem(list, (value: number, place: Place) => {
    if (operator === "In" && value === 0) place.invalid(0, "must not be 0 for the In operator");
    distinct.judge(value as never, place);
  });
  if (list.some((value, index) => index > 0 && (list[index - 1] as number) > value)) {
    values.invalidText(shown, "must be ordered");
  }
}

const valuesMax = 255;

/** A job's, or a schedule's. */
export const jobSpec = struct(
  fields(
    ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"],
    nonNegative,
  ),
  fields(["backoffLimitPerIndex", "maxFailedIndexes"], nonNegative),
  ({ maxFailedIndexes, backoffLimitPerIndex }: JsonObject, at) => {
    if (maxFailedIndexes === undefined || backoffLimitPerIndex !== undefined) return;
    at.of("backoffLimitPerIndex").required("when maxFailedIndexes is specified");
  },
  { completionMode: oneOf(["NonIndexed", "Indexed"]) },
  (spec: JsonObject, at) => {
    const { completionMode: mode } = spec;
    if (mode === "Indexed") indexed(spec, at);
    else if (mode === undefined || mode === "NonIndexed") notIndexed.judge(spec as never, at);
  },
  failurePolicy,
  ({ podFailurePolicy, podReplacementPolicy: policy }: JsonObject, at) => {
    const supported = podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
    at.judge("podReplacementPolicy", policy, oneOf(supported));
  },
  { template: always(podTemplate) },
  restartPolicy,
);

/** Each index becomes a part of a pod's hostname. */
function hostnames(job: JsonObject, at: Place): void {
  const { completionMode, completions } = (job["spec"] ?? {}) as JsonObject;
  const count = (completions ?? 0) as number;
  if (completionMode !== "Indexed" || count <= 0) return;
  const { name = "" } = metadataOf(job);
  const longest = `${name}-${count - 1}`;
  if (dns1123LabelErrors(longest).length === 0) return;
  at.of("metadata", "name").invalid(name, `will not able to create pod with invalid DNS label: ${longest}`);
}

const fixedFields = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

/** A job that has not begun may still be sent elsewhere; an indexed one grows and shrinks as a whole. */
function jobStepCauses(spec: JsonObject, live: JsonObject, causes: Cause[]): void {
  const before = (live["spec"] ?? {}) as JsonObject;
  const fixed = "field is immutable";
  const { completions } = spec;
  if (!jsonEqual(completions, before["completions"])) {
    const isElastic = spec["completionMode"] === "Indexed" && completions !== undefined;
    if (!isElastic) causes.push(invalidValue("spec.completions", completions, fixed));
    else if (spec["parallelism"] !== completions) {
      causes.push(
        invalidValue("spec.completions", completions, "can only be modified in tandem with spec.parallelism"),
      );
    }
  }
  if (!jsonEqual(spec["selector"], before["selector"])) {
    causes.push(invalidText("spec.selector", goSelector((spec["selector"] ?? {}) as JsonObject), fixed));
  }
  const hasBegun = ((live["status"] ?? {}) as JsonObject)["startTime"] !== undefined;
  const isMovable = before["suspend"] === true && !hasBegun;
  const [now, old] = [spec, before].map((one) => placed((one["template"] ?? {}) as JsonObject, isMovable));
  if (!jsonEqual(now, old)) {
    // Simplification: the real server prints the whole template.
    causes.push(invalidText("spec.template", "core.PodTemplateSpec{}", fixed));
  }
  for (const field of fixedFields) {
    if (jsonEqual(spec[field], before[field])) continue;
    const value = spec[field];
    causes.push(
      isObject(value) ? invalidText(`spec.${field}`, "batch{}", fixed) : invalidValue(`spec.${field}`, value, fixed),
    );
  }
}

const placing = ["nodeSelector", "tolerations", "schedulingGates"];

/** The template without what says where its pods run, when that may change. */
function placed(template: JsonObject, isMovable: boolean): JsonObject {
  if (!isMovable) return template;
  const spec: Record<string, Json> = { ...((template["spec"] ?? {}) as JsonObject) };
  for (const field of placing) delete spec[field];
  const { nodeAffinity: _, ...affinity } = (spec["affinity"] ?? {}) as JsonObject;
  if (Object.keys(affinity).length === 0) delete spec["affinity"];
  else spec["affinity"] = affinity as JsonObject;
  return { spec } as JsonObject;
}

const jobRules: KindRules = {
  warnings: hiddenVariablesAt("spec", "template", "spec"),
  orphanWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or " +
    "set propagationPolicy=Orphan to suppress this warning",
  defaults(draft) {
    const spec = specToDefault(draft, "parallelism");
    if (spec === undefined) return;
    jobDefaults(spec);
    const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels;
    if (labels === undefined || Object.keys(metadataOf(draft).labels ?? {}).length > 0) return;
    ownChild(draft, "metadata")["labels"] = labels as Json;
  },
  prepareForCreate(draft, dialect) {
    const spec = ownChild(draft, "spec");
    if (spec["manualSelector"] !== true) generateSelector(draft, spec, dialect);
  },
  validate: fieldRules(
    generated,
    {
      spec: always(struct(jobSpec.judge, { selector: present(labelSelector) }, matchesTemplate)),
    },
    hostnames,
  ),
  validateUpdate: (job, live, causes) => jobStepCauses((job["spec"] ?? {}) as JsonObject, live, causes),
  validateStatus: statusFieldRules({
    status: struct(fields(["active", "succeeded", "failed", "ready", "terminating"], nonNegative)),
  }),
};

export const jobKind: KindRow = {
  resource: "batch/jobs",
  usesGeneration: true,
  propagation: "Orphan",
  rules: jobRules,
  columns: printer(
    nameColumn,
    column("Status", "How far the job is.", jobStatus),
    column("Completions", "Pods that succeeded, of those that must.", jobCompletions),
    column("Duration", "How long the job took, or has been running.", jobDuration),
    ageColumn,
    ...template,
    selectorColumn("spec.selector"),
  ),
  fieldLabels: [["status.successful", countAt("status", "succeeded")], ...nameAndNamespace],
};

function jobStatus(job: JsonObject): string {
  const isDeleted = metadataOf(job).deletionTimestamp !== undefined;
  const state = jobStates.find(([, condition]) =>
    condition === "" ? isDeleted : conditionStatus(job, condition) === "True",
  );
  return state?.[0] ?? "Running";
}

/** The first that holds names the status. */
const jobStates: readonly (readonly [status: string, condition: string])[] = [
  ["Complete", "Complete"],
  ["Failed", "Failed"],
  ["Terminating", ""], // by its deletion, not by a condition
  ["Suspended", "Suspended"],
  ["FailureTarget", "FailureTarget"],
  ["SuccessCriteriaMet", "SuccessCriteriaMet"],
];

function jobCompletions(job: JsonObject): string {
  const succeeded = numberAt(job, "status.succeeded");
  const wanted = at(job, "spec.completions");
  if (wanted !== undefined) return `${succeeded}/${String(wanted as number)}`;
  const parallelism = numberAt(job, "spec.parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, nowSeconds: number): string {
  const start = textAt(job, "status.startTime");
  if (start === "") return "";
  const end = textAt(job, "status.completionTime");
  return humanDuration((end === "" ? nowSeconds : unixSeconds(end)) - unixSeconds(start));
}
