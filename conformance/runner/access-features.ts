/** Whether the target is configured with the suite's files: only trying shows it. */
import type { Dialect } from "../../wire/dialect.ts";
import type { FeatureResult } from "../../reports/schema/suite-report.ts";
import type { Client } from "../client/client.ts";
import { gatedAccount } from "../model/access-files.ts";
import type { AccessDesks } from "./attempt.ts";
import type { FeatureName, Features } from "./features.ts";
import { opinion } from "./review-desk.ts";
import { whoHolds } from "./token-desk.ts";

const started = "is the target started with the file that conform --print-config prints?";

/** `runId` makes its question one that no cache knows. */
export async function detectAccess(
  client: Client,
  dialect: Dialect,
  access: AccessDesks,
  runId: string,
): Promise<Features> {
  const [issuer, how] = await tryTokens(client, dialect, access);
  const [authorizer, why] = await tryReviews(client, dialect, access, runId);
  const result = (feature: FeatureName, supported: boolean, told: string): [FeatureName, FeatureResult] => [
    feature,
    { feature, supported, how: told },
  ];
  return new Map([result("token-issuer", issuer, how), result("authorizer-webhooks", authorizer, why)]);
}

/** Servers look for an issuer now and then, as long as there is none. */
const patienceMillis = 25_000;
const pauseMillis = 500;

/** A target that has called the issuer and takes no token of it is for the checks to judge. */
async function tryTokens(client: Client, dialect: Dialect, { tokens }: AccessDesks): Promise<[boolean, string]> {
  if (tokens === undefined)
    return [false, "nobody said how the target can reach the suite as an issuer: --token-issuer"];
  const endMillis = client.clock.nowMillis() + patienceMillis;
  for (;;) {
    const { status } = await whoHolds(client, dialect, tokens.token("claims"));
    if (status !== 401) return [true, `a token of the suite was answered ${status}`];
    if (client.clock.nowMillis() >= endMillis) break;
    await client.pause(pauseMillis);
  }
  if (!tokens.isCalled) return [false, `the target did not call the issuer ${tokens.url}: ${started}`];
  return [true, `the target called the issuer ${tokens.url}, and answered its token 401`];
}

/** Asks about a user whom no role names: only a webhook can know of it. */
async function tryReviews(
  client: Client,
  dialect: Dialect,
  { reviews }: AccessDesks,
  runId: string,
): Promise<[boolean, string]> {
  if (reviews === undefined) {
    return [false, "nobody said how the target can reach the suite as an authorizer: --authorizer-address"];
  }
  const user = `system:serviceaccount:touchstone-${runId}:${gatedAccount}`;
  let askedCount = 0;
  const stop = reviews.answerFor(user, ({ review }) => {
    askedCount += 1;
    return opinion(review, "none");
  });
  const apiVersion = `authorization.${dialect.groupSuffix}/v1`;
  const resourceAttributes = {
    namespace: "default",
    verb: "get",
    version: "v1",
    resource: "configmaps",
    name: "probe",
  };
  const spec = { user, groups: ["system:authenticated"], resourceAttributes };
  const body = { apiVersion, kind: "SubjectAccessReview", spec };
  const { status } = await client.request("POST", `/apis/${apiVersion}/subjectaccessreviews`, { body });
  stop();
  if (askedCount > 0) return [true, "the webhooks were asked about an access review"];
  return [false, `the webhooks were not asked about an access review (answered ${status}): ${started}`];
}
