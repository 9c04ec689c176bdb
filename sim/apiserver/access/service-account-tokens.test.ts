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

/** What it comes to, and how often it stopped on the way. */
function drained<Result>(work: Generator<void, Result>): { readonly result: Result; readonly stopCount: number } {
  for (let stopCount = 0; ; stopCount++) {
    const { done, value } = work.next();
    if (done === true) return { result: value, stopCount };
  }
}

const times = (count: number, begin: string): string[] => Array.from({ length: count }, (_, at) => `${begin}${at}`);

it.each([3, 4_000])(
  "of the audiences asked for those are told that a token for %i is for, and its list is not searched for each",
  (count) => {
    const tokens = made();
    const grant = { namespace: "ns", account, expirationSeconds: 600, bound: {}, id: "i" };
    const token = drained(tokens.issuing({ ...grant, audiences: times(count, "a") })).result;
    const searches = vi.spyOn(Array.prototype, "includes");
    const { result: proven } = drained(tokens.reading(token, [...times(4_000, "b"), "a2", "a0"]));
    const searchCount = count > 8 ? searches.mock.calls.length : 0;
    searches.mockRestore();
    expect(proven?.audiences).toEqual(["a2", "a0"]);
    expect(searchCount).toBeLessThan(100);
  },
);

it("a token of many parts is none", () => {
  expect(drained(made().reading(".".repeat(1_000_000), []))).toEqual({ result: undefined, stopCount: 0 });
});

it.each([3, 40_000])("a token for %i audiences is read in steps where it is long", (count) => {
  const tokens = made();
  const grant = { namespace: "ns", account, expirationSeconds: 600, bound: {}, id: "i" };
  const issued = drained(tokens.issuing({ ...grant, audiences: times(count, "a") }));
  expect(issued.stopCount).toBeGreaterThanOrEqual(2);
  const { result, stopCount } = drained(tokens.reading(issued.result, ["a0"]));
  expect([result?.audiences, stopCount]).toEqual([["a0"], count > 3 ? 3 : 0]);
});
