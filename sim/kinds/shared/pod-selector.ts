/** Selectors by which controllers find the pods of their template. Source: the published validation of workloads. */
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { goStringMap, goStrings, invalidText, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { listOf } from "./fields.ts";
import { selectorCauses } from "./label-selector.ts";

/** Of a controller that must have one; `what` is how the refusal of one that selects everything calls the kind. */
export function podSelectorCauses(spec: JsonObject, what: string, causes: Cause[]): void {
  const { selector } = spec;
  const found = causes.length;
  if (!isObject(selector)) causes.push(requiredValue("spec.selector"));
  else {
    selectorCauses(selector, "spec.selector", causes);
    if (causes.length > found) return;
    emptyCauses(selector, what, causes);
  }
  matchCauses(spec, causes);
}

export function emptyCauses(selector: JsonObject, what: string, causes: Cause[]): void {
  const requirements = Object.keys((selector["matchLabels"] ?? {}) as JsonObject);
  if (requirements.length + listOf(selector, "matchExpressions").length > 0) return;
  causes.push(invalidText("spec.selector", goSelector(selector), `empty selector is invalid for ${what}`));
}

/** No selector finds nothing, an empty one finds everything. */
export function matchCauses(spec: JsonObject, causes: Cause[]): void {
  const { selector } = spec;
  const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels;
  if (isObject(selector)) {
    const parsed = parseLabelSelector(selectorText(selector));
    if (isSelectorError(parsed) || parsed.empty || parsed.matches(labels ?? {})) return;
  }
  causes.push(labelsMismatch(labels));
}

export function labelsMismatch(labels: Readonly<Record<string, string>> | undefined): Cause {
  const text = labels === undefined ? "map[string]string(nil)" : goStringMap(labels);
  return invalidText("spec.template.metadata.labels", text, "`selector` does not match template `labels`");
}

/** The step from `live`: what a controller looks after is settled for good. */
export function fixedSelectorCauses(object: JsonObject, live: JsonObject, causes: Cause[]): void {
  const after = (object["spec"] as JsonObject | undefined)?.["selector"];
  const before = (live["spec"] as JsonObject | undefined)?.["selector"];
  if (jsonEqual(after, before)) return;
  causes.push(invalidText("spec.selector", goSelector(isObject(after) ? after : {}), "field is immutable"));
}

/** A selector in Go's manner. */
export function goSelector(selector: JsonObject): string {
  const labels = selector["matchLabels"] as Readonly<Record<string, string>> | undefined;
  const map = labels === undefined ? "map[string]string(nil)" : goStringMap(labels);
  const expressions = listOf(selector, "matchExpressions").map(goRequirement);
  const list = expressions.length === 0 ? "(nil)" : `{${expressions.join(", ")}}`;
  return `v1.LabelSelector{MatchLabels:${map}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`;
}

function goRequirement({ key = "", operator = "", values }: JsonObject): string {
  const list = values === undefined ? "[]string(nil)" : goStrings(values as readonly string[]);
  return `v1.LabelSelectorRequirement{Key:${goQuote(key as string)}, Operator:${goQuote(operator as string)}, Values:${list}}`;
}
