/** Which keys a list or watch is about, and which of their objects. */
import { exactFieldValue, type LabelSelector } from "../../../wire/selectors.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Trigger } from "../cache/audience.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { checkFieldLabels, fieldMatcher } from "./field-labels.ts";
import type { ListRequest, ReadTarget } from "./types.ts";
import type { FieldValue } from "../../kinds/shared/field-labels.ts";

export interface Selection {
  /** Prefix of the collection's keys, with its final slash: what continue tokens are relative to. */
  readonly prefix: string;
  /** The keys are in [start, end). */
  readonly start: string;
  readonly end: string;
  /** True when a selector narrows the collection down to one key: such a list is not paged. */
  readonly single: boolean;
  /** Undefined when every object matches. */
  readonly matches: ((object: JsonObject) => boolean) | undefined;
  /** Values that an object is compared with, to see whether it matches. */
  readonly termCount: number;
  /** A field that the selector fixes: what a watch is found by. */
  readonly trigger: Trigger | undefined;
}

/** Throws 400 for field labels that the resource does not support. */
export function select(target: ReadTarget, request: ListRequest): Selection {
  const { namespace, options } = request;
  const { labelSelector, fieldSelector } = options;
  checkFieldLabels(fieldSelector, target.fieldLabels);
  const prefix = collectionPrefix(target, namespace);
  const name = exactFieldValue(fieldSelector, "metadata.name");
  const oneScope = !target.namespaced || namespace !== "";
  const single = name !== undefined && name !== "" && oneScope && options.continue === "";
  const start = single ? `${prefix}${name}` : prefix;
  const byField = fieldMatcher(fieldSelector, target.fieldLabels);
  const byLabel = labelMatcher(labelSelector);
  return {
    prefix,
    start,
    end: single ? `${start}\0` : prefixEnd(start),
    single,
    matches: byField === undefined || byLabel === undefined ? (byField ?? byLabel) : (it) => byLabel(it) && byField(it),
    termCount: termCountOf(labelSelector) + fieldSelector.requirements.length,
    trigger: triggerOf(target, request),
  };
}

const termCountOf = ({ requirements }: LabelSelector): number =>
  requirements.reduce((sum, { values }) => sum + 1 + values.length, 0);

/** Undefined for a selector that every object matches. */
export function labelMatcher(selector: LabelSelector): ((object: JsonObject) => boolean) | undefined {
  return selector.empty ? undefined : (object) => selector.matches(labelsOf(object));
}

/** Key of one object. */
export function keyOf(target: ReadTarget, namespace: string, name: string): string {
  return prefixOf(target, namespace) + name;
}

let lastTarget: ReadTarget | undefined;
let lastNamespace = "";
let lastPrefix = "";

/** Most requests in a row are about one collection: a text made of two pieces is read faster than one of four. */
function prefixOf(target: ReadTarget, namespace: string): string {
  if (!target.namespaced) return target.prefix;
  if (target !== lastTarget || namespace !== lastNamespace) {
    lastTarget = target;
    lastNamespace = namespace;
    lastPrefix = `${target.prefix}${namespace}/`;
  }
  return lastPrefix;
}

function collectionPrefix(target: ReadTarget, namespace: string): string {
  return target.namespaced && namespace !== "" ? `${target.prefix}${namespace}/` : target.prefix;
}

/** The name first: it fixes most. A namespace is what watches are sorted by anyway. */
function triggerOf({ fieldLabels }: ReadTarget, { options }: ListRequest): Trigger | undefined {
  const fixed = options.fieldSelector.requirements.filter(
    ({ field, operator }) => operator === "=" && field !== "metadata.namespace",
  );
  const chosen = fixed.find(({ field }) => field === "metadata.name") ?? fixed[0];
  if (chosen === undefined) return undefined;
  return { field: chosen.field, value: chosen.value, read: fieldLabels.values.get(chosen.field) as FieldValue };
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> | undefined {
  return (object["metadata"] as JsonObject | undefined)?.["labels"] as Readonly<Record<string, string>> | undefined;
}
