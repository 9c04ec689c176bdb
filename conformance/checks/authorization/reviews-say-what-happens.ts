import fc from "fast-check";
import { Inconclusive } from "../../client/findings.ts";
import type { Answer } from "../../client/exchange.ts";
import { detailsOf, isFailureStatus, messageOf, shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { type Answered, type Ask, type Grant, isGranted, judgeGrant, judgeReview } from "../../model/access.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { grant, mayDo } from "../../runner/roles.ts";
import { createSecondUser, type SecondUser } from "../../runner/service-account.ts";

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
/** They are about no one object. */
const ofCollections: readonly string[] = ["list", "watch", "create", "deletecollection"];
const resources = ["configmaps", "podtemplates", "pods", "pods/status"] as const;
const names = ["a", "b"] as const;

interface Program {
  readonly grants: readonly Grant[];
  readonly asks: readonly (Ask & { readonly elsewhere: boolean; readonly dry: boolean })[];
}

const anyAsk = fc
  .record({
    verb: fc.constantFrom<string>(...verbs),
    resource: fc.constantFrom<string>(...resources),
    name: fc.constantFrom<string>(...names),
    elsewhere: fc.nat(4).map((draw) => draw === 0),
    dry: fc.boolean(),
  })
  .map((ask) => {
    const isSub = ask.resource.includes("/");
    const verb = isSub && !["get", "update", "patch"].includes(ask.verb) ? "get" : ask.verb;
    // A pod that is let in would still have to pass admission: nobody creates one here.
    const resource = verb === "create" && ask.resource === "pods" ? "configmaps" : ask.resource;
    return { ...ask, verb, resource, name: ofCollections.includes(verb) ? "" : ask.name };
  });

const anyProgram: fc.Arbitrary<Program> = fc.record({
  grants: fc.array(
    fc.record({
      verbs: fc.uniqueArray(fc.constantFrom<string>(...verbs, "*"), { minLength: 1, maxLength: 3 }),
      resources: fc.uniqueArray(fc.constantFrom<string>(...resources), { minLength: 1, maxLength: 2 }),
      names: fc.oneof(
        fc.constant([]),
        fc.uniqueArray(fc.constantFrom<string>(...names), { minLength: 1, maxLength: 2 }),
      ),
    }),
    { maxLength: 3 },
  ),
  asks: fc.array(anyAsk, { minLength: 1, maxLength: 5 }),
});

/** One right for each type, and a request of each kind: whether one verb stands for another. */
const singleRights: readonly Program[] = [
  { configmaps: "get", podtemplates: "delete" },
  { configmaps: "list", podtemplates: "update" },
  { configmaps: "deletecollection", podtemplates: "patch" },
  { configmaps: "watch", podtemplates: "create" },
].map((rights) => ({
  grants: Object.entries(rights).map(([resource, verb]) => ({ verbs: [verb], resources: [resource], names: [] })),
  asks: Object.keys(rights).flatMap((resource) =>
    verbs.map((verb) => {
      const name = ofCollections.includes(verb) ? "" : "a";
      return { verb, resource, name, elsewhere: false, dry: false };
    }),
  ),
}));

/**
 * Property: a request is let in exactly when an access review says so, and that is when a role of the caller grants it: for
 * its verb, resource and name, in the namespace of the role and no other, dry or not. What is not let in says so in a Status.
 * Method: a service account with random rules in its namespace; every request is asked about, and then sent in its name.
 */
export const reviewsSayWhatHappens = defineCheck<Program>({
  id: "reviews-say-what-happens",
  area: "authorization",
  property: "A caller may do what its roles grant, and an access review says just that.",
  requirements: [
    "authorization.reviews",
    "authorization.rules",
    "authorization.forbidden",
    "authorization.namespace-scope",
    "authorization.subresources",
    "authorization.dry-run",
    "names.virtual",
  ],
  features: ["roles", "service-accounts", "access-reviews", "configmaps", "podtemplates", "pods", "namespaces"],
  cost: "slow",
  input: anyProgram,
  examples: [
    ...singleRights,
    {
      grants: [{ verbs: ["get", "delete"], resources: ["configmaps", "pods"], names: [] }],
      asks: [
        { verb: "get", resource: "configmaps", name: "a", elsewhere: false, dry: false },
        { verb: "get", resource: "configmaps", name: "a", elsewhere: true, dry: false },
        { verb: "list", resource: "configmaps", name: "", elsewhere: false, dry: false },
        { verb: "get", resource: "pods/status", name: "a", elsewhere: false, dry: false },
        { verb: "patch", resource: "configmaps", name: "a", elsewhere: false, dry: true },
        { verb: "create", resource: "configmaps", name: "", elsewhere: false, dry: true },
      ],
    },
  ],
  async run(attempt, { grants, asks }) {
    const user = await createSecondUser(attempt);
    await grant(attempt, user, grants);
    await judgeRules(attempt, user, grants);
    for (const ask of asks) {
      const namespace = await attempt.target.namespace(ask.elsewhere ? "-other" : "");
      const reviewed = await mayDo(attempt, user, ask, namespace);
      attempt.holds("names.virtual", undefined); // reviews have no name, and many are posted
      const answer =
        ask.verb === "watch"
          ? { status: await statusOfWatch(attempt, user, ask, namespace) }
          : await send(attempt, user, ask, namespace);
      const granted = !ask.elsewhere && isGranted(grants, ask);
      const answered: Answered = { ask, namespace, granted, reviewed, status: answer.status };
      attempt.holds("authorization.reviews", judgeReview(answered));
      for (const requirement of requirementsOf(ask)) attempt.holds(requirement, judgeGrant(answered));
      if (answer.status === 403 && "headers" in answer) judgeRefusal(attempt, user, ask, namespace, answer);
    }
  },
});

/** What a caller may do is also told as rules, for one namespace; a server that knows of more may say that it tells a part. */
async function judgeRules(attempt: Attempt, user: SecondUser, grants: readonly Grant[]): Promise<void> {
  const apiVersion = `authorization.${attempt.profile.dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "SelfSubjectRulesReview", spec: { namespace: user.namespace } };
  const path = `/apis/${apiVersion}/selfsubjectrulesreviews`;
  const answer = await attempt.client.request("POST", path, { body, as: user.as });
  const status = isJsonObject(answer.json) ? answer.json["status"] : undefined;
  if (answer.status !== 201 || !isJsonObject(status) || status["incomplete"] === true) return;
  const rules = (Array.isArray(status["resourceRules"]) ? status["resourceRules"] : []).map((rule): Grant => {
    const texts = (field: string): readonly string[] =>
      isJsonObject(rule) && Array.isArray(rule[field]) ? (rule[field] as readonly string[]) : [];
    return { verbs: texts("verbs"), resources: texts("resources"), names: texts("resourceNames") };
  });
  const asks = grants.flatMap(({ verbs: granted, resources: of, names: called }) =>
    granted
      .filter((verb) => verb !== "*")
      .flatMap((verb) =>
        of.flatMap((resource) => (called.length === 0 ? [""] : called).map((name) => ({ verb, resource, name }))),
      ),
  );
  const done = ["selfsubjectrulesreviews", "selfsubjectaccessreviews"].map((resource) => ({
    verb: "create",
    resource,
    name: "",
  }));
  const missing = [...asks, ...done].find((ask) => !isGranted(rules, ask));
  const expected = `a rule for ${JSON.stringify(missing)}, which the caller may do`;
  attempt.expect("authorization.rules", missing === undefined, expected, answer.text.slice(0, 900));
}

function requirementsOf({ elsewhere, resource, dry, verb }: Program["asks"][number]): string[] {
  return [
    ...(elsewhere ? ["authorization.namespace-scope"] : []),
    ...(resource.startsWith("pods") ? ["authorization.subresources"] : []),
    ...(dry && verb !== "get" && verb !== "list" && verb !== "watch" ? ["authorization.dry-run"] : []),
    "authorization.forbidden",
  ];
}

async function statusOfWatch(
  attempt: Attempt,
  { as }: SecondUser,
  { resource }: Program["asks"][number],
  namespace: string,
): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/${resource}`;
  const watch = await attempt.answeredWatch(() => attempt.client.watch(path, { timeoutSeconds: 60 }, { as }));
  const status = await attempt.statusOf(watch);
  watch.close();
  if (status === undefined) throw new Inconclusive(`no answer to a watch of ${path}`);
  return status;
}

/** The request itself. What would be created is only created dry, so that asks do not build on one another. */
async function send(
  attempt: Attempt,
  user: SecondUser,
  ask: Program["asks"][number],
  namespace: string,
): Promise<Answer> {
  const { verb, resource, name, dry } = ask;
  const [plural, subresource] = resource.split("/");
  const collection = `/api/v1/namespaces/${namespace}/${plural}`;
  const path = `${collection}/${name}${subresource === undefined ? "" : `/${subresource}`}`;
  const { as } = user;
  const written = { query: dry || verb === "create" || verb === "update" ? { dryRun: "All" } : {}, as };
  const { client } = attempt;
  switch (verb) {
    case "get":
      return client.request("GET", path, { as });
    case "list":
      return client.request("GET", collection, { as });
    case "create":
      return client.request("POST", collection, { ...written, body: objectNamed(plural as string, "fresh") });
    case "update":
      // Of a version that nothing has: where an absent object would be created by PUT, that takes another right.
      return client.request("PUT", path, { ...written, body: objectNamed(plural as string, name, "1") });
    case "patch":
      return client.request("PATCH", path, {
        ...written,
        body: { metadata: { labels: { changed: "yes" } } },
        contentType: "application/merge-patch+json",
      });
    case "delete":
      return client.request("DELETE", path, written);
    default:
      return (await attempt.target.collection(resource, ask.elsewhere ? "-other" : "")).deleteCollection({
        query: { dryRun: "All" },
        as,
      });
  }
}

const kinds: Readonly<Record<string, string>> = { configmaps: "ConfigMap", podtemplates: "PodTemplate", pods: "Pod" };
const spec = { containers: [{ name: "main", image: "example.com/none:1" }] };

function objectNamed(plural: string, name: string, resourceVersion?: string): JsonObject {
  return {
    apiVersion: "v1",
    kind: kinds[plural] as string,
    metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(plural === "podtemplates" ? { template: { spec } } : plural === "pods" ? { spec } : {}),
  };
}

/** A Status that names the caller, the verb and the resource. */
function judgeRefusal(attempt: Attempt, user: SecondUser, ask: Ask, namespace: string, answer: Answer): void {
  const [plural] = ask.resource.split("/");
  const said = messageOf(answer);
  const wanted = [`"${user.username}"`, `cannot ${ask.verb} resource "${ask.resource}"`, `namespace "${namespace}"`];
  const isWhole =
    isFailureStatus(answer) && detailsOf(answer)["kind"] === plural && wanted.every((text) => said.includes(text));
  attempt.expect(
    "authorization.forbidden",
    isWhole,
    `a Status about ${plural} that says ${wanted.join(", ")}`,
    shownAnswer(answer),
  );
}
