import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { WrittenPayload } from "../apiserver/encodings/payload.ts";
import { packedOnce } from "./packed-once.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it("packs a lasting body once for all who ask for it, before it is packed and afterwards", async () => {
  const pieces = [bytes('{"a":'), bytes("1}")];
  const payload = new WrittenPayload({ a: 1 }, "application/json", pieces);
  const ask = (): Promise<Uint8Array | undefined> => new Promise((resolve) => packedOnce(payload, pieces, resolve));
  const [first, second] = await Promise.all([ask(), ask()]);
  expect(gunzipSync(first as Uint8Array).toString()).toBe('{"a":1}');
  expect(second).toBe(first);
  expect(await ask()).toBe(first);
  const other = new WrittenPayload({ a: 1 }, "application/json", pieces);
  expect(await new Promise((resolve) => packedOnce(other, pieces, resolve))).not.toBe(first);
});
