import { describe, expect, it } from "vitest";
import { alteredTokens } from "./continue-tokens.ts";

const encoded = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString("base64url");
const decoded = (token: string): unknown => JSON.parse(Buffer.from(token, "base64url").toString());

describe("an altered token", () => {
  it("has each of its texts replaced, one at a time, and its numbers kept", () => {
    const altered = alteredTokens(encoded({ v: "meta.k8s.io/v1", rv: 7, start: "a\u0000" }), "../b/").map(decoded);
    expect(altered).toEqual([
      { v: "../b/", rv: 7, start: "a\u0000" },
      { v: "../b/\u0000", rv: 7, start: "a\u0000" },
      { v: "meta.k8s.io/v1", rv: 7, start: "../b/" },
      { v: "meta.k8s.io/v1", rv: 7, start: "../b/\u0000" },
    ]);
  });

  it("is none where the token is opaque", () => {
    expect(
      [..."", "!", "AAAA", encoded([1]), encoded({ rv: 1 })].flatMap((token) => alteredTokens(token, "x")),
    ).toEqual([]);
  });
});
