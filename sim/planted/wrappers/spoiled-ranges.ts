/** What planted bugs make of the keys that are read for a list. */
import type { KeyValue, RangeResult } from "../../store/types.ts";
import type { Reader } from "../../apiserver/reads/page.ts";

/** In the order of last writes. */
export const byRevision =
  (read: Reader): Reader =>
  (start, end, { limit = 0 }) => {
    const { items, revision } = read(start, end, {});
    return limited(
      items.toSorted((left, right) => left.modRevision - right.modRevision),
      limit,
      revision,
    );
  };

/** What of an old state has not changed since, of what is there now. */
export const remnant =
  (read: Reader, revision: number): Reader =>
  (start, end, { limit = 0 }) => {
    const left = read(start, end, {}).items.filter(({ modRevision }) => modRevision <= revision);
    return limited(left, limit, revision);
  };

function limited(all: readonly KeyValue[], limit: number, revision: number): RangeResult {
  const items = limit > 0 ? all.slice(0, limit) : all;
  return { items, more: items.length < all.length, remaining: all.length - items.length, revision };
}
