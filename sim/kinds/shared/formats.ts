/** Texts of a form, as rows of tables. */
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "../../../wire/names.ts";
import { annotationCauses, areLabels, labelCauses } from "../../objects/metadata.ts";
import type { Check, Place, Rule } from "../../objects/place.ts";
import { format } from "../../objects/rules.ts";

export const label = format(dns1123LabelErrors);
/** Needed where there are several, which it tells apart. */
export const labelAmongSeveral: Rule = {
  zero: "",
  judge(name: string, at) {
    if (name !== "") label.judge(name as never, at);
    else if (at.itemCount > 1) at.required();
  },
};
export const label1035 = format(dns1035LabelErrors);
export const subdomain = format(dns1123SubdomainErrors);
export const qualifiedName = format(qualifiedNameErrors);
export const labelValue = format(labelValueErrors);
export const pathSegment = format(pathSegmentErrors);

type Texts = Readonly<Record<string, string>>;

export const labels: Rule = {
  zero: {},
  holds: areLabels,
  judge: (map: Texts, at) => labelCauses(map, at.path, at.causes),
};
export const annotations: Check = (map: Texts, at: Place) => annotationCauses(map, at.path, at.causes);
