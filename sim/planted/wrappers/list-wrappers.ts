/** Planted bugs of lists: each makes of what is known of a list, before it begins, what the server takes it for. */
import { decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import { largest } from "../../../wire/lists.ts";
import { decodeContinue, encodeContinue } from "../../apiserver/reads/continue-token.ts";
import type { ListPlan } from "../../apiserver/reads/list-plan.ts";
import { candidatesMax, type Reader } from "../../apiserver/reads/page.ts";
import type { ListResult } from "../../apiserver/reads/types.ts";
import { parseVersion, versionProblem } from "../../apiserver/reads/versions.ts";
import { unmapped } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Cancel, Process } from "../../kernel/types.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { RangeResult, Store } from "../../store/types.ts";
import { NotedHead } from "../commit-order.ts";
import { byRevision, remnant } from "./spoiled-ranges.ts";
import { asking, bled, byLabelsAlone, customPrefix, sourceWith, storeWith, withFewLabels } from "./read-parts.ts";

const encoder = new TextEncoder();

/** May throw an `ApiError`. */
export type ListWrapper = (plan: ListPlan) => ListPlan;

export const listWrappers = {
  "event-selectors-missing": withFewLabels,
  "list-prefix-bleed": bled,
  "later-pages-forget-fields": (plan) => (isLater(plan) ? byLabelsAlone(plan) : plan),
  "uncached-any-list-unselected"(plan) {
    const { source, request, selection } = plan;
    const isOfAny = !source.cached && request.options.resourceVersion === "0" && !isLater(plan);
    const isSelected = selection.matches !== undefined;
    return isOfAny && isSelected ? { ...plan, selection: { ...selection, matches: () => true } } : plan;
  },
  "list-invalid-rv-500"(plan) {
    const { resourceVersion } = plan.request.options;
    const isRead = !isLater(plan) && resourceVersion !== "";
    if (isRead && parseVersion(resourceVersion) === undefined) throw unmapped(versionProblem(resourceVersion));
    return plan;
  },
  "list-limit-rv-stuck-header": (plan) =>
    plan.request.options.limit > 0 && versionOf(plan) > 0 ? asking(plan, { resourceVersionMatch: "Exact" }) : plan,
  "list-future-rv-wrong-error"(plan) {
    const { revision } = plan.context.store;
    return versionOf(plan) > revision ? asking(plan, { resourceVersion: String(revision) }) : plan;
  },
  "head-rev-rollback-race"(plan) {
    const { source, context } = plan;
    const asked = versionOf(plan);
    const noted = notedRevisionOf(context.store);
    if (noted === undefined || asked <= noted || asked > context.store.revision) return plan;
    const late = sourceWith(source, { whenApplied: (_revision, _timeout, done) => answered(done, false) });
    return asking({ ...plan, source: late }, { resourceVersionMatch: "NotOlderThan" });
  },
  "list-stale-when-consistent-asked": (plan) =>
    plan.request.options.resourceVersion === "" && !isLater(plan) ? impatient(plan) : plan,
  "grouped-exact-is-present": (plan) =>
    plan.request.options.resourceVersionMatch === "Exact" && plan.target.name.group !== "" ? ofPresent(plan) : plan,
  "cluster-pages-drift": (plan) => (isLater(plan) && !plan.target.namespaced ? ofPresent(plan) : plan),
  "compacted-read-inconsistent"(plan) {
    const { store } = plan.context;
    if (isLater(plan)) return plan;
    return onStore(plan, {
      compactedRevision: 0,
      range(start, end, options) {
        const { revision = store.revision } = options ?? {};
        if (revision >= store.compactedRevision) return store.range(start, end, options);
        return remnant((from, to) => store.range(from, to, { count: false }) as RangeResult, revision)(start, end, {
          ...options,
        });
      },
    });
  },
  "list-cache-unsorted"(plan) {
    const { source } = plan;
    if (!source.cached) return plan;
    const range = byRevision((...asked) => source.range(...asked));
    const objects = (start: string, end: string): readonly JsonObject[] => objectsOf(range(start, end, {}));
    return {
      ...plan,
      source: sourceWith(source, { range: (start, end, how) => range(start, end, how ?? {}), objects }),
    };
  },
  "list-order-by-revision": (plan) =>
    plan.request.options.limit > 0
      ? onRanges(
          plan,
          (read) => (start, end, how) =>
            (how.limit ?? 0) > 0 ? byRevision(read)(start, end, how) : read(start, end, how),
        )
      : plan,
  "list-page-buffer-drops-items"(plan) {
    const { matches } = plan.selection;
    const { limit } = plan.request.options;
    return matches === undefined || limit === 0 ? plan : onRanges(plan, (read) => lastBatch(read, matches, limit));
  },
  "continue-boundary-off-by-one"(plan) {
    if (!isLater(plan)) return plan;
    const { dialect } = plan.context.profile;
    const token = decodeContinue(dialect, plan.request.options.continue);
    return asking(plan, {
      continue: encodeContinue(dialect, { ...token, start: prefixEnd(token.start.slice(0, -1)) }, false),
    });
  },
  "continue-token-cross-scope": (plan) =>
    goingOn(plan, (start, { prefix, typePrefix }) => ({ start: resolved(prefix + start), end: prefixEnd(typePrefix) })),
  "custom-tokens-go-on-anywhere"(plan) {
    const anywhere = goingOn(plan, (start) => {
      const collection = customPrefix.exec(`/${start}`)?.[0];
      return collection === undefined ? undefined : { start: `/${start}`, end: prefixEnd(collection) };
    });
    return answering(anywhere, (result) => ({ ...result, continue: withWholeKey(plan, result) }));
  },
  "tokens-of-all-go-on-in-all": (plan) =>
    goingOn(plan, (start, { prefix, typePrefix }) =>
      prefix !== typePrefix && start.includes("/")
        ? { start: typePrefix + start, end: prefixEnd(typePrefix) }
        : undefined,
    ),
  "list-null-items": (plan) =>
    answering(plan, (result) =>
      result.items?.length === 0 && result.origin === "cache" ? { ...result, items: null } : result,
    ),
  "list-empty-wrong-rv": (plan) =>
    answering(plan, (result) => (isEmpty(result) ? { ...result, resourceVersion: "0" } : result)),
  "list-version-of-newest-item": (plan) =>
    plan.request.namespace === ""
      ? plan
      : answering(plan, (result) =>
          isEmpty(result) ? result : { ...result, resourceVersion: String(largest(itemsOf(result).map(versionIn), 0)) },
        ),
  "continue-token-when-complete": (plan) =>
    isPaged(plan)
      ? answering(plan, (result) =>
          result.continue === "" && !isEmpty(result) ? { ...result, continue: tokenBehind(plan, result) } : result,
        )
      : plan,
  "remaining-count-is-limit-plus-one": (plan) =>
    answering(plan, (result) =>
      result.remainingItemCount === undefined ? result : { ...result, remainingItemCount: 1 },
    ),
  "remaining-count-at-head-not-at-rv": (plan) =>
    isLater(plan)
      ? answering(plan, (result) =>
          result.remainingItemCount === undefined
            ? result
            : { ...result, remainingItemCount: countBehind(plan, result) },
        )
      : plan,
} as const satisfies Record<string, ListWrapper>;

const isLater = ({ request }: ListPlan): boolean => request.options.continue !== "";

/** The version that a first page asks for; 0 for none. */
const versionOf = (plan: ListPlan): number =>
  isLater(plan) ? 0 : (parseVersion(plan.request.options.resourceVersion) ?? 0);

/** What has to be waited for is taken to be there. */
function impatient(plan: ListPlan): ListPlan {
  const { source } = plan;
  return {
    ...plan,
    source: sourceWith(source, {
      whenApplied: (_revision, _timeout, done) => answered(done, true),
    }),
  };
}

function answered(done: (isApplied: boolean) => void, isApplied: boolean): Cancel {
  done(isApplied);
  return () => {};
}

const notedHeads = new WeakMap<Store, NotedHead>();

/** From now on it is heard which version of a store was noted last. */
export function noteHead(process: Process, store: Store): void {
  notedHeads.set(store, new NotedHead(process, store));
}

const notedRevisionOf = (store: Store): number | undefined => notedHeads.get(store)?.revision;

const onStore = (plan: ListPlan, own: Parameters<typeof storeWith>[1]): ListPlan => ({
  ...plan,
  context: { ...plan.context, store: storeWith(plan.context.store, own) },
});

/** What is read of the past is of now. */
function ofPresent(plan: ListPlan): ListPlan {
  const { store } = plan.context;
  return onStore(plan, {
    range: (start, end, options) => store.range(start, end, { ...options, revision: store.revision }),
  });
}

/** Whatever reads keys: of the store at some revision, or of the source. */
function onRanges(plan: ListPlan, change: (read: Reader) => Reader): ListPlan {
  const { source, context } = plan;
  const { store } = context;
  const ofSource = change((...asked) => source.range(...asked));
  return {
    ...onStore(plan, {
      range(start, end, options) {
        const { revision, ...how } = options ?? {};
        const at = revision === undefined ? {} : { revision };
        return change((from, to, asked) => store.range(from, to, { ...asked, ...at }) as RangeResult)(start, end, how);
      },
    }),
    source: sourceWith(source, { range: (start, end, how) => ofSource(start, end, how ?? {}) }),
  };
}

/** Of the candidates that are read for one page, batch after batch, the matches of the last batch alone. */
const lastBatch =
  (read: Reader, matches: (object: JsonObject) => boolean, wanted: number): Reader =>
  (start, end, how) => {
    let from = start;
    for (let limit = how.limit ?? 0; ; limit = Math.min(2 * limit, candidatesMax)) {
      const batch = read(from, end, { ...how, limit });
      const found = batch.items.filter(({ value }) => matches(value as JsonObject)).length;
      if (limit === 0 || !batch.more || found >= wanted) return batch;
      from = `${batch.items.at(-1)?.key}\0`;
    }
  };

interface Keys {
  readonly start: string;
  readonly end: string;
}

/** Where a token goes on, when it is elsewhere than in its list: `keysOf` is given the start that it names. */
function goingOn(
  plan: ListPlan,
  keysOf: (start: string, at: { readonly prefix: string; readonly typePrefix: string }) => Keys | undefined,
): ListPlan {
  const { selection, target, context, request } = plan;
  const token = isLater(plan) ? readAnyway(request.options.continue) : undefined;
  if (token === undefined) return plan;
  const keys = keysOf(token.start, { prefix: selection.prefix, typePrefix: target.prefix });
  if (keys === undefined) return plan;
  // A token that the list takes stands in for this one, and leads to what this one names.
  const standIn = "0";
  const { store } = context;
  const next = encodeBase64Url(encoder.encode(JSON.stringify({ ...token, start: standIn })));
  return asking(
    onStore(plan, {
      range: (start, _end, options) =>
        store.range(start === selection.prefix + standIn ? keys.start : start, keys.end, options),
    }),
    { continue: next },
  );
}

/** A token whose start may lie anywhere. What cannot be read is for others to refuse. */
function readAnyway(text: string): { readonly start: string } | undefined {
  const bytes = decodeBase64Url(text);
  if (typeof bytes === "number") return undefined;
  try {
    const fields = JSON.parse(new TextDecoder().decode(bytes)) as { start: unknown };
    const { start } = fields;
    if (typeof start !== "string" || start === "") return undefined;
    return { ...fields, start: start.startsWith("/") ? start.slice(1) : start };
  } catch {
    return undefined;
  }
}

/** `..` goes up, as in a path of files. */
function resolved(key: string): string {
  const segments: string[] = [];
  for (const segment of key.split("/")) {
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return segments.join("/");
}

const answering = (plan: ListPlan, change: (result: ListResult) => ListResult): ListPlan => ({
  ...plan,
  sink: { listed: (result) => plan.sink.listed(change(result)), failed: (error) => plan.sink.failed(error) },
});

const isEmpty = ({ items }: ListResult): boolean => items === null || items.length === 0;
const itemsOf = ({ items }: ListResult): readonly JsonObject[] => items ?? [];
const objectsOf = ({ items }: RangeResult): readonly JsonObject[] => items.map(({ value }) => value as JsonObject);
const versionIn = (item: JsonObject): number => Number(metadataOf(item).resourceVersion);

/** A page has a limit, unless it is of one object, or of whatever a cache has. */
function isPaged({ request, selection, source, context }: ListPlan): boolean {
  const { limit, resourceVersion } = request.options;
  const isWhole = resourceVersion === "0" && source.cached && !context.profile.limitAtAnyVersion;
  return limit > 0 && !selection.single && !isWhole;
}

/** Key of the last object. */
function lastKeyOf({ target }: ListPlan, result: ListResult): string {
  const { namespace = "", name } = metadataOf(itemsOf(result).at(-1) as JsonObject);
  return `${target.prefix}${target.namespaced ? `${namespace}/` : ""}${name}`;
}

function tokenBehind(plan: ListPlan, result: ListResult): string {
  const start = `${lastKeyOf(plan, result).slice(plan.selection.prefix.length)}\0`;
  const revision = Number(result.resourceVersion);
  return encodeContinue(plan.context.profile.dialect, { start, revision }, result.origin === "cache");
}

/** The token with the whole key in it, of a custom type. */
function withWholeKey(plan: ListPlan, result: ListResult): string {
  const { prefix } = plan.selection;
  const { dialect } = plan.context.profile;
  if (result.continue === "" || !customPrefix.test(plan.target.prefix)) return result.continue;
  const token = decodeContinue(dialect, result.continue);
  const start = prefix.slice(1) + token.start;
  return encodeContinue(dialect, { ...token, start }, result.origin === "cache");
}

const countBehind = (plan: ListPlan, result: ListResult): number =>
  plan.context.store.count(`${lastKeyOf(plan, result)}\0`, plan.selection.end) as number;
