/** What planted bugs make of lists: of the keys that are read for one, and of an answer that was right. */
import { largest } from "../../wire/lists.ts";
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

/** `continue-token-cross-scope`: `..` goes up, as in a path of files. */
export function resolved(key: string): string {
  const segments: string[] = [];
  for (const segment of key.split("/")) {
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return segments.join("/");
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
