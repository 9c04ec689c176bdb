import fc from "fast-check";
import type { RequestOptions } from "../../client/client.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { JsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { grant } from "../../runner/roles.ts";
import { createSecondUser } from "../../runner/service-account.ts";

interface Shape {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly options?: RequestOptions;
}

/** Each would be refused to everybody, for another reason than the caller's rights. */
const shapes: readonly Shape[] = [
  { what: "an absent object", method: "GET", path: "configmaps/absent" },
  { what: "a resource that nobody serves", method: "GET", path: "touchstonethings" },
  { what: "a subresource that nobody serves", method: "GET", path: "configmaps/a/touchstone" },
  { what: "a verb that the path does not have", method: "PUT", path: "configmaps", options: { body: {} } },
  {
    what: "a media type that nobody writes",
    method: "GET",
    path: "configmaps",
    options: { accept: "text/touchstone" },
  },
  {
    what: "a media type that nobody reads",
    method: "POST",
    path: "configmaps",
    options: { rawBody: "?", contentType: "text/touchstone" },
  },
  { what: "a body that is no object", method: "POST", path: "configmaps", options: { rawBody: "{" } },
  { what: "a query that makes no sense", method: "GET", path: "configmaps", options: { query: { limit: "many" } } },
];

/**
 * Property: who has no right to something is answered 403 whatever else is wrong with the request, and so learns nothing of
 * what is there; and a right to change is no right to make: a PUT on an absent name needs both.
 */
export const strangersLearnNothing = defineCheck({
  id: "strangers-learn-nothing",
  area: "authorization",
  property: "403 comes before any answer that depends on what is there.",
  requirements: ["authorization.before-content", "authorization.create-on-update"],
  features: ["roles", "service-accounts", "access-reviews", "configmaps", "leases", "namespaces"],
  cost: "slow",
  input: fc.record({ shape: fc.constantFrom(...shapes), mayCreate: fc.boolean() }),
  examples: shapes.map((shape, index) => ({ shape, mayCreate: index % 2 === 0 })),
  async run(attempt, { shape, mayCreate }) {
    const user = await createSecondUser(attempt);
    const verbs = mayCreate ? ["update", "create"] : ["update"];
    await grant(attempt, user, [{ verbs, resources: ["leases"], names: [] }]);
    const namespace = `/api/v1/namespaces/${user.namespace}`;
    const { method, path, what, options } = shape;
    const answer = await attempt.client.request(method, `${namespace}/${path}`, { ...options, as: user.as });
    attempt.expect("authorization.before-content", answer.status === 403, `403 for ${what}`, shownAnswer(answer));

    const group = `coordination.${attempt.profile.dialect.groupSuffix}/v1`;
    const leases = await attempt.target.collection("leases", "", `/apis/${group}`);
    const lease: JsonObject = { apiVersion: group, kind: "Lease", metadata: { name: "l" }, spec: {} };
    const put = await leases.put("l", lease, { as: user.as });
    const there = await leases.get("l");
    const [statuses, after] = mayCreate ? [[201, 200], 200] : [[403], 404];
    attempt.expect(
      "authorization.create-on-update",
      statuses.includes(put.status) && there.status === after,
      `${statuses.join(" or ")} for a PUT on an absent name with the rights to ${verbs.join(" and ")}, then ${after} for a get`,
      `${shownAnswer(put)}, then ${there.status}`,
    );
  },
});
