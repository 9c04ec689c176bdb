/**
 * Keys that sign tokens. By URL a key is drawn anew for each run and signs with RS256, which every reader of OpenID Connect
 * knows. Embedded, it follows from the run's seed and signs with ES256, whose signatures can be made without chance.
 * Source: RFC 7518, 3.3, 3.4; RFC 6979; OpenID Connect Core, 15.1.
 */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import type { TokenSigner } from "../../wire/ports.ts";

const rsaBits = 2_048;

export function drawnSigner(keyId: string): TokenSigner {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: rsaBits });
  return {
    algorithm: "RS256",
    key: { ...publicKey.export({ format: "jwk" }), kid: keyId, alg: "RS256", use: "sig" },
    sign: (input) => sign("sha256", input, privateKey),
  };
}

export function seededSigner(keyId: string, seed: string): TokenSigner {
  const secret = createHash("sha256").update(`${seed}/${keyId}`).digest();
  const point = p256.getPublicKey(secret, false);
  const part = (from: number): string => Buffer.from(point.subarray(from, from + 32)).toString("base64url");
  return {
    algorithm: "ES256",
    key: { kty: "EC", crv: "P-256", x: part(1), y: part(33), kid: keyId, alg: "ES256", use: "sig" },
    sign: (input) => p256.sign(input, secret),
  };
}
