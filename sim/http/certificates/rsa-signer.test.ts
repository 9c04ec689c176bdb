import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { expect, it } from "vitest";
import { RsaKeys, rsaSigner } from "./rsa-signer.ts";

type Signer = ReturnType<typeof rsaSigner>;

const made = (): Signer => rsaSigner(new RsaKeys(), (work) => work());
const prepared = (signer: Signer): Promise<void> => new Promise((resolve) => void signer.prepare(resolve));

it("publishes the key by which anybody can check what it signs", async () => {
  const signer = made();
  await prepared(signer);
  const input = new TextEncoder().encode("head.body");
  const signature = signer.sign(input);
  const [published] = signer.publicKeys;
  expect([published?.["kid"], published?.["alg"], published?.["kty"]]).toEqual([signer.keyId, "RS256", "RSA"]);
  expect(published).not.toHaveProperty("d"); // the private part
  const key = createPublicKey({ key: published as JsonWebKey, format: "jwk" });
  expect(verify("sha256", input, key, signature)).toBe(true);
  expect(signer.verify(input, signature)).toBe(true);
  expect(signer.verify(new TextEncoder().encode("head.bodY"), signature)).toBe(false);
  const other = made();
  await prepared(other);
  expect(other.keyId).not.toBe(signer.keyId);
});

it("makes its key elsewhere when the first one is wanted, once for all who wait, and until then has signed nothing", async () => {
  const keys = new RsaKeys();
  const turns: string[] = [];
  const [one, other] = ["one", "other"].map((name) =>
    rsaSigner(keys, (work) => {
      turns.push(name);
      work();
    }),
  ) as [Signer, Signer];
  const said: string[] = [];
  expect(one.verify(new Uint8Array(1), new Uint8Array(256))).toBe(false);
  expect([one.keyId, one.publicKeys]).toEqual([undefined, []]);
  one.prepare(() => said.push("taken back"))();
  one.prepare(() => said.push("one"));
  const last = prepared(other);
  expect(said).toEqual([]);
  await last;
  expect([said, turns]).toEqual([["one"], ["one", "other"]]);
  expect(one.keyId).toBe(other.keyId);
  other.prepare(() => said.push("at once"));
  expect(said).toEqual(["one", "at once"]);
});
