/** Public keys without a machine's cryptography: EdDSA alone, the same bytes in every engine. Source: RFC 8037, 2 and 3.1. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { decodeBase64Url } from "../../../../wire/base64.ts";
import { algorithmsFor, type KeyReader } from "./verification-keys.ts";

const publicKeyBytes = 32;

export const readPortableKey: KeyReader = (jwk) => {
  const algorithms = algorithmsFor(jwk);
  const { kty, kid, x } = jwk;
  const point = kty === "OKP" && typeof x === "string" ? decodeBase64Url(x) : undefined;
  if (algorithms.length === 0 || !(point instanceof Uint8Array) || point.length !== publicKeyBytes) return undefined;
  return {
    keyId: typeof kid === "string" ? kid : undefined,
    fits: (algorithm) => algorithms.includes(algorithm),
    verify: (_algorithm, input, signature) => isGood(point, input, signature),
  };
};

function isGood(point: Uint8Array, input: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, input, point);
  } catch {
    return false; // of another length, or no point of the curve
  }
}
