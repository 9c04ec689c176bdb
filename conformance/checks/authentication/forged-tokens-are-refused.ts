import { createHmac } from "node:crypto";
import fc from "fast-check";
import { encodeBase64Url } from "../../../wire/base64.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { Unsupported } from "../../client/findings.ts";
import type { JsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { jsonPart, signed, type TokenDesk, whoHolds } from "../../runner/token-desk.ts";

const good = (desk: TokenDesk): JsonObject => desk.goodClaims("claims");

/** The token in three parts. */
const partsOf = (token: string): readonly [string, string, string] =>
  token.split(".") as unknown as readonly [string, string, string];

const hmac = (secret: string, input: string): string =>
  encodeBase64Url(createHmac("sha256", secret).update(input).digest());

/** Each from what is signed as it should be, by the claims of a good token. */
const forgeries: Readonly<Record<string, (desk: TokenDesk) => string>> = {
  "no algorithm": (desk) => `${jsonPart({ alg: "none" })}.${jsonPart(good(desk))}.`,
  "no signature": (desk) => `${partsOf(desk.token("claims")).slice(0, 2).join(".")}.`,
  "the public key as a shared secret": (desk) => {
    const input = `${jsonPart({ alg: "HS256", kid: desk.signer.key["kid"] })}.${jsonPart(good(desk))}`;
    return `${input}.${hmac(JSON.stringify(desk.signer.key), input)}`;
  },
  "claims that were changed": (desk) => {
    const [head, , signature] = partsOf(desk.token("claims"));
    return `${head}.${jsonPart({ ...good(desk), sub: "joe" })}.${signature}`;
  },
  "a signature that was changed": (desk) => {
    const token = desk.token("claims");
    return token.slice(0, -8) + (token.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA");
  },
  "two signatures": (desk) => `${desk.token("claims")}.${partsOf(desk.token("claims"))[2]}`,
  "the key of another issuer": (desk) => signed(desk.stranger, good(desk)),
  "a key that nobody has": (desk) => signed(desk.stranger, good(desk), { kid: "nobody" }),
  "another's key under the issuer's name for its own": (desk) =>
    signed(desk.stranger, good(desk), { kid: desk.signer.key["kid"] as string }),
  "a key of its own (jwk)": (desk) =>
    signed(desk.stranger, good(desk), { kid: "own", jwk: desk.stranger.key as JsonObject }),
  "a key set of its own (jku)": (desk) =>
    signed(desk.stranger, good(desk), { kid: "own", jku: `${desk.url}/elsewhere/keys` }),
  "a certificate of its own (x5u)": (desk) =>
    signed(desk.stranger, good(desk), { kid: "own", x5u: `${desk.url}/elsewhere/certificate` }),
  "a critical part that nobody knows": (desk) =>
    signed(desk.signer, good(desk), { crit: ["touchstone"], touchstone: true }),
};

const names = Object.keys(forgeries);

/**
 * Property: a token that the keys of its issuer do not verify is nobody's, whatever it says and whatever keys it brings along.
 * Method: known attacks on readers of signed tokens, each made from a token that is accepted as it is.
 * Source: RFC 8725, 2 and 3.
 */
export const forgedTokensAreRefused = defineCheck({
  id: "forged-tokens-are-refused",
  area: "authentication",
  property: "Nobody comes in with a token that the issuer's keys do not verify.",
  requirements: ["authentication-config.signature"],
  features: ["token-issuer", "self-reviews"],
  input: fc.constantFrom(...names),
  examples: names,
  async run(attempt, name) {
    const { tokens } = attempt.access;
    if (tokens === undefined) throw new Unsupported("token-issuer");
    const { dialect } = attempt.profile;
    const real = await whoHolds(attempt.client, dialect, tokens.token("claims"));
    const shown = shownAnswer(real);
    attempt.expect("authentication-config.signature", real.status < 300, "a good token is accepted", shown);
    const forged = (forgeries[name] as (desk: TokenDesk) => string)(tokens);
    const answer = await whoHolds(attempt.client, dialect, forged);
    const expected = `401 for a token with ${name}`;
    attempt.expect("authentication-config.signature", answer.status === 401, expected, shownAnswer(answer));
  },
});
