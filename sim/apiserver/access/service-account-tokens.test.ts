import { expect, it, vi } from "vitest";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

const account = { name: "robot", uid: "u" };

const made = (): ServiceAccountTokens =>
  new ServiceAccountTokens({
    signer: {
      algorithm: "none",
      keyId: "k",
      sign: () => new Uint8Array(1),
      verify: () => true,
    } as unknown as ServiceAccountTokens["ports"]["signer"],
    issuer: "https://issuer.test",
    audiences: ["api"],
    labelSuffix: "svc.io",
    nowSeconds: () => 1_000,
    stored: () => ({ metadata: account }),
  });

const times = (count: number, begin: string): string[] => Array.from({ length: count }, (_, at) => `${begin}${at}`);

it.each([3, 4_000])(
  "of the audiences asked for those are told that a token for %i is for, and its list is not searched for each",
  (count) => {
    const tokens = made();
    const grant = { namespace: "ns", account, expirationSeconds: 600, bound: {}, id: "i" };
    const token = tokens.issue({ ...grant, audiences: times(count, "a") });
    const searches = vi.spyOn(Array.prototype, "includes");
    const proven = tokens.read(token, [...times(4_000, "b"), "a2", "a0"]);
    const searchCount = count > 8 ? searches.mock.calls.length : 0;
    searches.mockRestore();
    expect(proven?.audiences).toEqual(["a2", "a0"]);
    expect(searchCount).toBeLessThan(100);
  },
);

it("a token of many parts is none", () => {
  expect(made().read(".".repeat(1_000_000), [])).toBeUndefined();
});
