/**
 * What can be done in a namespace, by the state that it is in. It is made, lives, and goes in two steps: from the
 * request of its deletion until it is gone, what is there can be changed and deleted, and nothing can be added.
 * Source: document 1, States and transitions; the facts of admission by a namespace's life.
 */
import type { Violation } from "../client/findings.ts";

export type NamespacePhase = "Active" | "Terminating" | "absent";

/** A request inside the namespace, about an object that is there but for those that create, and its answer. */
export interface RequestInside {
  readonly verb: "create" | "apply" | "put" | "patch" | "delete" | "get" | "list";
  readonly phase: NamespacePhase;
  readonly status: number;
  /** Reasons of the causes that the answer names. */
  readonly causes: readonly string[];
}

export function judgeInside(requests: readonly RequestInside[]): Violation | undefined {
  for (const request of requests) {
    const expected = expectedOf(request);
    if (expected.statuses.includes(request.status) && expected.causes.every((cause) => request.causes.includes(cause)))
      continue;
    return {
      expected: `${request.verb} in a namespace that is ${request.phase}: ${[expected.statuses.join(" or "), ...expected.causes].join(" ")}`,
      actual: [request.status, ...request.causes].join(" "),
    };
  }
  return undefined;
}

interface Expected {
  readonly statuses: readonly number[];
  readonly causes: readonly string[];
}

function expectedOf({ verb, phase }: RequestInside): Expected {
  if (verb === "list") return { statuses: [200], causes: [] }; // a namespace that is not there has no objects
  const creates = verb === "create" || verb === "apply" || verb === "put";
  if (creates && phase === "Terminating") return { statuses: [403], causes: ["NamespaceTerminating"] };
  if (phase === "absent") return { statuses: [404], causes: [] };
  return { statuses: creates ? [200, 201, 202] : verb === "delete" ? [200, 202] : [200], causes: [] };
}
