/** Signs tokens with an RSA key made when the first one is wanted: RS256, as a real server does. Source: RFC 7518, 3.3. */
import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import type { TokenSigner } from "../../apiserver/access/token-signer.ts";
import type { JsonObject } from "../../contract/http-message.ts";

interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly keyId: string;
}

export function rsaSigner(): TokenSigner {
  let made: Keys | undefined;
  const keys = (): Keys => (made ??= makeKeys());
  return {
    algorithm: "RS256",
    get keyId() {
      return keys().keyId;
    },
    get publicKeys() {
      const { publicKey, keyId } = keys();
      return [{ use: "sig", ...publicKey.export({ format: "jwk" }), kid: keyId, alg: "RS256" } as JsonObject];
    },
    sign: (input) => sign("sha256", input, keys().privateKey),
    verify: (input, signature) => verify("sha256", input, keys().publicKey, signature),
  };
}

/** The key's name is a digest of it, so that another run's tokens are told apart. */
function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keyId = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { privateKey, publicKey, keyId };
}
