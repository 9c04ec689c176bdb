/** What authorization is asked about a request. */
import { everyField, exactFieldValue, isSelectorError, parseFieldSelector } from "../../../wire/selectors.ts";
import type { Attributes } from "../access/authorize.ts";
import { askedResource } from "./asked-resource.ts";
import type { ResourcePlace } from "./route.ts";
import type { Run } from "./run.ts";
import { plainPath } from "./url.ts";

export function attributesOf(run: Run): Attributes {
  const asked = askedBy(run);
  return run.span === undefined ? asked : { ...asked, span: run.span };
}

function askedBy(run: Run): Attributes {
  const { place, request } = run;
  if (place.is !== "resource") {
    const asked = askedResource(request.method, request.path, run.query.flag("watch"));
    return asked ?? { is: "path", verb: request.method.toLowerCase(), path: plainPath(request.path) };
  }
  const { row, subresource, namespace, name, resourceName }: ResourcePlace = place.place;
  return {
    is: "resource",
    verb: run.verb === "" ? request.method.toLowerCase() : run.verb,
    resource: resourceName,
    version: row.version,
    subresource: subresource?.subresource ?? "",
    // Who has rights inside a namespace may have some on the namespace itself.
    namespace: row.resource === "namespaces" && row.group === "" ? name : namespace,
    name: name === "" ? selectedName(run) : name,
  };
}

/** A list or watch narrowed down to one name is a question about that name. */
function selectedName(run: Run): string {
  const text = run.verb === "list" || run.verb === "watch" ? (run.query.first("fieldSelector") ?? "") : "";
  const selector = text === "" ? everyField : parseFieldSelector(text);
  return isSelectorError(selector) ? "" : (exactFieldValue(selector, "metadata.name") ?? "");
}
