/** Label selectors as fields of objects. Source: the published validation of LabelSelector. */
import { required, fine, unlessEmpty, forbidden, struct, each, always, textThat, caseOf } from "../../objects/rules.ts";
import { labels, qualifiedName, labelValue } from "./formats.ts";

const operators = ["In", "NotIn", "Exists", "DoesNotExist"];
export const needsValues = { values: required(fine, "must be specified when `operator` is 'In' or 'NotIn'") };
export const hasNoValues = {
  values: unlessEmpty(forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")),
};

export const labelSelector = struct({
  matchLabels: labels,
  matchExpressions: each(
    struct(
      { operator: always(textThat((text) => operators.includes(text), "not a valid selector operator")) },
      caseOf("operator", { In: needsValues, NotIn: needsValues, Exists: hasNoValues, DoesNotExist: hasNoValues }),
      { key: always(qualifiedName), values: each(labelValue) },
    ),
  ),
});
