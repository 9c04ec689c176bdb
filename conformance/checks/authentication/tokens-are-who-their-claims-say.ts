import fc from "fast-check";
import { messageOf, shownAnswer } from "../../client/status-document.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import type { Json } from "../../client/types.ts";
import type { IssuerName } from "../../model/access-files.ts";
import {
  type Breach,
  farFutureSeconds,
  fateOf,
  judgeTokenUser,
  longAgoSeconds,
  userIn,
} from "../../model/token-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { whoHolds } from "../../runner/token-desk.ts";

/** A claim that is other than in a good token; null stands for one that is absent, and `issuer` for the URL of an issuer. */
interface Change {
  readonly claim: string;
  readonly value: Json | { readonly issuer: IssuerName };
}

interface Program {
  readonly name: IssuerName;
  readonly changes: readonly Change[];
}

const absent = null;

const changed = (claim: string, ...values: Change["value"][]): Change[] => values.map((value) => ({ claim, value }));

const envelope: readonly Change[] = [
  ...changed("iss", absent, "https://issuer.example", { issuer: "elsewhere" }),
  ...changed("aud", absent, "others", "touchstone-too", ["others", "touchstone"], ["others"]),
  ...changed("exp", absent, longAgoSeconds),
  ...changed("nbf", longAgoSeconds, farFutureSeconds),
];

const texts = (claim: string): readonly Change[] =>
  changed(claim, absent, "", [], "one", ["one", "two"], ["system:masters"], ["one", "system:x", "two"]);

const changesOf: Readonly<Partial<Record<IssuerName, readonly Change[]>>> = {
  claims: [
    ...changed("sub", absent, "joe", "system:admin", "jane:doe", 7, ["jane"]),
    ...changed("uid", "u-2", 7, ["u-1"]),
    ...changed("tenant", absent, "other", ""),
    ...changed("suspended", absent, "yes"),
    ...texts("groups"),
  ],
  expressions: [
    ...changed("sub", absent, "joe", "system:admin", "systematic"),
    ...changed("id", "e-2", ["e-1"]),
    ...changed("plan", absent, "free", ""),
    ...changed("team", absent, "", "red", ["red", "", "blue"]),
    ...changed("badges", "gold", ["gold", ""], [""], []),
    ...texts("roles"),
  ],
  email: [...changed("email", absent, "joe@example.com"), ...changed("email_verified", absent, false, "true")],
  "email-claim": [...changed("email", absent, "joe@example.com"), ...changed("email_verified", absent, false)],
};

const anyProgram: fc.Arbitrary<Program> = fc.oneof(
  ...Object.entries(changesOf).map(([name, own]) =>
    fc.record({
      name: fc.constant(name as IssuerName),
      changes: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...own) }, fc.constantFrom(...envelope)), {
        maxLength: 3,
      }),
    }),
  ),
);

const one = (name: IssuerName, claim: string, value: Change["value"]): Program => ({
  name,
  changes: [{ claim, value }],
});

/**
 * Property: a token comes to the user whom its claims make under the rules of its authenticator, in name, uid, groups and extra
 * values; a token that breaks a rule is answered 401, and where a rule has a text for that, this text is told.
 * Method: the target is started with the suite's file, so that the suite is the issuer. Tokens with random claims ask who
 * their holder is, and a model of the file's rules says who that must be.
 */
export const tokensAreWhoTheirClaimsSay = defineCheck<Program>({
  id: "tokens-are-who-their-claims-say",
  area: "authentication",
  property: "A token's holder is the user that its claims make, or nobody.",
  requirements: [
    "authentication-config.claim-rules",
    "authentication-config.minimum-claims",
    "authentication-config.issuer-match",
    "authentication-config.audiences",
    "authentication-config.audience-policy",
    "authentication-config.lifetime",
    "authentication-config.required-claim",
    "authentication-config.claim-expression",
    "authentication-config.username",
    "authentication-config.prefix",
    "authentication-config.groups",
    "authentication-config.uid",
    "authentication-config.extra",
    "authentication-config.user-rules",
    "authentication-config.user-message",
    "authentication-config.email-verified",
    "authentication-config.rules-order",
  ],
  features: ["token-issuer", "self-reviews"],
  input: anyProgram,
  // By URL few programs are run: these say something of every requirement.
  examples: [
    { name: "claims", changes: [] },
    { name: "claims", changes: changed("groups", ["one", "two"]) },
    { name: "expressions", changes: changed("badges", ["gold", ""]) },
    one("claims", "sub", ["jane"]),
    one("claims", "exp", absent),
    one("claims", "exp", longAgoSeconds),
    one("claims", "aud", "touchstone-too"),
    one("claims", "aud", "others"),
    one("claims", "iss", "https://issuer.example"),
    one("claims", "tenant", "other"),
    one("claims", "suspended", absent),
    one("expressions", "plan", "free"),
    one("expressions", "sub", "system:admin"),
    one("expressions", "roles", ["system:masters"]),
    one("email", "email_verified", false),
    one("email-claim", "email_verified", false),
    { name: "email-claim", changes: [] },
    { name: "expressions", changes: [...changed("plan", "free"), ...changed("sub", "system:admin")] },
  ],
  async run(attempt, { name, changes }) {
    const { tokens } = attempt.access;
    if (tokens === undefined) throw new Unsupported("token-issuer");
    const claims: Record<string, Json | undefined> = { ...tokens.goodClaims(name) };
    for (const { claim, value } of changes) {
      if (value === absent) delete claims[claim];
      else claims[claim] = isIssuer(value) ? tokens.issuer(value.issuer) : value;
    }
    const answer = await whoHolds(attempt.client, attempt.profile.dialect, tokens.token(name, claims));
    const fate = fateOf(name, tokens.issuer(name), claims);
    const shown = `a token of ${tokens.issuer(name)} with ${shownChanges(changes)}`;
    if ("user" in fate) {
      if (answer.status === 403)
        throw new Inconclusive(`a token's holder may not ask who it is: ${shownAnswer(answer)}`);
      const expected = `${shown} is ${fate.user.username}`;
      attempt.expect("authentication-config.claim-rules", answer.status < 300, expected, shownAnswer(answer));
      const wrong = judgeTokenUser(fate.user, userIn(answer.json));
      if (wrong !== undefined) attempt.holds(wrong.requirement, wrong.violation);
      for (const part of ["username", "prefix", "groups", "uid", "extra", "audience-policy"]) {
        attempt.holds(`authentication-config.${part}`, undefined);
      }
    } else judgeRefusal(attempt, shown, fate.breaches, answer.status, messageOf(answer));
  },
});

const isIssuer = (value: Change["value"]): value is { readonly issuer: IssuerName } =>
  typeof value === "object" && value !== null && "issuer" in value;

/** What breaks two promises says nothing of either's text. */
function judgeRefusal(
  attempt: Attempt,
  shown: string,
  breaches: readonly Breach[],
  status: number,
  told: string,
): void {
  const [first] = breaches as readonly [Breach, ...Breach[]];
  attempt.expect(first.requirement, status === 401, `401 for ${shown}`, String(status));
  judgeOrder(attempt, shown, breaches, told);
  if (breaches.length > 1 || first.message === undefined) return;
  const isOfUser = first.requirement.endsWith("user-rules");
  const promise = told.includes(first.message)
    ? undefined
    : { expected: `the text ${JSON.stringify(first.message)} in the 401 for ${shown}`, actual: JSON.stringify(told) };
  attempt.holdsOrDeviates(
    isOfUser ? "user-rules-say-nothing" : "claim-rules-say-nothing",
    isOfUser ? "authentication-config.user-message" : "authentication-config.claim-expression",
    promise,
    promise !== undefined,
  );
}

/** Claims are looked at first, and the user that they make last: who breaks both is not told of the user. */
function judgeOrder(attempt: Attempt, shown: string, breaches: readonly Breach[], told: string): void {
  const isOfUser = ({ requirement }: Breach): boolean => requirement.endsWith("user-rules");
  const users = breaches.filter(isOfUser);
  if (users.length === 0 || users.length === breaches.length) return;
  const late = users.find(({ message }) => message !== undefined && told.includes(message));
  const expected = `no word of the user rules in the 401 for ${shown}, which breaks a rule for claims`;
  attempt.expect("authentication-config.rules-order", late === undefined, expected, told);
}

function shownChanges(changes: readonly Change[]): string {
  if (changes.length === 0) return "good claims";
  return changes
    .map(({ claim, value }) => (value === absent ? `no ${claim}` : `${claim} ${JSON.stringify(value)}`))
    .join(", ");
}
