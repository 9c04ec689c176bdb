/** LabelSelector objects, parsed once each. */
import { isSelectorError, type LabelSelector, parseLabelSelector } from "../../../wire/selectors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorText } from "../../objects/selector-text.ts";

const nothing: LabelSelector = { requirements: [], empty: false, matches: () => false };
const parsed = new WeakMap<object, LabelSelector>();

/** None selects nothing, and so does one that cannot be read; an empty one selects everything. */
export function selectorOf(selector: JsonObject | undefined): LabelSelector {
  if (selector === undefined) return nothing;
  let known = parsed.get(selector);
  if (known === undefined) {
    const read = parseLabelSelector(selectorText(selector));
    parsed.set(selector, (known = isSelectorError(read) ? nothing : read));
  }
  return known;
}
