/** Selectors by which controllers find the pods of their template. Source: the published validation of workloads. */
import { append } from "../../../wire/lists.ts";
import {
  compileLabelSelector,
  isSelectorError,
  type LabelRequirement,
  type LabelSelector,
  labelSelectorPart,
  type SelectorError,
} from "../../../wire/selectors.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { goStringMap, goStrings } from "../../objects/causes.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { listOf } from "./fields.ts";
import { paced } from "../../expressions/pace.ts";
import type { Check, Place } from "../../objects/place.ts";
import { labelSelector } from "./label-selector.ts";
import { stepRules, immutableAs } from "../../objects/rules.ts";

/** Of a controller that must have one; `what` is how the refusal of one that selects everything calls the kind. */
export const podSelector = (what: string): Check => {
  const notEmpty = selectsSome(what);
  return (spec: JsonObject, at: Place) => {
    const { selector } = spec;
    if (isObject(selector)) {
      if (!at.judge("selector", selector, labelSelector)) return;
      notEmpty(spec, at);
    } else at.of("selector").required();
    matchesTemplate(spec, at);
  };
};

export const selectsSome =
  (what: string) =>
  ({ selector }: JsonObject, at: Place): void => {
    if (!isObject(selector)) return;
    const labels = Object.keys((selector["matchLabels"] ?? {}) as JsonObject);
    if (labels.length + listOf(selector, "matchExpressions").length > 0) return;
    at.of("selector").invalidText(goSelector(selector), `empty selector is invalid for ${what}`);
  };

/** No selector finds nothing, an empty one finds everything. */
export function matchesTemplate({ selector, template }: JsonObject, at: Place): void {
  const { labels } = metadataOf((template ?? {}) as JsonObject);
  if (isObject(selector)) {
    const parsed = readInParts(selector);
    if (isSelectorError(parsed) || parsed.empty || parsed.matches(labels ?? {})) return;
  }
  labelsMismatch(labels, at);
}

/** As `parseLabelSelector` reads it; of many requirements some at a time. */
function readInParts(selector: JsonObject): LabelSelector | SelectorError {
  const cost = costOf(selector);
  const text = paced(() => selectorText(selector), cost);
  const requirements: LabelRequirement[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const at: number = from;
    const part = paced(() => labelSelectorPart(text, at, partLength), partCost);
    if (isSelectorError(part)) return part;
    append(requirements, part.requirements);
    from = part.next;
  }
  return paced(() => compileLabelSelector(requirements), cost);
}

/** Requirements that are read at a time. */
const partLength = 64;
/** Of a requirement that is put into words, read or looked at, by the measure of expressions (`pace.ts`). */
const requirementCost = 25;
const partCost = (): number => requirementCost * partLength;

const costOf = (selector: JsonObject) => (): number => {
  const labels = Object.keys((selector["matchLabels"] ?? {}) as JsonObject);
  return requirementCost * (labels.length + listOf(selector, "matchExpressions").length);
};

export function labelsMismatch(labels: Readonly<Record<string, string>> | undefined, at: Place): void {
  const text = labels === undefined ? "map[string]string(nil)" : goStringMap(labels);
  at.of("template", "metadata", "labels").invalidText(text, "`selector` does not match template `labels`");
}

/** What a controller looks after is settled for good. */
export const fixedSelector = stepRules({
  "spec.selector": immutableAs((selector) => shownInPart(isObject(selector) ? selector : {})),
});

const shownInPart = (selector: JsonObject): string => paced(() => goSelector(selector), costOf(selector));

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
