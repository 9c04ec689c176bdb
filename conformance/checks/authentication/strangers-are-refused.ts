import { patchTypes } from "../../client/collection.ts";
import fc from "fast-check";
import { eventsGroupVersion } from "../../arbitraries/events.ts";
import type { Answer } from "../../client/exchange.ts";
import type { RequestOptions } from "../../client/client.ts";
import { isFailureStatus, messageOf, shownAnswer, shownStatus } from "../../client/status-document.ts";
import { callerIn } from "../../model/callers.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyToken = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._~-]{1,40}$/),
  // As the tokens that servers sign look: three parts, the first two of JSON.
  fc.constantFrom("e30.e30.", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"),
);

const verbs = [
  "get",
  "list",
  "list-all",
  "watch",
  "create",
  "update",
  "patch",
  "apply",
  "delete",
  "deletecollection",
] as const;

/**
 * Property: a call with a token that nobody was given is answered 401, and one without credentials too, unless the target
 * lets the anonymous in and says so. Whatever was asked for, nothing of it happens.
 */
export const strangersAreRefused = defineCheck({
  id: "strangers-are-refused",
  area: "authentication",
  property: "A caller who does not prove who it is gets nothing.",
  requirements: [
    "authentication.unauthenticated",
    "authentication.bad-token",
    "authentication.status",
    "authentication.anonymous",
    "events.unauthenticated",
  ],
  features: ["configmaps", "events"],
  input: fc.record({
    token: fc.option(anyToken),
    verb: fc.constantFrom(...verbs),
    resource: fc.constantFrom("configmaps", "events"),
  }),
  examples: verbs.flatMap((verb) => [
    { token: null, verb, resource: "configmaps" },
    { token: "touchstone-nobody", verb, resource: "events" },
    { token: null, verb, resource: "events" },
  ]),
  async run(attempt, { token, verb, resource }) {
    const prefix = resource === "events" ? `/apis/${eventsGroupVersion(attempt.profile.dialect)}` : "/api/v1";
    const collection = await attempt.target.collection(resource, "", prefix);
    // Random text may be a token of somebody: ours cannot.
    const as: RequestOptions["as"] = token === null ? "nobody" : { token: `${token}.touchstone` };
    const answer = await ask(attempt, verb, collection.path, as);
    const shown = `${verb} of ${resource} with ${token === null ? "no credentials" : `the token ${token}.touchstone`}`;
    if (token !== null) {
      attempt.expect("authentication.bad-token", answer.status === 401, `401 for ${shown}`, shownAnswer(answer));
    } else {
      await judgeNobody(
        attempt,
        resource === "events" ? "events.unauthenticated" : "authentication.unauthenticated",
        shown,
        answer,
      );
    }
    if (answer.status === 401) {
      const isUnauthorized = shownStatus(answer) === "401 Unauthorized" && isFailureStatus(answer);
      attempt.expect("authentication.status", isUnauthorized, "a Status 401 Unauthorized", shownAnswer(answer));
    }
    if (answer.status !== 401 && answer.status !== 403) return; // the anonymous user may do it
    const there = await collection.get("stranger");
    attempt.expect(
      "authentication.unauthenticated",
      there.status === 404,
      `nothing made by ${shown}`,
      shownAnswer(there),
    );
  },
});

/**
 * Whoever is let in without credentials is the anonymous user, and is answered what that user may be: 403 in its name, or,
 * where it may do everything, anything else.
 */
async function judgeNobody(attempt: Attempt, requirement: string, shown: string, answer: Answer): Promise<void> {
  const { status } = answer;
  const promise = status === 401 ? undefined : { expected: `401 for ${shown}`, actual: shownAnswer(answer) };
  const isAnonymous =
    status === 403 ? messageOf(answer).includes(`"${anonymous}"`) : status !== 401 && (await isAnybody(attempt));
  attempt.holdsOrDeviates(`${requirement.split(".")[0]}-anonymous`, requirement, promise, isAnonymous);
  // Who is not let in at all need not be called anything.
  const isTold = status === 401 || isAnonymous;
  attempt.expect("authentication.anonymous", isTold, `an answer to ${anonymous}`, shownAnswer(answer));
}

const anonymous = "system:anonymous";

/** Whether the target says of a caller without credentials that it is the anonymous user. */
async function isAnybody(attempt: Attempt): Promise<boolean> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const path = `/apis/${apiVersion}/selfsubjectreviews`;
  const body = { apiVersion, kind: "SelfSubjectReview" };
  const { json } = await attempt.client.request("POST", path, { body, as: "nobody" });
  return callerIn(json, "userInfo")?.username === anonymous;
}

function ask(attempt: Attempt, verb: (typeof verbs)[number], path: string, as: RequestOptions["as"]): Promise<Answer> {
  const { client } = attempt;
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "stranger" } };
  switch (verb) {
    case "list-all":
      return client.request("GET", path.replace(/\/namespaces\/[^/]+/, ""), { as });
    case "watch":
      return client.request("GET", path, { as, query: { watch: 1, timeoutSeconds: 1 } });
    case "update":
      return client.request("PUT", `${path}/stranger`, { as, body });
    case "patch":
      return client.request("PATCH", `${path}/stranger`, { as, body: {}, contentType: patchTypes.merge });
    case "apply": {
      const query = { fieldManager: "alpha" };
      return client.request("PATCH", `${path}/stranger`, { as, body, query, contentType: patchTypes.apply });
    }
    case "deletecollection":
      return client.request("DELETE", path, { as });
    case "get":
      return client.request("GET", `${path}/stranger`, { as });
    case "list":
      return client.request("GET", path, { as });
    case "delete":
      return client.request("DELETE", `${path}/stranger`, { as });
    case "create":
      return client.request("POST", path, { as, body });
  }
}
