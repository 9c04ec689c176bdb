/** What planted bugs make of lists: of the keys that are read for one, and of an answer that was right. */
import { largest } from "../../wire/lists.ts";
import { prefixEnd } from "../store/sorted-index.ts";
import type { KeyValue, RangeResult } from "../store/types.ts";
import type { ServerBugs } from "./server-bugs.ts";

type Reader = (start: string, end: string, options: { readonly limit?: number }) => RangeResult;

/** `list-cache-unsorted`: in the order of last writes. */
export function unsorted(read: Reader): Reader {
  return (start, end, { limit = 0 }) => {
    const { items, revision } = read(start, end, {});
    return limited(
      items.toSorted((left, right) => left.modRevision - right.modRevision),
      limit,
      revision,
    );
  };
}

/** `compacted-read-inconsistent`: what of an old state has not changed since, of what is there now. */
export function remnant(read: Reader, revision: number): Reader {
  return (start, end, { limit = 0 }) => {
    const left = read(start, end, {}).items.filter(({ modRevision }) => modRevision <= revision);
    return limited(left, limit, revision);
  };
}

function limited(all: readonly KeyValue[], limit: number, revision: number): RangeResult {
  const items = limit > 0 ? all.slice(0, limit) : all;
  return { items, more: items.length < all.length, remaining: all.length - items.length, revision };
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

/** Keys of one custom type: no built-in one is kept under a plural with its group. */
const customPrefix = /^\/registry\/[^/.]+\.[^/]+\//;

/** `custom-tokens-go-on-anywhere`: where a token goes on, when it has the whole key in it. */
export function spoiledStart(bugs: ServerBugs, lastKey: string): string | undefined {
  return bugs["custom-tokens-go-on-anywhere"] && customPrefix.test(lastKey) ? lastKey.slice(1) : undefined;
}

interface Keys {
  readonly start: string;
  readonly end: string;
}

/** The keys that a token leads to with these bugs; undefined without any. `prefix` is that of the list, `typePrefix` of its type. */
export function spoiledKeys(bugs: ServerBugs, start: string, prefix: string, typePrefix: string): Keys | undefined {
  if (bugs["continue-token-cross-scope"]) return { start: resolved(prefix + start), end: prefixEnd(typePrefix) };
  const collection = bugs["custom-tokens-go-on-anywhere"] ? customPrefix.exec(`/${start}`)?.[0] : undefined;
  if (collection !== undefined) return { start: `/${start}`, end: prefixEnd(collection) };
  if (bugs["tokens-of-all-go-on-in-all"] && prefix !== typePrefix && start.includes("/"))
    return { start: typePrefix + start, end: prefixEnd(typePrefix) };
  return undefined;
}

interface ListAnswer {
  readonly items: readonly object[] | null;
  readonly resourceVersion: string;
  readonly continue: string;
  readonly remainingItemCount: number | undefined;
  readonly origin: "store" | "cache";
}

interface ListFacts {
  readonly isOfNamespace: boolean;
  readonly isLimited: boolean;
  readonly isContinued: boolean;
  /** What continues behind the last item. */
  readonly tokenBehind: string;
  /** How much of the list follows at the present revision. */
  countBehind(): number;
}

/** The answer with the bugs that concern it; the same answer without any. */
export function spoiledList<Answer extends ListAnswer>(
  bugs: ServerBugs,
  answer: Answer,
  factsOf: () => ListFacts,
): Answer {
  const { items, remainingItemCount, origin } = answer;
  const spoiled: { -readonly [Field in keyof ListAnswer]?: ListAnswer[Field] } = {};
  if (items?.length === 0) {
    if (bugs["list-null-items"] && origin === "cache") spoiled.items = null;
    if (bugs["list-empty-wrong-rv"]) spoiled.resourceVersion = "0";
  } else if (items !== null) {
    if (bugs["list-version-of-newest-item"] && factsOf().isOfNamespace)
      spoiled.resourceVersion = String(largest(items.map(versionOf), 0));
    if (bugs["continue-token-when-complete"] && factsOf().isLimited && answer.continue === "")
      spoiled.continue = factsOf().tokenBehind;
  }
  if (remainingItemCount !== undefined) {
    if (bugs["remaining-count-is-limit-plus-one"]) spoiled.remainingItemCount = 1;
    else if (bugs["remaining-count-at-head-not-at-rv"] && factsOf().isContinued)
      spoiled.remainingItemCount = factsOf().countBehind();
  }
  return Object.keys(spoiled).length === 0 ? answer : { ...answer, ...spoiled };
}

const versionOf = (item: object): number =>
  Number((item as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion);
