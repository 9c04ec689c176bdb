import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { portableSigner, sha512 } from "./portable-signer.ts";

test("hashes as the machine's library does, over every length of a block", () => {
  for (const length of [0, 1, 111, 112, 113, 127, 128, 129, 240, 1_000]) {
    const message = Uint8Array.from({ length }, (_, at) => at * 7);
    expect([...sha512(message)]).toEqual([...createHash("sha512").update(message).digest()]);
  }
});

test("signs byte for byte as the curve's library does", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ maxLength: 300 }),
      (secret, message) => {
        const signer = portableSigner(secret);
        expect(signer.publicKey).toEqual(ed25519.getPublicKey(secret));
        expect(signer.sign(message)).toEqual(ed25519.sign(message, secret));
      },
    ),
    { numRuns: 30, seed: 1 },
  );
});
