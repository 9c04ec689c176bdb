import { expect, it } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import { testPrng } from "../../objects/objects.fixture.ts";
import { hmac, hmacSigner } from "./token-signer.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it("signs as RFC 7515, appendix A.1, does", () => {
  const key = decodeBase64Url("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const input =
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
  expect(encodeBase64Url(hmac(key as Uint8Array, bytes(input)))).toBe("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
});

it("signs as RFC 4231, test case 2, does: a key shorter than a block", () => {
  const key = new Uint8Array(64);
  key.set(bytes("Jefe"));
  const code = Buffer.from(hmac(key, bytes("what do ya want for nothing?"))).toString("hex");
  expect(code).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
});

it("has one key for each seed, and knows its own signatures alone", () => {
  const [one, again, other] = [hmacSigner(testPrng(1)), hmacSigner(testPrng(1)), hmacSigner(testPrng(2))];
  const signature = one.sign(bytes("a"));
  expect(again.verify(bytes("a"), signature)).toBe(true);
  expect(other.verify(bytes("a"), signature)).toBe(false);
  expect(one.verify(bytes("b"), signature)).toBe(false);
  expect(one.verify(bytes("a"), signature.subarray(1))).toBe(false);
});
