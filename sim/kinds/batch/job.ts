/**
 * Jobs: pods that end. A job finds them by a selector made from its uid, unless somebody looks after that.
 * Source: the published defaults, strategy and validation of jobs.
 */
import { dns1123LabelErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  goStringMap,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooManyItems,
  unsupportedValue,
} from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import { fill, listOf, nonNegativeCauses, repetition, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { eachItem, templateCauses } from "../core/pod-template.ts";
import { goSelector, matchCauses } from "../shared/pod-selector.ts";
import { defaultTemplate } from "../apps/workloads.ts";
import { printer, nameColumn, column, ageColumn, conditionStatus, numberAt, at, textAt } from "../shared/printer.ts";
import { template, selectorColumn } from "../shared/columns.ts";
import { humanDuration } from "../../../wire/human-duration.ts";
import { unixSeconds } from "../../contract/times.ts";
import { hiddenVariablesAt } from "../core/pods/hidden-variables.ts";
import type { KindRow } from "../kind-row.ts";
import { countAt, nameAndNamespace } from "../shared/field-labels.ts";

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
  validate(job, causes, dialect) {
    const spec = (job["spec"] ?? {}) as JsonObject;
    generatedCauses(job, spec, dialect, causes);
    jobSpecCauses(spec, "spec", causes);
    const { selector } = spec;
    if (isObject(selector)) selectorCauses(selector, "spec.selector", causes);
    else causes.push(requiredValue("spec.selector"));
    matchCauses(spec, causes);
    hostnameCauses(metadataOf(job).name ?? "", spec, causes);
  },
  validateUpdate(job, live, causes) {
    jobStepCauses((job["spec"] ?? {}) as JsonObject, live, causes);
  },
  validateStatus(job, _live, causes) {
    const counts = ["active", "succeeded", "failed", "ready", "terminating"];
    nonNegativeCauses((job["status"] ?? {}) as JsonObject, counts, "status", causes);
  },
};

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

function generatedCauses(job: JsonObject, spec: JsonObject, dialect: Dialect, causes: Cause[]): void {
  const { selector } = spec;
  if (spec["manualSelector"] === true || !isObject(selector)) return;
  const own = ownLabels(job, dialect);
  const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels ?? {};
  for (const key of ["controller-uid", "job-name", ...Object.keys(own).slice(0, 2)]) {
    const path = `spec.template.metadata.labels[${key}]`;
    const detail = `must be '${own[key]}'`;
    if (labels[key] === undefined) causes.push(requiredValue(path, detail));
    else if (labels[key] !== own[key]) causes.push(invalidText(path, goStringMap(labels), detail));
  }
  const wanted = (selector["matchLabels"] ?? {}) as Readonly<Record<string, string>>;
  if (Object.keys(wanted).every((key) => own[key] === wanted[key])) return;
  causes.push(invalidText("spec.selector", goSelector(selector), "`selector` not auto-generated"));
}

const limits = { parallelism: 100_000, failedIndexes: 100_000, completions: 100_000, whenMany: 10_000 };

/** `path` is that of the job's spec, which may be a schedule's. */
export function jobSpecCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
  nonNegativeCauses(spec, [...counts, "backoffLimitPerIndex", "maxFailedIndexes"], path, causes);
  if (spec["maxFailedIndexes"] !== undefined && spec["backoffLimitPerIndex"] === undefined) {
    causes.push(requiredValue(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  const { completionMode: mode } = spec;
  const modes = ["NonIndexed", "Indexed"];
  if (mode !== undefined && !modes.includes(mode as string)) {
    causes.push(unsupportedValue(`${path}.completionMode`, mode, modes));
  }
  if (mode === "Indexed") indexedCauses(spec, path, causes);
  else if (mode === undefined || mode === "NonIndexed") {
    for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      if (spec[field] === undefined) continue;
      causes.push(invalidValue(`${path}.${field}`, spec[field], "requires indexed completion mode"));
    }
  }
  const template = (spec["template"] ?? {}) as JsonObject;
  if (isObject(spec["podFailurePolicy"])) failureCauses(spec, template, `${path}.podFailurePolicy.rules`, causes);
  replacementCauses(spec, `${path}.podReplacementPolicy`, causes);
  templateCauses(template, `${path}.template`, causes);
  restartCauses(spec, (template["spec"] ?? {}) as JsonObject, `${path}.template.spec.restartPolicy`, causes);
}

function indexedCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const { completions, parallelism, maxFailedIndexes } = spec as Readonly<Record<string, number | undefined>>;
  const tooMany = (field: string, value: number, max: number | string, when = ""): number =>
    causes.push(invalidValue(`${path}.${field}`, value, `must be less than or equal to ${max}${when}`));
  if (completions === undefined) {
    causes.push(requiredValue(`${path}.completions`, "when completion mode is Indexed"));
  }
  if (parallelism !== undefined && parallelism > limits.parallelism) {
    tooMany("parallelism", parallelism, limits.parallelism, " when completion mode is Indexed");
  }
  if (maxFailedIndexes !== undefined) {
    if (completions !== undefined && maxFailedIndexes > completions) {
      tooMany("maxFailedIndexes", maxFailedIndexes, "completions");
    }
    if (maxFailedIndexes > limits.failedIndexes) tooMany("maxFailedIndexes", maxFailedIndexes, limits.failedIndexes);
  }
  if (completions === undefined || completions <= limits.completions) return;
  if (spec["backoffLimitPerIndex"] === undefined) return;
  const many = ` when completions are above ${limits.completions} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    const detail = `must be specified when completions is above ${limits.completions}`;
    causes.push(requiredValue(`${path}.maxFailedIndexes`, detail));
  }
  if ((parallelism ?? 0) > limits.whenMany) tooMany("parallelism", parallelism as number, limits.whenMany, many);
  if ((maxFailedIndexes ?? 0) > limits.whenMany) {
    tooMany("maxFailedIndexes", maxFailedIndexes as number, limits.whenMany, many);
  }
}

function replacementCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const policy = spec["podReplacementPolicy"];
  const supported = spec["podFailurePolicy"] === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  if (policy !== undefined && !supported.includes(policy as string)) {
    causes.push(unsupportedValue(path, policy, supported));
  }
}

/** A pod that is always started again never ends. */
function restartCauses(spec: JsonObject, pod: JsonObject, path: string, causes: Cause[]): void {
  const policy = (pod["restartPolicy"] ?? "") as string;
  if (policy === "" || policy === "Always") {
    causes.push(requiredValue(path, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== "OnFailure" && policy !== "Never") {
    causes.push(unsupportedValue(path, policy, ["OnFailure", "Never"]));
  } else if (spec["podFailurePolicy"] !== undefined && policy !== "Never") {
    const detail = 'only "Never" is supported when podFailurePolicy is specified';
    causes.push(invalidValue(path, policy, detail));
  }
}

const rulesMax = 20;
const valuesMax = 255;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];

const validValues = (values: readonly string[]): string =>
  `valid values: [${values.map((one) => `"${one}"`).join(" ")}]`;

function choiceCauses(value: Json | undefined, supported: readonly string[], path: string, causes: Cause[]): void {
  if ((value ?? "") === "") causes.push(requiredValue(path, validValues(supported)));
  else if (!supported.includes(value as string)) causes.push(unsupportedValue(path, value, supported));
}

/** What the end of a pod means for its job. */
function failureCauses(spec: JsonObject, template: JsonObject, path: string, causes: Cause[]): void {
  const rules = listOf(spec["podFailurePolicy"] as JsonObject, "rules");
  if (rules.length > rulesMax) causes.push(tooManyItems(path, rules.length, rulesMax));
  const pod = (template["spec"] ?? {}) as JsonObject;
  const names = [...listOf(pod, "containers"), ...listOf(pod, "initContainers")].map(({ name }) => name);
  rules.forEach((rule, at) => {
    const here = `${path}[${at}]`;
    if (rule["action"] === "FailIndex" && spec["backoffLimitPerIndex"] === undefined) {
      causes.push(invalidValue(`${here}.action`, "FailIndex", "requires the backoffLimitPerIndex to be set"));
    } else choiceCauses(rule["action"], actions, `${here}.action`, causes);
    const { onExitCodes: codes } = rule;
    const conditions = listOf(rule, "onPodConditions");
    if (isObject(codes)) exitCodeCauses(codes, names, `${here}.onExitCodes`, causes);
    conditions.forEach((pattern, index) => {
      const place = `${here}.onPodConditions[${index}]`;
      const type = (pattern["type"] ?? "") as string;
      pushInvalid(`${place}.type`, type, qualifiedNameErrors(type), causes);
      choiceCauses(pattern["status"], ["False", "True", "Unknown"], `${place}.status`, causes);
    });
    if (isObject(codes) === conditions.length > 0) {
      const what = isObject(codes)
        ? "specifying both OnExitCodes and OnPodConditions is not supported"
        : "specifying one of OnExitCodes and OnPodConditions is required";
      causes.push({ reason: "FieldValueInvalid", message: `Invalid value: ${what}`, field: here });
    }
  });
}

function exitCodeCauses(codes: JsonObject, names: readonly unknown[], path: string, causes: Cause[]): void {
  const { operator, containerName } = codes;
  const values = (codes["values"] ?? []) as readonly number[];
  choiceCauses(operator, ["In", "NotIn"], `${path}.operator`, causes);
  if (containerName !== undefined && !names.includes(containerName)) {
    const detail = "must be one of the container or initContainer names in the pod template";
    causes.push(invalidValue(`${path}.containerName`, containerName, detail));
  }
  const shown = values.length === 0 ? "[]int32(nil)" : `[]int32{${values.join(", ")}}`;
  if (values.length === 0) causes.push(invalidText(`${path}.values`, shown, "at least one value is required"));
  if (values.length > valuesMax) causes.push(tooManyItems(`${path}.values`, values.length, valuesMax));
  const isAgain = repetition();
  values.forEach((value, at) => {
    const here = `${path}.values[${at}]`;
    if (operator === "In" && value === 0) causes.push(invalidValue(here, 0, "must not be 0 for the In operator"));
    if (isAgain(value)) causes.push(duplicateValue(here, value));
  });
  if (values.some((value, at) => at > 0 && (values[at - 1] as number) > value)) {
    causes.push(invalidText(`${path}.values`, shown, "must be ordered"));
  }
}

/** Each index becomes a part of a pod's hostname. */
function hostnameCauses(name: string, spec: JsonObject, causes: Cause[]): void {
  const completions = (spec["completions"] ?? 0) as number;
  if (spec["completionMode"] !== "Indexed" || completions <= 0) return;
  const longest = `${name}-${completions - 1}`;
  if (dns1123LabelErrors(longest).length === 0) return;
  const detail = `will not able to create pod with invalid DNS label: ${longest}`;
  causes.push(invalidValue("metadata.name", name, detail));
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
