/**
 * What signs tokens. A port: `serve` signs with RSA as a real server does (`sim/http/rsa-signer.ts`); a simulation has
 * no such keys and no chance of its own, so it signs with HMAC (HS256) and a key drawn from the run's seed: the same
 * run, the same tokens. A symmetric key cannot be published, so a simulated server's key set is empty.
 * Source: RFC 7515, RFC 7518 section 3.2; RFC 2104.
 */
import type { Cancel, Prng } from "../../kernel/types.ts";
import { sha256 } from "../../kinds/custom/storage-version-hash.ts";
import type { JsonObject } from "../../contract/http-message.ts";

export interface TokenSigner {
  /** As `alg` names it. */
  readonly algorithm: string;
  /** As `kid` names the key. Undefined as long as none was made: there is no token of ours. */
  readonly keyId: string | undefined;
  /** Public keys, as a JSON Web Key Set lists them; empty as long as none was made. */
  readonly publicKeys: readonly JsonObject[];
  /** Calls `ready` once there is a key: before it returns, or later; never after the returned cancel. */
  prepare(ready: () => void): Cancel;
  /** Only with a key. */
  sign(input: Uint8Array): Uint8Array;
  verify(input: Uint8Array, signature: Uint8Array): boolean;
}

const nothing: Cancel = () => {};
const blockBytes = 64;

export function hmacSigner(prng: Prng): TokenSigner {
  const key = new Uint8Array(blockBytes);
  const words = new DataView(key.buffer);
  for (let at = 0; at < 32; at += 4) words.setUint32(at, prng.uint32());
  return {
    algorithm: "HS256",
    keyId: "simulated",
    publicKeys: [],
    prepare: (ready) => {
      ready();
      return nothing;
    },
    sign: (input) => hmac(key, input),
    verify: (input, signature) => sameBytes(hmac(key, input), signature),
  };
}

/** `key` is a whole block: shorter ones end in zeros. */
export function hmac(key: Uint8Array, input: Uint8Array): Uint8Array {
  const padded = (pad: number): Uint8Array => key.map((byte) => byte ^ pad);
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), input))));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
