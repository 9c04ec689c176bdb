import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { decodeLoosely } from "./utf8.ts";

/** The bytes that a text stands for, wrong ones as they were. */
const bytesOf = (text: string): number[] =>
  [...text].flatMap((char) => {
    const code = char.codePointAt(0) as number;
    return code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : [...new TextEncoder().encode(char)];
  });

it("bytes that are no UTF-8 stay known, and all else is what it says", () => {
  const edges = [0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff];
  const byte = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 12 }), (given) => {
      const { text, invalidUtf8 } = decodeLoosely(Uint8Array.from(given));
      expect(bytesOf(text)).toEqual(given);
      expect(invalidUtf8).toBe(Buffer.from(given).toString("utf8").includes("\ufffd") && /[\udc80-\udcff]/u.test(text));
    }),
    { seed: 1, numRuns: 3_000 },
  );
});

it("one wrong byte in a long text costs no call of the decoder for each character", () => {
  const decode = vi.spyOn(TextDecoder.prototype, "decode");
  const given = new Uint8Array([...new TextEncoder().encode("é".repeat(10_000)), 0xff]);
  expect(decodeLoosely(given)).toEqual({ text: `${"é".repeat(10_000)}\udcff`, invalidUtf8: true });
  expect(decode.mock.calls.length).toBeLessThan(10);
  decode.mockRestore();
});
