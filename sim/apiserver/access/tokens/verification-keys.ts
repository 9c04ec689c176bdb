/**
 * What verifies signatures. A port: on a machine the keys are its library's (`sim/http/verification-keys.ts`); in a
 * simulation they are computed here, from EdDSA alone. Both answer at once.
 * Source: RFC 7517 (keys), RFC 7518 (algorithms), RFC 8037 (EdDSA); RFC 8725, 3.1 and 3.2: a key is for its algorithms.
 */
import type { JsonObject } from "../../../contract/http-message.ts";

export interface VerificationKey {
  /** Undefined: the set gives it no name. */
  readonly keyId: string | undefined;
  /** Whether it may be used for this algorithm at all. */
  readonly fits: (algorithm: string) => boolean;
  readonly verify: (algorithm: string, input: Uint8Array, signature: Uint8Array) => boolean;
}

/** Makes a key of what a set says; undefined for a key that is for something else, or of a kind that is not known. */
export type KeyReader = (jwk: JsonObject) => VerificationKey | undefined;

/** Algorithms by the kind of key, and its curve. Those that share a secret, and `none`, are nobody's. */
const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  "EC P-256": ["ES256"],
  "EC P-384": ["ES384"],
  "EC P-521": ["ES512"],
  "OKP Ed25519": ["EdDSA", "Ed25519"],
};

/** The algorithms that a public key may verify: none of a key for encryption, the one that it names itself. */
export function algorithmsFor(jwk: JsonObject): readonly string[] {
  const { kty, crv, use, alg, key_ops: operations } = jwk;
  if (use !== undefined && use !== "sig") return [];
  if (Array.isArray(operations) && !operations.includes("verify")) return [];
  const known = algorithmsOf[crv === undefined ? String(kty) : `${String(kty)} ${String(crv)}`] ?? [];
  return alg === undefined ? known : known.filter((each) => each === alg);
}
