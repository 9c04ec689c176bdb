import type { RequestOptions } from "../client/client.ts";
import { type Collection, objectOf } from "../client/collection.ts";
import { isJsonObject, type JsonObject } from "../client/types.ts";
import { Inconclusive } from "../client/findings.ts";
import type { Attempt } from "./attempt.ts";

/** A second caller, whom nobody has granted anything yet. */
export interface SecondUser {
  /** Name of the user that its token stands for. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly namespace: string;
  readonly account: string;
  readonly token: string;
  /** For a request in its name. */
  readonly as: NonNullable<RequestOptions["as"]>;
}

/** Makes a service account in the attempt's namespace, or in a further one, and a token for it. */
export async function createSecondUser(attempt: Attempt, account = "second"): Promise<SecondUser> {
  const accounts = await attempt.target.collection("serviceaccounts");
  objectOf(await accounts.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account } }));
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const request: JsonObject = { apiVersion, kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  const answer = await attempt.client.request("POST", accounts.pathOf(`${account}/token`), { body: request });
  const status = isJsonObject(answer.json) ? answer.json["status"] : undefined;
  const token = isJsonObject(status) ? status["token"] : undefined;
  if (typeof token !== "string") throw new Inconclusive(`no token for a service account: ${answer.text.slice(0, 200)}`);
  await settled(attempt, accounts, { token });
  const namespace = await attempt.target.namespace();
  return {
    username: `system:serviceaccount:${namespace}:${account}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    namespace,
    account,
    token,
    as: { token },
  };
}

/** Every front-end has to hear of the account before it knows its token, and no time is promised for that. */
async function settled(attempt: Attempt, accounts: Collection, as: { readonly token: string }): Promise<void> {
  const deadlineMillis = attempt.clock.nowMillis() + 10_000;
  for (let knownCount = 0; knownCount < knownCountMin && attempt.clock.nowMillis() < deadlineMillis; ) {
    const { status } = await attempt.client.request("GET", accounts.path, { as });
    knownCount = status === 401 ? 0 : knownCount + 1;
    await attempt.client.pause(settlePauseMillis);
  }
}

const knownCountMin = 4;
const settlePauseMillis = 60;
