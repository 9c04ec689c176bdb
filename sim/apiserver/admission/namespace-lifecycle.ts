/**
 * Nothing new is made in a namespace that is absent or on its way out, and the namespaces that the service itself
 * needs are not deleted. Source: the facts, section 1, 403 and 404.
 */
import { type ApiError, forbidden, notFound, type ResourceName } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";

const namespaces: ResourceName = { group: "", resource: "namespaces" };

/** What refuses a creation in `namespace`; `stored` is the namespace's object, if there is one. */
export function refusesCreation(
  stored: JsonObject | undefined,
  namespace: string,
  resource: ResourceName,
  name: string,
): ApiError | undefined {
  if (stored === undefined) return notFound(namespaces, namespace);
  const metadata = stored["metadata"] as JsonObject;
  if (metadata["deletionTimestamp"] === undefined) return undefined;
  return forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}

/** What refuses the deletion of a namespace that must stay. */
export function refusesNamespaceDeletion(name: string, protectedNames: ReadonlySet<string>): ApiError | undefined {
  return protectedNames.has(name) ? forbidden(namespaces, name, "this namespace may not be deleted") : undefined;
}
