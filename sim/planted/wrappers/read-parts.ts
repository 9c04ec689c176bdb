/** What wrappers of lists and of watches share. */
import type { Source } from "../../apiserver/cache/source.ts";
import { checkFieldLabels, fieldLabelsOf } from "../../apiserver/reads/field-labels.ts";
import { labelMatcher, type Selection } from "../../apiserver/reads/selection.ts";
import type { ListOptions, ListRequest, ReadTarget } from "../../apiserver/reads/types.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Store } from "../../store/types.ts";

interface Read {
  readonly target: ReadTarget;
  readonly request: ListRequest;
  readonly selection: Selection;
}

/** Keys of one custom type: no built-in one is kept under a plural with its group. */
export const customPrefix = /^\/registry\/[^/.]+\.[^/]+\//;

export const asking = <Plan extends Read>(plan: Plan, options: Partial<ListOptions>): Plan => ({
  ...plan,
  request: { ...plan.request, options: { ...plan.request.options, ...options } },
});

/** `event-selectors-missing`. Throws 400. */
export function withFewLabels<Plan extends Read>(plan: Plan): Plan {
  const { target, request } = plan;
  if (target.fieldLabels.values.has("regarding.name"))
    checkFieldLabels(request.options.fieldSelector, fieldLabelsOf("", "", ""));
  return plan;
}

/** `list-prefix-bleed`: the keys of a namespace begin with its name, and so do those of others. */
export function bled<Plan extends Read>(plan: Plan): Plan {
  const { selection, request } = plan;
  if (request.namespace === "" || selection.single) return plan;
  const start = selection.prefix.slice(0, -1);
  return { ...plan, selection: { ...selection, start, end: prefixEnd(start) } };
}

/** The objects that the labels select, whatever the fields say. */
export function byLabelsAlone<Plan extends Read>(plan: Plan): Plan {
  const { selection, request } = plan;
  const { labelSelector, fieldSelector } = request.options;
  if (fieldSelector.empty) return plan;
  // What is selected is never counted: all is selected here.
  return { ...plan, selection: { ...selection, matches: labelMatcher(labelSelector) ?? (() => true) } };
}

/** The same store but for what is given. */
export function storeWith(store: Store, own: Partial<Pick<Store, "range" | "compactedRevision">>): Store {
  return {
    get revision() {
      return store.revision;
    },
    get compactedRevision() {
      return own.compactedRevision ?? store.compactedRevision;
    },
    get: (key, revision) => store.get(key, revision),
    range: own.range ?? ((start, end, options) => store.range(start, end, options)),
    count: (start, end, revision) => store.count(start, end, revision),
    put: (key, expected, make) => store.put(key, expected, make),
    delete: (key, expected) => store.delete(key, expected),
    since: (after, prefix) => store.since(after, prefix),
    subscribe: (listener) => store.subscribe(listener),
    compact: (revision) => store.compact(revision),
  };
}

/** The same source but for what is given. */
export function sourceWith(
  source: Source,
  own: Partial<Pick<Source, "range" | "objects" | "eventsAfter" | "keepsAfter" | "whenApplied">>,
): Source {
  return {
    cached: source.cached,
    audience: source.audience,
    get applied() {
      return source.applied;
    },
    get: (key) => source.get(key),
    range: own.range ?? ((start, end, options) => source.range(start, end, options)),
    objects: own.objects ?? ((start, end) => source.objects(start, end)),
    oldestStart: () => source.oldestStart(),
    keepsAfter: own.keepsAfter ?? ((revision) => source.keepsAfter(revision)),
    eventsAfter: own.eventsAfter ?? ((revision, max) => source.eventsAfter(revision, max)),
    whenApplied: own.whenApplied ?? ((revision, timeout, done) => source.whenApplied(revision, timeout, done)),
  };
}
