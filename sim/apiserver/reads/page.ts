/** One page of a list: as many matching objects as the limit allows, and where the next page begins. */
import type { KeyValue, RangeResult } from "../../store/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";

/** Reads keys of [start, end) of one and the same state. */
export type Reader = (
  start: string,
  end: string,
  options: { readonly limit?: number; readonly count?: boolean },
) => RangeResult;

export interface PageRange {
  readonly start: string;
  readonly end: string;
  /** 0 = no limit. */
  readonly limit: number;
  /** Undefined when every object matches. */
  readonly matches: ((object: JsonObject) => boolean) | undefined;
}

export interface Page {
  readonly items: readonly JsonObject[];
  /** Key of the last object in `items`; undefined when there is none. */
  readonly lastKey: string | undefined;
  /** Keys follow, matching or not: the count of matches is not known before they are read. */
  readonly more: boolean;
  /** How many follow; undefined with a selector. */
  readonly remaining: number | undefined;
  /** Objects looked at. */
  readonly read: number;
}

/** Candidates read at once grow up to this, when few of them match. */
export const candidatesMax = 10_000;

export function readPage(reader: Reader, range: PageRange): Page {
  const { start, end, limit, matches } = range;
  if (matches !== undefined && limit > 0) return readMatching(reader, range, matches);
  const { items, more, remaining } = reader(start, end, { limit });
  const matching = matches === undefined ? items : items.filter(({ value }) => matches(value as JsonObject));
  return { items: matching.map(objectOf), lastKey: matching.at(-1)?.key, more, remaining, read: items.length };
}

function readMatching(
  reader: Reader,
  { start, end, limit }: PageRange,
  matches: (object: JsonObject) => boolean,
): Page {
  const found: KeyValue[] = [];
  let from = start;
  let read = 0;
  for (let candidates = limit; ; candidates = Math.min(2 * candidates, candidatesMax)) {
    const { items, more } = reader(from, end, { limit: candidates, count: false });
    for (const item of items) {
      if (found.length === limit) return pageOf(found, true, read);
      read++;
      if (matches(item.value as JsonObject)) found.push(item);
    }
    if (!more || found.length === limit) return pageOf(found, more, read);
    from = `${items.at(-1)?.key}\0`;
  }
}

const objectOf = ({ value }: KeyValue): JsonObject => value as JsonObject;

function pageOf(found: readonly KeyValue[], more: boolean, read: number): Page {
  return { items: found.map(objectOf), lastKey: found.at(-1)?.key, more, remaining: undefined, read };
}
