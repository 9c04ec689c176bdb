/**
 * What roles grant: rules add up, each a product of verbs, resources and names; a name restricts, and a subresource is a
 * resource of its own. Written from document 1, Authentication 1, and the published meaning of rules.
 */
import type { Violation } from "../client/findings.ts";

/** A rule of a role in one namespace, for one group. */
export interface Grant {
  readonly verbs: readonly string[];
  /** `pods`, `pods/status`. */
  readonly resources: readonly string[];
  /** Empty: all. */
  readonly names: readonly string[];
}

export interface Ask {
  readonly verb: string;
  readonly resource: string;
  /** Empty for what names no object: list, create, deletecollection. */
  readonly name: string;
}

export function isGranted(grants: readonly Grant[], { verb, resource, name }: Ask): boolean {
  return grants.some(
    ({ verbs, resources, names }) =>
      (verbs.includes(verb) || verbs.includes("*")) &&
      (resources.includes(resource) || resources.includes("*")) &&
      (names.length === 0 || names.includes(name)),
  );
}

/** Whether all that is wanted is held: each verb, resource and name of it. Whoever holds names alone does not hold the whole. */
export function isCovered(held: readonly Grant[], wanted: readonly Grant[]): boolean {
  const asks = wanted.flatMap(({ verbs, resources, names }) =>
    verbs.flatMap((verb) =>
      resources.flatMap((resource) => (names.length === 0 ? [""] : names).map((name) => ({ verb, resource, name }))),
    ),
  );
  return asks.every((ask) => isGranted(held, ask));
}

/** One question and what came of it: what the review says, and what the request itself was answered. */
export interface Answered {
  readonly ask: Ask;
  readonly namespace: string;
  /** What the roles come to there. */
  readonly granted: boolean;
  /** What the access review says. */
  readonly reviewed: boolean;
  /** HTTP status of the request, done or dry. */
  readonly status: number;
}

/** The review says what doing it comes to, and both say what was granted. Any answer but 401 and 403 was let in. */
export function judgeReview({ ask, namespace, reviewed, status }: Answered): Violation | undefined {
  const letIn = status !== 401 && status !== 403;
  if (letIn === reviewed) return undefined;
  return {
    expected: `${shown(ask, namespace)}: ${reviewed ? "let in" : "403"}, for the review says ${reviewed ? "allowed" : "not allowed"}`,
    actual: String(status),
  };
}

export function judgeGrant({ ask, namespace, granted, status }: Answered): Violation | undefined {
  if (granted ? status !== 403 && status !== 401 : status === 403) return undefined;
  return {
    expected: `${shown(ask, namespace)}: ${granted ? "let in, as a role grants it" : "403, for no role grants it"}`,
    actual: String(status),
  };
}

const shown = ({ verb, resource, name }: Ask, namespace: string): string =>
  `${verb} ${resource}${name === "" ? "" : ` ${name}`} in ${namespace}`;
