/** What a request's path is a case of, for names of spans: few, however many objects there are. */
import type { Place } from "./route.ts";

export function routeOf(place: Place): string {
  switch (place.is) {
    case "resource": {
      const { row, subresource, namespace, name, resourceName } = place.place;
      const group = resourceName.group === "" ? `/api/${row.version}` : `/apis/${resourceName.group}/${row.version}`;
      const within = namespace === "" ? "" : "/namespaces/{namespace}";
      const below = subresource === undefined ? "" : `/${subresource.subresource}`;
      return `${group}${within}/${resourceName.resource}${name === "" ? "" : `/{name}${below}`}`;
    }
    case "version":
      return place.group === "" ? `/api/${place.version}` : `/apis/${place.group}/${place.version}`;
    case "group":
      return `/apis/${place.group}`;
    case "other":
      return `/${place.segments[0] ?? ""}`;
    default:
      return "/{nowhere}";
  }
}
