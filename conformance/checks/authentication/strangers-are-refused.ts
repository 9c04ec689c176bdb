import fc from "fast-check";
import { eventsGroupVersion } from "../../arbitraries/events.ts";
import type { Answer, RequestOptions } from "../../client/client.ts";
import { isFailureStatus, messageOf, shownAnswer, shownStatus } from "../../client/status-document.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyToken = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._~-]{1,40}$/),
  // As the tokens that servers sign look: three parts, the first two of JSON.
  fc.constantFrom("e30.e30.", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"),
);

const verbs = ["get", "list", "create", "delete"] as const;

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
      judgeNobody(
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
    const there = await collection.get("stranger");
    attempt.expect(
      "authentication.unauthenticated",
      there.status === 404,
      `nothing made by ${shown}`,
      shownAnswer(there),
    );
  },
});

function judgeNobody(attempt: Attempt, requirement: string, shown: string, answer: Answer): void {
  const promise = answer.status === 401 ? undefined : { expected: `401 for ${shown}`, actual: shownAnswer(answer) };
  const isAnonymous = answer.status === 403 && messageOf(answer).includes('"system:anonymous"');
  attempt.holdsOrDeviates(`${requirement.split(".")[0]}-anonymous`, requirement, promise, isAnonymous);
  // Who is not let in at all need not be called anything.
  if (answer.status === 401) attempt.holds("authentication.anonymous", undefined);
  if (answer.status === 403) {
    const expected = "403 that names system:anonymous";
    attempt.expect("authentication.anonymous", isAnonymous, expected, shownAnswer(answer));
  }
}

function ask(attempt: Attempt, verb: (typeof verbs)[number], path: string, as: RequestOptions["as"]): Promise<Answer> {
  const { client } = attempt;
  switch (verb) {
    case "get":
      return client.request("GET", `${path}/stranger`, { as });
    case "list":
      return client.request("GET", path, { as });
    case "delete":
      return client.request("DELETE", `${path}/stranger`, { as });
    case "create":
      return client.request("POST", path, {
        as,
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "stranger" } },
      });
  }
}
