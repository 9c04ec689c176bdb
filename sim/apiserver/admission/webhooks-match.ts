/**
 * Which requests a webhook wants to hear of, or a policy is for: by operation, group, version, resource, scope, and the
 * labels of the object and of its namespace.
 *
 * Under `matchPolicy: Equivalent` rules for other versions of the same resource count as well, and the webhook or the
 * policy is then shown the request in that version.
 * Source: the published webhook rules and matchers.
 */
import { isSelectorError, type LabelSelector, parseLabelSelector } from "../../../wire/selectors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { spend } from "../../expressions/pace.ts";
import { metadataOf } from "../../contract/objects.ts";
import { selectorText } from "../../objects/selector-text.ts";
import type { ResourcePlace } from "../requests/route.ts";
import type { AdmissionReview } from "./admission.ts";
import type { Equivalent } from "./equivalents.ts";

export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
  /** Of policies: none stands for all. */
  readonly resourceNames?: readonly string[];
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly url?: string; readonly service?: JsonObject; readonly caBundle?: string };
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: JsonObject;
  readonly objectSelector?: JsonObject;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  readonly matchConditions?: readonly JsonObject[];
}

/** What decides about a request. */
export type Wants = Pick<Webhook, "rules" | "matchPolicy" | "namespaceSelector" | "objectSelector">;

/** A namespace as it is now; undefined when there is none. */
export type NamespaceLookup = (name: string) => JsonObject | undefined;

/** The versions of a request's resource beside its own. */
export type EquivalentLookup = (place: ResourcePlace) => readonly Equivalent[];

/** Where what a request is held against is looked up. */
export interface Lookups {
  readonly namespaceOf: NamespaceLookup;
  readonly equivalentsOf: EquivalentLookup;
}

/** The same for one request, each thing looked up once: a judgement that is made again must find what it found before. */
export function lookedUpOnce({ namespaceOf, equivalentsOf }: Lookups): Lookups {
  return { namespaceOf: once(namespaceOf, (name) => name), equivalentsOf: once(equivalentsOf, ({ row }) => row) };
}

/** A function that keeps what it has returned, by `keyOf` what it was given. */
export function once<Of extends readonly unknown[], Found>(
  find: (...of: Of) => Found,
  keyOf: (...of: Of) => unknown,
): (...of: Of) => Found {
  const known = new Map<unknown, Found>();
  return (...of) => {
    const key = keyOf(...of);
    if (!known.has(key)) known.set(key, find(...of));
    return known.get(key) as Found;
  };
}

/** As it is, or else in the first version that a rule names; undefined when the webhook wants neither. */
export function wantedForm(
  webhook: Wants,
  review: AdmissionReview,
  namespaceOf: NamespaceLookup,
  equivalentsOf: EquivalentLookup,
): "as asked" | Equivalent | undefined {
  const isExact = anyRule(webhook, review);
  const form =
    isExact || webhook.matchPolicy === "Exact"
      ? undefined
      : equivalentsOf(review.place).find(({ place }) => anyRule(webhook, { ...review, place }));
  if (!isExact && form === undefined) return undefined;
  return selectorsMatch(webhook, review, namespaceOf) ? (form ?? "as asked") : undefined;
}

const anyRule = ({ rules = [] }: Wants, review: AdmissionReview): boolean =>
  rules.some((rule) => ruleMatches(rule, review));

const selectorsMatch = (webhook: Wants, review: AdmissionReview, namespaceOf: NamespaceLookup): boolean =>
  namespaceMatches(webhook, review, namespaceOf) && objectMatches(webhook, review);

function ruleMatches(rule: WebhookRule, { operation, place, namespace, name }: AdmissionReview): boolean {
  const { row, resourceName, subresource } = place;
  const { resourceNames } = rule;
  return (
    (resourceNames === undefined || resourceNames.length === 0 || resourceNames.includes(name)) &&
    listed(rule.operations, operation) &&
    listed(rule.apiGroups, resourceName.group) &&
    listed(rule.apiVersions, row.version) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, row.resource, subresource?.subresource ?? "")) &&
    scopeMatches(rule.scope ?? "*", row.namespaced && namespace !== "")
  );
}

const listed = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes("*") || list.includes(value));

/** `pods`, `pods/status`, `pods/*`, `*` (no subresource), or of every resource (`*`) one subresource or all. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const [wantedResource, wantedSubresource = ""] = pattern.split("/");
  return (
    (wantedResource === "*" || wantedResource === resource) &&
    (wantedSubresource === "*" || wantedSubresource === subresource)
  );
}

function scopeMatches(scope: string, isNamespaced: boolean): boolean {
  return scope === "*" || (scope === "Namespaced") === isNamespaced;
}

const everywhere: JsonObject = {};

/** A namespace is judged by its own labels; what lies in none is not judged. */
function namespaceMatches(
  { namespaceSelector = everywhere }: Wants,
  review: AdmissionReview,
  namespaceOf: NamespaceLookup,
): boolean {
  const selector = selectorOf(namespaceSelector);
  if (selector.empty) return true;
  const { place, namespace, operation, object, oldObject } = review;
  const isNamespace = place.row.resource === "namespaces" && place.row.group === "";
  if (isNamespace && operation !== "DELETE") return selector.matches(metadataOf(object ?? {}).labels);
  if (isNamespace) return selector.matches(metadataOf(oldObject ?? {}).labels);
  return namespace === "" || selector.matches(metadataOf(namespaceOf(namespace) ?? {}).labels);
}

/** The object after or before the write; either is enough. */
function objectMatches({ objectSelector = everywhere }: Wants, { object, oldObject }: AdmissionReview): boolean {
  const selector = selectorOf(objectSelector);
  if (selector.empty) return true;
  return [object, oldObject].some((one) => one !== undefined && selector.matches(metadataOf(one).labels));
}

const nothing: LabelSelector = { requirements: [], empty: false, matches: () => false };

/** Of what is stored, and so never changes. */
const selectors = new WeakMap<JsonObject, LabelSelector>();

/** Stored selectors are valid; one that is not, from before it was judged, matches nothing. A judgement may be broken off before one is read. */
export function selectorOf(selector: JsonObject): LabelSelector {
  let found = selectors.get(selector);
  if (found === undefined) {
    spend(costOfTerm * sizeOf(selector));
    const parsed = parseLabelSelector(selectorText(selector));
    selectors.set(selector, (found = isSelectorError(parsed) ? nothing : parsed));
  }
  return found;
}

/** To read a key or a value takes as long as so many steps of an expression. */
const costOfTerm = 8;

/** Keys and values. */
function sizeOf({ matchLabels = {}, matchExpressions = [] }: JsonObject): number {
  let size = Object.keys(matchLabels as JsonObject).length;
  for (const { values = [] } of matchExpressions as readonly JsonObject[])
    size += 1 + (values as readonly Json[]).length;
  return size;
}
