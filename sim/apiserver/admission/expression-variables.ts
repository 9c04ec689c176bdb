/**
 * What expressions about a request can see: the request, the object before and after, and the authorizer.
 * Source: the published variables of match conditions and admission policies.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { User } from "../access/authenticate.ts";
import type { Ask } from "../access/judgement.ts";
import { fromJson } from "../../expressions/json-values.ts";
import { type Ask as Question, authorizerValue, requestResourceValue } from "../../expressions/library/authorizers.ts";
import type { Value } from "../../expressions/values.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { namespaceType, requestType } from "../../kinds/admission/request-variables.ts";
import { copyJson } from "../../objects/copy.ts";
import type { AdmissionReview } from "./admission.ts";
import { requestOf } from "./webhooks-review.ts";

/** The namespace of a request; null for what lies in none. */
export const namespaceValue = (namespace: JsonObject | undefined): Value =>
  namespace === undefined ? null : fromJson(namespace, namespaceType);

/** Within one judgement, which `ask` belongs to. */
export function requestValues(
  dialect: Dialect,
  authorize: Ask,
  review: AdmissionReview,
): Readonly<Record<string, Value>> {
  const { place: shown, asked: place = shown, namespace, name, user } = review;
  const ask = asking(authorize, user);
  const subresource = place.subresource?.subresource ?? "";
  const { group, resource: plural } = place.resourceName;
  // Of what was left out, expressions see nothing.
  const request = copyJson(requestOf(review, dialect) as unknown as JsonObject);
  return {
    object: review.object === undefined ? null : fromJson(review.object),
    oldObject: review.oldObject === undefined ? null : fromJson(review.oldObject),
    request: fromJson({ name: "", namespace: "", subResource: "", requestSubResource: "", ...request }, requestType),
    authorizer: authorizerValue(ask),
    "authorizer.requestResource": requestResourceValue(ask, { group, resource: plural, subresource, namespace, name }),
  };
}

/** Asks for the user of the request, or for a service account. */
const asking =
  (authorize: Ask, user: User): Question =>
  ({
    user: account,
    path,
    verb = "",
    group = "",
    resource: plural = "",
    subresource = "",
    namespace = "",
    name = "",
  }) => {
    const asker = account === undefined ? user : serviceAccount(account);
    const decision =
      path === undefined
        ? authorize(asker, {
            is: "resource",
            verb,
            resource: { group, resource: plural },
            version: "*",
            subresource,
            namespace,
            name,
          })
        : authorize(asker, { is: "path", verb, path });
    return decision;
  };

function serviceAccount(account: string): User {
  const namespace = account.split(":")[2] ?? "";
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { name: account, uid: "", groups };
}
