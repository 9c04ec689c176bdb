import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { expect, it } from "vitest";
import { rsaSigner } from "./rsa-signer.ts";

it("publishes the key by which anybody can check what it signs", () => {
  const signer = rsaSigner();
  const input = new TextEncoder().encode("head.body");
  const signature = signer.sign(input);
  const [published] = signer.publicKeys;
  expect([published?.["kid"], published?.["alg"], published?.["kty"]]).toEqual([signer.keyId, "RS256", "RSA"]);
  expect(published).not.toHaveProperty("d"); // the private part
  const key = createPublicKey({ key: published as JsonWebKey, format: "jwk" });
  expect(verify("sha256", input, key, signature)).toBe(true);
  expect(signer.verify(input, signature)).toBe(true);
  expect(signer.verify(new TextEncoder().encode("head.bodY"), signature)).toBe(false);
  expect(rsaSigner().keyId).not.toBe(signer.keyId);
});
