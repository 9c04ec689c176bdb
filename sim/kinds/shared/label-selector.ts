/** Label selectors as fields of objects. Source: the published validation of LabelSelector. */
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { judgeAt } from "../../objects/place.ts";
import { required, fine, unlessEmpty, forbidden, struct, each, always, textThat, caseOf } from "../../objects/rules.ts";
import { labels, qualifiedName, labelValue } from "./formats.ts";

/** What is wrong with the selector at `path`. */
export function selectorCauses(selector: JsonObject, path: string, causes: Cause[]): void {
  judgeAt(labelSelector, selector, path, causes);
}

const operators = ["In", "NotIn", "Exists", "DoesNotExist"];
const needsValues = { values: required(fine, "must be specified when `operator` is 'In' or 'NotIn'") };
const hasNone = {
  values: unlessEmpty(forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")),
};

export const labelSelector = struct({
  matchLabels: labels,
  matchExpressions: each(
    struct(
      { operator: always(textThat((text) => operators.includes(text), "not a valid selector operator")) },
      caseOf("operator", { In: needsValues, NotIn: needsValues, Exists: hasNone, DoesNotExist: hasNone }),
      { key: always(qualifiedName), values: each(labelValue) },
    ),
  ),
});
