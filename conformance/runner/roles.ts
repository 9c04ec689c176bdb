import type { RequestOptions } from "../client/client.ts";
import { objectOf, succeeded } from "../client/collection.ts";
import { isJsonObject, type JsonObject } from "../client/types.ts";
import { Inconclusive, Unsupported } from "../client/findings.ts";
import type { Ask, Grant } from "../model/access.ts";
import type { Attempt } from "./attempt.ts";
import { pollUntil } from "./poll.ts";
import type { SecondUser } from "./service-account.ts";

const groups: Readonly<Record<string, (suffix: string) => string>> = {
  leases: (suffix) => `coordination.${suffix}`,
  roles: (suffix) => `rbac.authorization.${suffix}`,
  rolebindings: (suffix) => `rbac.authorization.${suffix}`,
};

/** The group of a resource that checks of access use, in the dialect of the target. */
function groupOf(attempt: Attempt, resource: string): string {
  return groups[resource.split("/")[0] as string]?.(attempt.profile.dialect.groupSuffix) ?? "";
}

/**
 * Grants a user rules in its own namespace, and waits until the server knows them: a role is read by whoever decides, and
 * no time is promised for it. Throws `Unsupported` when the target lets everybody do everything.
 */
export async function grant(
  attempt: Attempt,
  user: SecondUser,
  grants: readonly Grant[],
  name = "role",
): Promise<void> {
  const group = `rbac.authorization.${attempt.profile.dialect.groupSuffix}`;
  const roles = await attempt.target.collection("roles", "", `/apis/${group}/v1`);
  const bindings = await attempt.target.collection("rolebindings", "", `/apis/${group}/v1`);
  const mark: Grant = { verbs: ["get"], resources: ["configmaps"], names: [`mark-${name}`] };
  const marked: Ask = { verb: "get", resource: "configmaps", name: `mark-${name}` };
  if (await mayDo(attempt, user, marked, user.namespace)) throw new Unsupported("refusals of what nobody granted");
  const rules = rulesOf(attempt, [...grants, mark]);
  objectOf(await roles.create({ apiVersion: `${group}/v1`, kind: "Role", metadata: { name }, rules }));
  const subject = { kind: "ServiceAccount", name: user.account, namespace: user.namespace };
  const binding: JsonObject = {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name },
    subjects: [subject],
    roleRef: { apiGroup: group, kind: "Role", name },
  };
  objectOf(await bindings.create(binding));
  const known = await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, async () => {
    // Of several front-ends each has to hear of it.
    for (let count = 0; count < knownCountMin; count += 1) {
      if (count > 0) await attempt.client.pause(60);
      if (!(await mayDo(attempt, user, marked, user.namespace))) return undefined;
    }
    return true;
  });
  if (known === undefined) throw new Inconclusive("a role and its binding have no effect within 10000 ms");
}

/** In the words of a role. */
export const rulesOf = (attempt: Attempt, grants: readonly Grant[]): JsonObject[] =>
  grants.map(({ verbs, resources, names }) => ({
    verbs: [...verbs],
    resources: [...resources],
    apiGroups: [...new Set(resources.map((resource) => groupOf(attempt, resource)))],
    ...(names.length === 0 ? {} : { resourceNames: [...names] }),
  }));

const knownCountMin = 4;

/** What the access review answers the user itself. */
export async function mayDo(attempt: Attempt, user: SecondUser, ask: Ask, namespace: string): Promise<boolean> {
  const { verb, name } = ask;
  const [resource, subresource] = ask.resource.split("/");
  const group = groupOf(attempt, ask.resource);
  const attributes = {
    verb,
    group,
    resource,
    namespace,
    ...(name === "" ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  const status = await review(attempt, { resourceAttributes: attributes }, user.as);
  return status["allowed"] === true;
}

async function review(attempt: Attempt, spec: JsonObject, as: RequestOptions["as"]): Promise<JsonObject> {
  const apiVersion = `authorization.${attempt.profile.dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "SelfSubjectAccessReview", spec };
  const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
  const { json } = succeeded(await attempt.client.request("POST", path, { body, as }), "authorization.reviews");
  const status = isJsonObject(json) ? json["status"] : undefined;
  return isJsonObject(status) ? status : {};
}
