import type { Exchange } from "../client/exchange.ts";

/**
 * The request that shows a failure: the last one that was sent, unless what was told is the answer to an earlier one, as where a
 * deletion is judged once what it left has been read.
 */
export function shownExchange(
  history: readonly Exchange[],
  last: Exchange | undefined,
  actual: string,
): Exchange | undefined {
  const [, status, body = ""] = /^(\d{3}):? ?(.*)$/s.exec(actual) ?? [];
  if (status === undefined || status === String(last?.status)) return last;
  const beginning = body.slice(0, toldCharsMax);
  const told = history.findLast((each) => String(each.status) === status && each.text().startsWith(beginning));
  return (beginning === "" ? undefined : told) ?? last;
}

/** An answer that begins so is the one: messages cut what is longer. */
const toldCharsMax = 100;
