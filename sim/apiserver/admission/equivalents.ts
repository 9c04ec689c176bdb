/**
 * Other versions in which the server shows the objects of a request: a webhook or a policy that names one of them hears
 * of the request all the same, in that version. Source: the published match policy `Equivalent`.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { paced, turnCostMax } from "../../expressions/pace.ts";
import { copyJson } from "../../objects/copy.ts";
import type { ResourcePlace } from "../requests/route.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import type { ServedResources } from "../catalogue/served-resources.ts";
import type { AdmissionReview } from "./admission.ts";

export interface Equivalent {
  /** The place of the request in the other version. */
  readonly place: ResourcePlace;
  /** An object of the request's version in the other. */
  readonly shown: (object: JsonObject) => JsonObject;
  /** And back. */
  readonly taken: (object: JsonObject) => JsonObject;
}

/** A request as it is in another version: made once for all that are shown it, and nobody's to change. */
export function shownAs(form: Equivalent, review: AdmissionReview): AdmissionReview {
  let isNew = false;
  const make = (): AdmissionReview => {
    const forms = shownForms.get(review) ?? new Map<ResourcePlace["row"], AdmissionReview>();
    shownForms.set(review, forms);
    let found = forms.get(form.place.row);
    isNew = found === undefined;
    if (found === undefined) forms.set(form.place.row, (found = shownIn(form, review)));
    return found;
  };
  return paced(make, () => (isNew && review.turn.isLarge ? turnCostMax : 0));
}

const shownForms = new WeakMap<AdmissionReview, Map<ResourcePlace["row"], AdmissionReview>>();

function shownIn({ place, shown }: Equivalent, review: AdmissionReview): AdmissionReview {
  const { object, oldObject, place: asked } = review;
  const inForm = (each: JsonObject | undefined) => (each === undefined ? undefined : shown(each));
  return { ...review, place, asked, object: inForm(object), oldObject: inForm(oldObject) };
}

/** In table order; none for nearly every resource. */
export function equivalentsOf(resources: ServedResources, place: ResourcePlace): readonly Equivalent[] {
  const own = resources.of(place.row);
  const others = own === undefined ? none : resources.sharingWith(own);
  // A form of its own is what only events and custom resources have.
  if (own === undefined || others.length === 0) return none;
  return others.flatMap((other) => {
    const { subresource } = place;
    const theirs = other.row.subresources.find((each) => each.subresource === subresource?.subresource);
    if (subresource !== undefined && theirs === undefined) return [];
    const isForeign = theirs?.foreign === true;
    const converted = (from: ServedResource, to: ServedResource) => (object: JsonObject) =>
      isForeign ? object : convert(object, from, to);
    return {
      place: { ...place, row: other.row, subresource: theirs, resourceName: other.name, key: undefined },
      shown: converted(own, other),
      taken: converted(other, own),
    };
  });
}

const none: readonly never[] = [];

/** By way of what is stored. A copy that may be changed: stored objects are shared, and this one is not stored. */
function convert(object: JsonObject, from: ServedResource, to: ServedResource): JsonObject {
  const copy = copyJson(object);
  const stored = from.view === undefined ? copy : from.view.toStored(copy);
  return to.view === undefined ? stored : { ...to.view.fromStored(stored) };
}
