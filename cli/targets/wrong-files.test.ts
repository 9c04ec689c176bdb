/** Checks of tokens and authorizers on servers that do something else than the suite's files say: each must fail. */
import { expect, test } from "vitest";
import type { AccessHosts } from "../../wire/ports.ts";
import { seededSigner } from "../../conformance/client/signing-keys.ts";
import { allChecks } from "../../conformance/checks/index.ts";
import { planSuite, runPart } from "../../conformance/run-suite.ts";
import { svcProfile } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import { settingsOf, type SuiteDocuments, suiteDocuments } from "./embedded-files.ts";

type Changes = (documents: any) => void;

/** The requirement that a check finds broken, or its verdict. */
async function found(check: string, change: Changes): Promise<string> {
  const documents: SuiteDocuments = structuredClone(suiteDocuments(svcProfile));
  change({
    jwt: Object.fromEntries(
      (documents.AuthenticationConfiguration as any).jwt.map((row: any) => [row.issuer.url.split("/").at(-1), row]),
    ),
    authentication: documents.AuthenticationConfiguration,
    authorizers: (documents.AuthorizationConfiguration as any).authorizers,
    first: (documents.AuthorizationConfiguration as any).authorizers[0].webhook,
    second: (documents.AuthorizationConfiguration as any).authorizers[1].webhook,
  });
  const selection = { profile: "svc", seed: 1, runs: 5, only: [check], targetKind: "embedded" } as const;
  const server = {
    seed: check,
    latencyMicros: { min: 50, max: 2_000 },
    profile: svcProfile,
    authorizationModes: ["RBAC"],
    files: settingsOf(svcProfile, documents),
  } as const;
  const { outcomes } = await withEmbeddedServer(server, ({ issuer, authorizer, ...ports }) => {
    const [signer, stranger, successor] = ["suite", "stranger", "successor"].map((name) => seededSigner(name, "1"));
    const signers = { signer, stranger, successor } as Omit<Required<AccessHosts>["issuer"], "host">;
    const hosts = { issuer: { host: issuer, ...signers }, authorizer };
    const checks = allChecks.filter(({ id }) => id === check);
    return runPart({ ...selection, ...ports, hosts }, planSuite(selection), checks);
  });
  return outcomes[0]?.failure?.requirement ?? outcomes[0]?.verdict.status ?? "nothing";
}

const claims = "tokens-are-who-their-claims-say";
const keys = "keys-are-found-where-the-file-says";
const changing = "keys-of-an-issuer-change";
const anonymous = "anonymous-callers-come-in-at-named-paths";
const order = "authorizers-are-asked-in-order";
const failing = "authorizers-that-fail-decide-by-policy";
const kept = "decisions-are-kept-for-their-lifetime";

test.each<[string, string, Changes, string]>([
  [claims, "nothing", () => {}, "passed"],
  [claims, "claim rules", ({ jwt }) => delete jwt.claims.claimValidationRules, "required-claim"],
  [claims, "a claim rule by expression", ({ jwt }) => delete jwt.expressions.claimValidationRules, "claim-expression"],
  [
    claims,
    "a rule's message",
    ({ jwt }) => (jwt.expressions.claimValidationRules[0].message = "no"),
    "claim-expression",
  ],
  [claims, "user rules", ({ jwt }) => delete jwt.expressions.userValidationRules, "user-rules"],
  [claims, "a user rule's message", ({ jwt }) => delete jwt.expressions.userValidationRules[0].message, "user-message"],
  [claims, "the prefix", ({ jwt }) => (jwt.claims.claimMappings.username.prefix = ""), "username"],
  [claims, "groups", ({ jwt }) => delete jwt.claims.claimMappings.groups, "groups"],
  [claims, "the uid", ({ jwt }) => delete jwt.claims.claimMappings.uid, "uid"],
  [claims, "extra values", ({ jwt }) => jwt.expressions.claimMappings.extra.pop(), "extra"],
  [claims, "one of two audiences", ({ jwt }) => jwt.claims.issuer.audiences.pop(), "claim-rules"],
  [claims, "an audience too many", ({ jwt }) => jwt.claims.issuer.audiences.push("others"), "audiences"],
  [
    claims,
    "the look at email_verified",
    ({ jwt }) => (jwt.email.claimValidationRules[0].expression = "has(claims.email_verified)"),
    "claim-expression",
  ],
  [keys, "nothing", () => {}, "passed"],
  [
    keys,
    "the certificate to trust",
    ({ jwt }) => delete jwt.untrusted.issuer.certificateAuthority,
    "certificate-authority",
  ],
  [keys, "discoveryURL", ({ jwt }) => delete jwt.elsewhere.issuer.discoveryURL, "discovery-url"],
  [changing, "nothing", () => {}, "passed"],
  [changing, "its issuer", ({ jwt }) => (jwt.rotating.issuer.audiences = ["others"]), "inconclusive"],
  [keys, "an issuer", ({ authentication }) => authentication.jwt.shift(), "jwt-order"],
  [anonymous, "nothing", () => {}, "passed"],
  [anonymous, "the paths", ({ authentication }) => delete authentication.anonymous.conditions, "anonymous-paths"],
  [
    anonymous,
    "that anybody is let in",
    ({ authentication }) => (authentication.anonymous.conditions = [{ path: "/no" }]),
    "anonymous",
  ],
  [order, "nothing", () => {}, "passed"],
  [order, "the order", ({ authorizers }) => authorizers.reverse(), "authorizers"],
  [order, "a condition", ({ first }) => first.matchConditions.splice(2, 1), "conditions"],
  [order, "the version", ({ second }) => (second.subjectAccessReviewVersion = "v1"), "review-version"],
  [failing, "nothing", () => {}, "passed"],
  [failing, "Deny", ({ second }) => (second.failurePolicy = "NoOpinion"), "failure-policy"],
  [failing, "NoOpinion", ({ first }) => (first.failurePolicy = "Deny"), "failure-policy"],
  [failing, "the timeout", ({ first }) => (first.timeout = "30s"), "timeout"],
  [kept, "nothing", () => {}, "passed"],
  [kept, "the end of a yes", ({ first }) => (first.authorizedTTL = "1h"), "authorized-ttl"],
  [kept, "the end of a no", ({ second }) => (second.unauthorizedTTL = "1h"), "unauthorized-ttl"],
  [kept, "the cache of a yes", ({ first }) => (first.authorizedTTL = "1us"), "authorized-ttl"],
  [kept, "the cache of a no", ({ second }) => (second.unauthorizedTTL = "1us"), "unauthorized-ttl"],
])("%s, where the server forgets %s", async (check, _what, change, expected) => {
  expect((await found(check, change)).replace(/^.*-config\./, "")).toBe(expected);
});
