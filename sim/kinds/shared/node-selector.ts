/** Selectors of nodes, as affinities and volumes have them. Source: the published validation of node selectors. */
import type { Json } from "../../contract/http-message.ts";
import type { Place, Rule } from "../../objects/place.ts";
import { always, caseOf, each, required, struct, textThat } from "../../objects/rules.ts";
import { labelValue, qualifiedName, subdomain } from "./formats.ts";
import { hasNoValues, needsValues } from "./label-selector.ts";

const oneValue = (detail: string): Rule => ({
  zero: [],
  absent: [],
  judge(values: readonly Json[], at: Place) {
    if (values.length !== 1) at.required(detail);
  },
});
const nothingOf = (what: string): Rule => always(textThat(() => false, what));

const unknownOperator = { operator: nothingOf("not a valid selector operator") };
const single = { values: oneValue("must be specified single value when `operator` is 'Lt' or 'Gt'") };
const operators = {
  ...{ In: needsValues, NotIn: needsValues, Exists: hasNoValues, DoesNotExist: hasNoValues },
  ...{ Gt: single, Lt: single },
};

const byLabel = struct(caseOf("operator", operators, unknownOperator), { key: always(qualifiedName) });

const oneName = {
  values: oneValue("must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
};

/** Of a node's fields its name alone selects, and one at a time. */
const byField = struct(
  caseOf("operator", { In: oneName, NotIn: oneName }, unknownOperator),
  caseOf("key", { "metadata.name": { values: each(subdomain) } }, { key: nothingOf("not a valid field selector key") }),
);

const term = (requirement: Rule): Rule => struct({ matchExpressions: each(requirement), matchFields: each(byField) });

/** What a pod would like may name values that no node can have. */
export const preferredNodes = term(byLabel);

export const requiredNodes = struct({
  nodeSelectorTerms: required(
    each(term(struct(byLabel, { values: each(labelValue) }))),
    "must have at least one node selector term",
  ),
});
