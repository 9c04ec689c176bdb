/**
 * May they? The port that every authorization mode fills, and the mode that says yes to everybody.
 * Refusals' texts: the facts, section 1, 403.
 */
import type { Cancel } from "../../kernel/types.ts";
import { ApiError, type ResourceName } from "../../contract/errors.ts";
import type { Span } from "../../contract/tracing.ts";
import type { User } from "./authenticate.ts";

export type Attributes = (
  | {
      readonly is: "resource";
      readonly verb: string;
      readonly resource: ResourceName;
      readonly version: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly is: "path"; readonly verb: string; readonly path: string }
) & {
  /** Of the request that is asked about; undefined where nobody traces. */
  readonly span?: Span;
};

export type Decision =
  | { readonly allowed: true; readonly reason: string }
  | {
      readonly allowed: false;
      readonly denied: boolean;
      readonly reason: string;
      /** It could not be decided; the request ends with 500 unless somebody else allows it. */
      readonly error?: string;
    };

/**
 * Calls `done` once: before it returns, or later where it has to ask somebody; never after the returned cancel. `denied`
 * false means: no opinion.
 */
export type Authorizer = (user: User, attributes: Attributes, done: (decision: Decision) => void) => Cancel;

/** An authorizer that needs nobody. */
export function decidedAtOnce(decide: (user: User, attributes: Attributes) => Decision): Authorizer {
  return (user, attributes, done) => {
    done(decide(user, attributes));
    return nothing;
  };
}

const nothing: Cancel = () => {};

const allowed: Decision = { allowed: true, reason: "" };
export const alwaysAllow: Authorizer = decidedAtOnce(() => allowed);

/** The 403 for a refusal. */
export function refusal(user: User, attributes: Attributes, reason: string): ApiError {
  const name = escapeHtml(user.name);
  const because = reason === "" ? "" : `: ${reason}`;
  if (attributes.is === "path") {
    return new ApiError(
      403,
      "Forbidden",
      `forbidden: User "${name}" cannot ${attributes.verb} path "${attributes.path}"${because}`,
      {},
    );
  }
  const { resource, subresource, namespace, verb } = attributes;
  const full = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
  const subject = resource.group === "" ? resource.resource : `${resource.resource}.${resource.group}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return new ApiError(
    403,
    "Forbidden",
    `${subject}${attributes.name === "" ? "" : ` "${attributes.name}"`} is forbidden: User "${name}" cannot ${verb} ` +
      `resource "${full}" in API group "${resource.group}" ${scope}${because}`,
    {
      ...(attributes.name === "" ? {} : { name: attributes.name }),
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.resource,
    },
  );
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
