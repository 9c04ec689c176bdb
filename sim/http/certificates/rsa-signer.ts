/**
 * Signs tokens with an RSA key: RS256, as a real server does. The key is made when the first token is wanted, in a thread of the
 * platform's: the search for primes may take a tenth of a second or three. Source: RFC 7518, 3.3.
 */
import { createHash, generateKeyPair, type KeyObject, sign, verify } from "node:crypto";
import type { TokenSigner } from "../../apiserver/access/token-signer.ts";
import type { JsonObject } from "../../contract/http-message.ts";

interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly keyId: string;
}

/** One key for all servers of a run. */
export class RsaKeys {
  made: Keys | undefined;
  readonly #waiting = new Set<() => void>();

  /** Calls `ready` once there is a key, at once where there is one. The function that is returned takes that back. */
  prepare(ready: () => void): () => void {
    if (this.made !== undefined) {
      ready();
      return () => {};
    }
    const waits = (): void => ready();
    if (this.#waiting.size === 0) generateKeyPair("rsa", { modulusLength: 2048 }, this.#found);
    this.#waiting.add(waits);
    return () => void this.#waiting.delete(waits);
  }

  readonly #found = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject): void => {
    if (error !== null) throw error;
    // Whoever took back and waited again has begun another one.
    this.made ??= { privateKey, publicKey, keyId: keyIdOf(publicKey) };
    for (const ready of this.#waiting) {
      this.#waiting.delete(ready);
      ready();
    }
  };
}

/** `turn` enters the server for whoever has waited. */
export function rsaSigner(keys: RsaKeys, turn: (work: () => void) => void): TokenSigner {
  return {
    algorithm: "RS256",
    get keyId() {
      return keys.made?.keyId;
    },
    get publicKeys() {
      if (keys.made === undefined) return [];
      const { publicKey, keyId } = keys.made;
      return [{ use: "sig", ...publicKey.export({ format: "jwk" }), kid: keyId, alg: "RS256" } as JsonObject];
    },
    prepare: (ready) => keys.prepare(() => turn(ready)),
    sign: (input) => sign("sha256", input, (keys.made as Keys).privateKey),
    verify: (input, signature) => keys.made !== undefined && verify("sha256", input, keys.made.publicKey, signature),
  };
}

/** The key's name is a digest of it, so that another run's tokens are told apart. */
const keyIdOf = (publicKey: KeyObject): string =>
  createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
