/**
 * A question to an authorization webhook, and its answer: SubjectAccessReview, v1 and v1beta1.
 * Source: the published review API; document 2, WebhookConfiguration, subjectAccessReviewVersion.
 */
import { type Dialect, groupInDialect } from "../../../../wire/dialect.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { User } from "../authenticate.ts";
import type { Attributes } from "../authorize.ts";

export type ReviewVersion = "v1" | "v1beta1";

/** The `spec` of v1; what is empty is left out. */
export function reviewSpec({ name, uid, groups, extra }: User, asked: Attributes): JsonObject {
  return {
    ...(asked.is === "path"
      ? { nonResourceAttributes: present({ path: asked.path, verb: asked.verb }) }
      : {
          resourceAttributes: present({
            namespace: asked.namespace,
            verb: asked.verb,
            group: asked.resource.group,
            version: asked.version,
            resource: asked.resource.resource,
            subresource: asked.subresource,
            name: asked.name,
          }),
        }),
    ...present({ user: name }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
    ...present({ uid }),
  };
}

const present = (fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));

/** What is sent. The older version calls `groups` `group`. */
export function reviewBody(spec: JsonObject, version: ReviewVersion, dialect: Dialect): JsonObject {
  const { groups, ...rest } = spec;
  const written = version === "v1" || groups === undefined ? spec : { ...rest, group: groups };
  return { ...reviewHeader(version, dialect), metadata: {}, spec: written, status: { allowed: false } };
}

const reviewHeader = (version: ReviewVersion, dialect: Dialect) => ({
  apiVersion: `${groupInDialect(dialect, "authorization.svc.io")}/${version}`,
  kind: "SubjectAccessReview",
});

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/** What an answer says, or why it makes no sense. */
export function reviewStatus(
  body: unknown,
  version: ReviewVersion,
  dialect: Dialect,
): ReviewStatus | { readonly error: string } {
  if (!isObject(body)) return { error: "the answer is no JSON object" };
  const { apiVersion, kind } = reviewHeader(version, dialect);
  if (body["apiVersion"] !== apiVersion || body["kind"] !== kind) {
    const given = `${shown(body["apiVersion"])}, Kind=${shown(body["kind"])}`;
    return { error: `the answer is ${given}, and not ${apiVersion}, Kind=${kind}` };
  }
  const { status } = body;
  if (!isObject(status)) return { error: "the answer has no status" };
  const { allowed = false, denied = false, reason = "" } = status;
  if (typeof allowed !== "boolean" || typeof denied !== "boolean" || typeof reason !== "string") {
    return { error: "the answer's status has fields of other types" };
  }
  return { allowed, denied, reason };
}

/** Of a word that should be another one. */
const wordCharactersMax = 100_000;

/** What may be anything, lists that are nested beyond the engine's stack among it. */
function shown(value: unknown): string {
  try {
    return String(value).slice(0, wordCharactersMax);
  } catch {
    return "a list that is nested deeply";
  }
}
