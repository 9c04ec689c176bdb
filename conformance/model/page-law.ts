/** The pages of one limited list are one snapshot, cut into pieces. */
import { type ApiList, type ApiObject, keyOf } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { judgeSameState, type State, stateOf } from "./replay.ts";

/** At most `limit` items a page, and no page but the last without a token. */
export function judgePageSizes(pages: readonly ApiList[], limit: number): Violation | undefined {
  for (const [index, page] of pages.entries()) {
    if (page.items.length > limit) {
      return { expected: `at most ${limit} items on page ${index + 1}`, actual: `${page.items.length}` };
    }
  }
  return undefined;
}

/** Every page has the version of the first. */
export function judgeConstantVersion(pages: readonly ApiList[]): Violation | undefined {
  const version = pages[0]?.resourceVersion;
  const index = pages.findIndex((page) => page.resourceVersion !== version);
  if (index < 0) return undefined;
  return {
    expected: `version ${version} on every page`,
    actual: `${pages[index]?.resourceVersion} on page ${index + 1}`,
  };
}

/** Concatenated, the pages are the snapshot: nothing missing, nothing twice, nothing that came later. */
export function judgeSnapshot(pages: readonly ApiList[], snapshot: State): Violation | undefined {
  const items = pages.flatMap((page) => page.items);
  const seen = new Map<string, number>();
  for (const [index, page] of pages.entries()) {
    for (const item of page.items) {
      const earlier = seen.get(keyOf(item));
      if (earlier !== undefined) {
        return { expected: `${keyOf(item)} once`, actual: `on page ${earlier + 1} and on page ${index + 1}` };
      }
      seen.set(keyOf(item), index);
    }
  }
  return judgeSameState(snapshot, stateOf(items), {
    expected: "the collection when the first page was drawn",
    actual: `${pages.length} pages`,
  });
}

/**
 * The last page of an unfiltered list is not an empty one after a full end: a token promises that more exists. With a
 * selector a server may find out only on the next page that nothing more matches.
 */
export function judgeEnd(pages: readonly ApiList[], filtered: boolean): Violation | undefined {
  const last = pages.at(-1);
  if (last?.continueToken !== undefined) {
    return { expected: "an end", actual: `still a continue token after ${pages.length} pages` };
  }
  if (filtered || pages.length < 2 || last === undefined || last.items.length > 0) return undefined;
  return {
    expected: `no continue token on page ${pages.length - 1}, for nothing more exists`,
    actual: "a token that leads to an empty page",
  };
}

/** remainingItemCount never shows where it may not: with selectors, and on the last page. */
export function judgeRemainingAbsent(pages: readonly ApiList[], filtered: boolean): Violation | undefined {
  for (const [index, page] of pages.entries()) {
    if (page.remainingItemCount === undefined) continue;
    const isLast = page.continueToken === undefined;
    if (!filtered && !isLast) continue;
    return {
      expected: `no remainingItemCount ${isLast ? "on the last page" : "with a selector"}`,
      actual: `${page.remainingItemCount} on page ${index + 1}`,
    };
  }
  return undefined;
}

/** Where it shows, items so far and items remaining make the whole, on every page, for the snapshot does not change. */
export function judgeRemainingExact(pages: readonly ApiList[]): Violation | undefined {
  const total = pages.reduce((sum, page) => sum + page.items.length, 0);
  let soFar = 0;
  for (const [index, page] of pages.entries()) {
    soFar += page.items.length;
    if (page.remainingItemCount === undefined || page.remainingItemCount === total - soFar) continue;
    return {
      expected: `remainingItemCount ${total - soFar} on page ${index + 1} (${soFar} of ${total} items so far)`,
      actual: String(page.remainingItemCount),
    };
  }
  return undefined;
}

/** Items come in the byte order of `namespace/name`. */
export function judgeKeyOrder(items: readonly ApiObject[]): Violation | undefined {
  for (let index = 1; index < items.length; index += 1) {
    const [before, after] = [storageKey(items[index - 1] as ApiObject), storageKey(items[index] as ApiObject)];
    if (before < after) continue;
    return {
      expected: `${after} before ${before}: items in key order`,
      actual: items.map(storageKey).join(", ").slice(0, 400),
    };
  }
  return undefined;
}

// Names are ASCII, so JavaScript's order of code units is the order of bytes.
function storageKey(object: ApiObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}
