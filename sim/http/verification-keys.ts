/** Public keys of issuers in Node's own cryptography, which answers at once. Source: RFC 7518, 3. */
import {
  createPublicKey,
  constants,
  type JsonWebKey,
  type KeyObject,
  type VerifyKeyObjectInput,
  verify,
} from "node:crypto";
import { algorithmsFor, type KeyReader } from "../apiserver/access/tokens/verification-keys.ts";

/** Shorter ones can be had for money. Source: RFC 7518, 3.3. */
const rsaBitsMin = 2_048;

export const readKey: KeyReader = (jwk) => {
  const algorithms = algorithmsFor(jwk);
  if (algorithms.length === 0) return undefined;
  const key = publicKey(jwk);
  if (key === undefined) return undefined;
  const { kid } = jwk;
  return {
    keyId: typeof kid === "string" ? kid : undefined,
    fits: (algorithm) => algorithms.includes(algorithm),
    verify: (algorithm, input, signature) => isGood(algorithm, key, input, signature),
  };
};

function publicKey(jwk: object): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < rsaBitsMin ? undefined : key;
  } catch {
    return undefined; // no key that this machine can use
  }
}

function isGood(algorithm: string, key: KeyObject, input: Uint8Array, signature: Uint8Array): boolean {
  const digest = /\d{3}$/.exec(algorithm)?.[0];
  const hash = algorithm.startsWith("Ed") || digest === undefined ? undefined : `sha${digest}`;
  const how: VerifyKeyObjectInput = algorithm.startsWith("PS")
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : algorithm.startsWith("ES")
      ? { key, dsaEncoding: "ieee-p1363" }
      : { key };
  try {
    return verify(hash, input, how, signature);
  } catch {
    return false; // a signature that cannot even be looked at
  }
}
