import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { withPlainNumbers } from "./plain-numbers.ts";

const large = 9_223_372_036_854_775_807n;
const last = Number.MAX_SAFE_INTEGER;
const pod = (deletionGracePeriodSeconds: unknown, seconds: unknown): JsonObject =>
  ({
    metadata: { name: "a", deletionGracePeriodSeconds },
    spec: { a: [{ b: seconds }, 1], c: "d" },
  }) as unknown as JsonObject;

it("numbers that no double holds become the last that it does, and what has none stays itself", () => {
  expect(withPlainNumbers(pod(large, large))).toEqual(pod(last, last));
  expect(withPlainNumbers(pod(1, large))).toEqual(pod(1, last));
  expect(withPlainNumbers(pod(1, -large))).toEqual(pod(1, -last));
  const plain = pod(1, 2);
  expect(withPlainNumbers(plain)).toBe(plain);
});
