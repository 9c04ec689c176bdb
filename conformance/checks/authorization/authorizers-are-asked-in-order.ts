import fc from "fast-check";
import { shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { type AuthorizerName, pastPrefix, webhooks } from "../../model/access-files.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { type GatedUser, gatedUser, isRefused, mayRead } from "../../runner/gated-user.ts";
import { type Opinion, type Question, specOf } from "../../runner/review-desk.ts";
import { grant } from "../../runner/roles.ts";

interface Ask {
  readonly first: Opinion;
  readonly second: Opinion;
  /** Its name is one that a condition of the first webhook leaves out. */
  readonly past: boolean;
  /** A role grants it. */
  readonly granted: boolean;
}

const anyOpinion = fc.constantFrom<Opinion>("allow", "deny", "none");
const asksMax = 4;

const nameOf = ({ past, granted }: Omit<Ask, "first" | "second">, index: number): string =>
  `${past ? pastPrefix : ""}${granted ? "granted" : "plain"}-${index}`;

const grantedNames = Array.from({ length: asksMax }, (_, index) => index).flatMap((index) =>
  [true, false].map((past) => nameOf({ past, granted: true }, index)),
);

/**
 * Property: authorizers are asked in the order of the file until one has an opinion, which decides; a webhook is asked about
 * what meets all its conditions and nothing else, in its own version of the review, with its conditions read against v1.
 * Method: the suite is two webhooks of the target's file, and says what the program wants. A role grants some of the reads, so
 * that a denial is seen to stand against what comes after it.
 */
export const authorizersAreAskedInOrder = defineCheck<{ readonly asks: readonly Ask[] }>({
  id: "authorizers-are-asked-in-order",
  area: "authorization",
  property: "The first authorizer with an opinion decides, and no other is asked after it.",
  requirements: [
    "authorization-config.authorizers",
    "authorization-config.type",
    "authorization-config.connection",
    "authorization-config.conditions",
    "authorization-config.condition-expression",
    "authorization-config.condition-version",
    "authorization-config.review-version",
  ],
  features: ["authorizer-webhooks", "service-accounts", "roles", "access-reviews", "configmaps", "namespaces"],
  cost: "slow",
  input: fc.record({
    asks: fc.array(fc.record({ first: anyOpinion, second: anyOpinion, past: fc.boolean(), granted: fc.boolean() }), {
      minLength: 1,
      maxLength: asksMax,
    }),
  }),
  examples: [
    {
      asks: [
        { first: "none", second: "allow", past: false, granted: false },
        { first: "deny", second: "allow", past: false, granted: true },
        { first: "deny", second: "none", past: true, granted: true },
        { first: "allow", second: "deny", past: false, granted: false },
      ],
    },
    { asks: [{ first: "none", second: "deny", past: false, granted: true }] },
  ],
  async run(attempt, { asks }) {
    const gated = await gatedUser(attempt);
    await grant(attempt, gated.user, [{ verbs: ["get"], resources: ["configmaps"], names: grantedNames }]);
    for (const [index, ask] of asks.entries()) await judgeAsk(attempt, gated, ask, nameOf(ask, index));
  },
});

async function judgeAsk(attempt: Attempt, gated: GatedUser, ask: Ask, name: string): Promise<void> {
  gated.answers = { first: ask.first, second: ask.second };
  gated.questions.length = 0;
  const answer = await gated.read(name);
  const expected: AuthorizerName[] = ask.past ? ["second"] : ask.first === "none" ? ["first", "second"] : ["first"];
  const asked = [...new Set(gated.questions.map(({ authorizer }) => authorizer))];
  const said = `webhooks that say ${ask.first} and ${ask.second} of ${name}`;
  const requirement = ask.past && asked.includes("first") ? "conditions" : "authorizers";
  attempt.expect(
    `authorization-config.${requirement}`,
    asked.join() === expected.join(),
    `${said}: asked are ${expected.join(", then ")}`,
    asked.join(", then ") || "none",
  );
  for (const question of gated.questions) judgeReview(attempt, gated, question, name);
  const decisive = expected.map((each) => ask[each]).find((says) => says !== "none");
  const isAllowed = decisive === undefined ? ask.granted : decisive === "allow";
  attempt.expect(
    "authorization-config.authorizers",
    isAllowed ? mayRead(answer) : isRefused(answer),
    `${said}${ask.granted ? ", which a role grants" : ""}: ${isAllowed ? "404, since it may read" : "403"}`,
    shownAnswer(answer),
  );
  for (const held of ["conditions", "type", "connection"]) attempt.holds(`authorization-config.${held}`, undefined);
  // It is asked about v1beta1, where groups have another name than in its conditions.
  if (asked.includes("second")) attempt.holds("authorization-config.condition-version", undefined);
  if (asked.includes("second")) attempt.holds("authorization-config.condition-expression", undefined);
}

/** What it is asked is what the user wants to do, in the version that the file names. */
function judgeReview(attempt: Attempt, { user }: GatedUser, { authorizer, review }: Question, name: string): void {
  const { version } = webhooks[authorizer];
  const spec = specOf(review);
  const groups = spec[version === "v1" ? "groups" : "group"];
  const asked: JsonObject = isJsonObject(spec["resourceAttributes"]) ? spec["resourceAttributes"] : {};
  const parts: readonly (readonly [string, unknown, unknown])[] = [
    ["apiVersion", `authorization.${attempt.profile.dialect.groupSuffix}/${version}`, review["apiVersion"]],
    ["kind", "SubjectAccessReview", review["kind"]],
    ["user", user.username, spec["user"]],
    ["namespace", user.namespace, asked["namespace"]],
    ["verb", "get", asked["verb"]],
    ["resource", "configmaps", asked["resource"]],
    ["name", name, asked["name"]],
  ];
  for (const [part, wanted, found] of parts) {
    const shown = `${part} ${JSON.stringify(wanted)} in the review for ${authorizer}`;
    attempt.expect("authorization-config.review-version", wanted === found, shown, JSON.stringify(found) ?? "nothing");
  }
  const missing = user.groups.filter((group) => !Array.isArray(groups) || !groups.includes(group));
  const shown = `the user's groups in the review for ${authorizer}, under ${version}'s name for them`;
  attempt.expect("authorization-config.review-version", missing.length === 0, shown, `${missing.join(", ")} missing`);
}
