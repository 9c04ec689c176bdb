import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64Error, decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "./base64.ts";

describe("base64", () => {
  it("agrees with the platform, both ways", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        expect(encodeBase64(bytes)).toBe(buffer.toString("base64"));
        expect(encodeBase64Url(bytes)).toBe(buffer.toString("base64url"));
        expect(decodeBase64(buffer.toString("base64"))).toEqual(bytes);
        expect(decodeBase64Url(buffer.toString("base64url"))).toEqual(bytes);
        const broken = buffer.toString("base64").replace(/(.)/g, "$1\r\n");
        expect(decodeBase64(broken)).toEqual(bytes);
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  it.each<[text: string, inputByte: number]>([
    ["!!!!", 0],
    ["====", 0],
    ["x===", 1],
    ["x=", 1],
    ["AA=A", 2],
    ["AAA=AAAA", 4],
    ["AAAAA", 4],
    ["AAAAAA", 4],
    ["AAAAAAA", 4],
    ["A=", 1],
    ["A==", 1],
    ["=AAA", 0],
    ["A=AA", 1],
    ["AA==A", 4],
    ["AAAAAA=", 7],
    ["A!\n", 1],
    ["A=\n", 1],
    ["AA=", 3],
    ["AB=", 3],
    ["A", 0],
    ["AA", 0],
    ["YWJjZA=====", 8],
    ["A!", 1],
    ["AAé=", 2],
    ["-_==", 0],
  ])("refuses %j at %d", (text, inputByte) => {
    expect(decodeBase64(text)).toBe(inputByte);
    expect(base64Error(inputByte)).toBe(`illegal base64 data at input byte ${inputByte}`);
  });

  it.each<[text: string, inputByte: number]>([
    ["A", 0],
    ["AAAAA", 4],
    ["AA==", 2],
    ["+/", 0],
    ["garbage!", 7],
  ])("refuses %j at %d where no padding is allowed", (text, inputByte) => {
    expect(decodeBase64Url(text)).toBe(inputByte);
  });

  it.each(["", "\n", "AAA=\n", "AAAA\n", "AA==", "AA=\r\n=\n"])("takes %j", (text) => {
    expect(decodeBase64(text)).toEqual(new Uint8Array(Buffer.from(text, "base64")));
  });

  it("ignores unused bits", () => {
    expect(decodeBase64("QQ==")).toEqual(decodeBase64("QR=="));
    expect(decodeBase64Url("QR")).toEqual(new Uint8Array([65]));
  });
});
