import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, type JsonObject, versionOf } from "../../client/types.ts";
import { type Grant, isCovered } from "../../model/access.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { grant, rulesOf } from "../../runner/roles.ts";
import { createSecondUser, type SecondUser } from "../../runner/service-account.ts";

const verbs = ["get", "update", "delete"] as const;
const resources = ["configmaps", "pods", "pods/status"] as const;
const names = ["a", "b"] as const;
const ways = ["post", "create by apply", "put", "merge", "json", "strategic", "apply", "bind"] as const;

interface Step {
  readonly way: (typeof ways)[number];
  readonly wanted: readonly Grant[];
  readonly dry: boolean;
}

const anyGrant = (most: number): fc.Arbitrary<Grant> =>
  fc.record({
    verbs: fc.uniqueArray(fc.constantFrom<string>(...verbs, "*"), { minLength: 1, maxLength: most }),
    resources: fc.uniqueArray(fc.constantFrom<string>(...resources), { minLength: 1, maxLength: most }),
    names: fc.oneof(fc.constant([]), fc.uniqueArray(fc.constantFrom<string>(...names), { minLength: 1, maxLength: 2 })),
  });

/** What it takes to write roles at all. */
const writing: Grant = {
  verbs: ["get", "create", "update", "patch"],
  resources: ["roles", "rolebindings"],
  names: [],
};
const heldExample: Grant = { verbs: ["get"], resources: ["configmaps"], names: [] };
const wantedExamples: readonly Grant[] = [heldExample, { ...heldExample, verbs: ["get", "delete"] }];

/**
 * Property: who may write roles and bindings grants by them what they hold themselves, and nothing else, whichever verb writes it,
 * dry or not; what is refused is answered 403 and changes nothing.
 * Method: a service account with random rules writes roles of random rules, and binds roles that somebody else has made.
 */
export const nobodyGrantsWhatTheyLack = defineCheck<{
  readonly held: readonly Grant[];
  readonly steps: readonly Step[];
}>({
  id: "nobody-grants-what-they-lack",
  area: "authorization",
  property: "Nobody grants by a role or a binding what they do not hold, whichever verb writes it.",
  requirements: ["authorization.escalation"],
  features: ["roles", "service-accounts", "access-reviews", "configmaps", "pods"],
  cost: "slow",
  input: fc.record({
    held: fc.array(anyGrant(3), { minLength: 1, maxLength: 3 }),
    steps: fc.array(
      fc.record({
        way: fc.constantFrom(...ways),
        wanted: fc.array(anyGrant(2), { minLength: 1, maxLength: 2 }),
        dry: fc.nat(3).map((draw) => draw === 3),
      }),
      { minLength: 2, maxLength: 6 },
    ),
  }),
  examples: [
    {
      held: [heldExample],
      steps: ways.flatMap((way) => wantedExamples.map((wanted) => ({ way, wanted: [wanted], dry: false }))),
    },
  ],
  async run(attempt, { held, steps }) {
    const group = `rbac.authorization.${attempt.profile.dialect.groupSuffix}`;
    const roles = await attempt.target.collection("roles", "", `/apis/${group}/v1`);
    const bindings = await attempt.target.collection("rolebindings", "", `/apis/${group}/v1`);
    const role = (name: string, grants: readonly Grant[]): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: "Role",
      metadata: { name },
      rules: rulesOf(attempt, grants),
    });
    // Before the rights are granted: who knows of these knows of the roles, too.
    const made: (ApiObject | undefined)[] = [];
    for (const [index, { way, wanted }] of steps.entries()) {
      const isNew = way === "post" || way === "create by apply";
      const live = role(`role-${index}`, way === "bind" ? wanted : []);
      made.push(isNew ? undefined : objectOf(await roles.create(live)));
    }
    const user = await createSecondUser(attempt);
    await grant(attempt, user, [...held, writing], "held");
    for (const [index, step] of steps.entries()) {
      const { way, wanted, dry } = step;
      const name = `role-${index}`;
      const live = made[index];
      const isLawful = isCovered([...held, writing], wanted);
      const answer =
        way === "bind"
          ? await bindings.create(bindingOf(group, name, user), { as: user.as, ...dryly(dry) })
          : await send(roles, way, role(name, wanted), live, user, dry);
      const what = `a ${dry ? "dry " : ""}${way} that grants ${JSON.stringify(wanted)} by one who holds ${JSON.stringify(held)}`;
      const expected = isLawful ? `let in: ${what}` : `403 for ${what}`;
      const isRight = isLawful ? answer.status < 300 : answer.status === 403;
      attempt.expect("authorization.escalation", isRight, expected, shownAnswer(answer));
      if (isLawful) continue;
      const read = await (way === "bind" ? bindings : roles).get(name);
      const isUntouched =
        live === undefined || way === "bind" ? read.status === 404 : versionOf(objectOf(read)) === versionOf(live);
      attempt.expect("authorization.escalation", isUntouched, `nothing changed by ${what}`, shownAnswer(read));
    }
  },
});

const dryly = (dry: boolean) => ({ query: dry ? { dryRun: "All" } : {} });

const bindingOf = (group: string, name: string, { account, namespace }: SecondUser): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "RoleBinding",
  metadata: { name },
  subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  roleRef: { apiGroup: group, kind: "Role", name },
});

function send(
  roles: Collection,
  way: Exclude<Step["way"], "bind">,
  role: JsonObject,
  live: ApiObject | undefined,
  { as }: SecondUser,
  dry: boolean,
): Promise<Answer> {
  const { query } = dryly(dry);
  const { name } = role["metadata"] as { readonly name: string };
  const rules = role["rules"] as JsonObject[];
  switch (way) {
    case "post":
      return roles.create(role, { as, query });
    case "put":
      return roles.put(name, { ...live, rules }, { as, query });
    case "merge":
    case "strategic":
      return roles.patch(name, way, { rules }, { as, query });
    case "json":
      return roles.patch(name, "json", [{ op: "add", path: "/rules", value: rules }], { as, query });
    default:
      return roles.patch(name, "apply", role, { as, query: { ...query, fieldManager: "applier", force: true } });
  }
}
