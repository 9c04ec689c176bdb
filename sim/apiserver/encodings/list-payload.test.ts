import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { svcDialect } from "../../../wire/dialect.ts";
import { compactJson, type Encode, Encoders, yaml } from "./encode.ts";
import { Encodings } from "./encodings.ts";
import { ListPayload } from "./list-payload.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Uids end in all pairs of digits, so that blocks begin here and there. */
const item = (number: number, version = 0): JsonObject =>
  Object.freeze({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: `c-${number}`, uid: `00-${((number * 37) % 256).toString(16).padStart(2, "0")}` },
    data: { version: String(version), "€": "a\nb: c " },
  });

const list = (items: readonly JsonObject[] | null, resourceVersion = "7"): JsonObject => ({
  kind: "ConfigMapList",
  apiVersion: "v1",
  metadata: { resourceVersion },
  items,
});

/** The body as it would be without anything kept. */
const afreshBytes = ({ items, ...head }: JsonObject, encode: Encode): Uint8Array => {
  const bare = (items as readonly JsonObject[]).map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
  return encode({ ...head, items: bare } as JsonObject);
};
const afresh = (object: JsonObject, encode: Encode): string => text(afreshBytes(object, encode));

const pieces = (object: JsonObject, encodings: Encodings): readonly Uint8Array[] =>
  new ListPayload(object, "application/json", compactJson, encodings).pieces();

describe("a list in JSON", () => {
  it("has the same bytes whatever was listed before, whole or in part, and however little may be kept", () => {
    const step = fc.oneof(
      fc.record({ is: fc.constant("change" as const), at: fc.nat(299) }),
      fc.record({ is: fc.constant("remove" as const), at: fc.nat(299) }),
      fc.record({ is: fc.constant("list" as const), from: fc.nat(300), count: fc.integer({ min: 0, max: 400 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom(0, 4_000, 1e6), (steps, budget) => {
        const encodings = new Encodings(budget);
        let present = Array.from({ length: 300 }, (_, number) => item(number));
        for (const [index, todo] of steps.entries()) {
          if (todo.is === "remove") present = present.filter((_, at) => at !== todo.at);
          else if (todo.is === "change") {
            present = present.map((one, at) => (at === todo.at ? item(1_000 + index, index) : one));
          } else {
            const object = list(present.slice(todo.from, todo.from + todo.count), String(index));
            const payload = new ListPayload(object, "application/json", compactJson, encodings);
            expect(payload.pieces().map(text).join("")).toBe(afresh(object, compactJson));
            expect(text(payload.bytes())).toBe(afresh(object, compactJson));
          }
        }
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it("shares all blocks but one with the list before a change", () => {
    const encodings = new Encodings(1e6);
    const before = Array.from({ length: 2_000 }, (_, number) => item(number));
    const one = pieces(list(before, "7"), encodings);
    const two = pieces(list(before.with(1_000, item(1_000, 1)), "8"), encodings);
    expect(one.length).toBeGreaterThan(10);
    expect(two.slice(2).filter((piece) => !one.includes(piece))).toHaveLength(1);
  });

  it("keeps blocks within a part of the budget", () => {
    const all = Array.from({ length: 2_000 }, (_, number) => item(number));
    const twice = (budget: number): number => {
      const encodings = new Encodings(budget);
      const once = new Set(pieces(list(all), encodings));
      return pieces(list(all), encodings).filter((piece) => once.has(piece)).length;
    };
    expect(twice(0)).toBe(1); // the end of a list is everybody's
    expect(twice(1e6)).toBeGreaterThan(10);
  });

  it("has null for items that are null", () => {
    const payload = new ListPayload(list(null), "application/json", compactJson, new Encodings(0));
    expect(JSON.parse(text(payload.bytes()))).toEqual(list(null));
  });
});

it("a list in YAML is what the encoder makes of the whole, the first time and the second", () => {
  const value = fc.oneof(fc.string({ maxLength: 120 }), fc.constantFrom("a\n\n", "x|", "- y", "1", "word ".repeat(40)));
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.constantFrom("a", "b: c", "d"), value), { maxLength: 4 }), (data) => {
      const encodings = new Encodings(1e6);
      const items = data.map((each, at) => Object.freeze({ ...item(at), data: { ...each } }));
      for (const version of ["7", "8"]) {
        const object = list(items, version);
        const payload = new ListPayload(object, "application/yaml", yaml, encodings);
        expect(text(payload.bytes())).toBe(afresh(object, yaml));
      }
    }),
    { seed: 5, numRuns: 200 },
  );
});

it.each(["cbor", "protobuf"] as const)(
  "a list in %s is made in many pieces, which are what the encoder makes of the whole",
  (format) => {
    const encode = new Encoders(svcDialect).of(format);
    for (const count of [0, 1, 200, 201, 1_234]) {
      const items = Array.from({ length: count }, (_, at) => ({
        ...item(at),
        metadata: { name: `n${at}`, labels: { a: "b".repeat(at % 300) } },
        binaryData: { key: "AAAA" },
      }));
      const object = { ...list(items), kind: "ConfigMapList" };
      const pieces = [...new ListPayload(object, "x", encode, new Encodings(0)).slices()];
      expect(Buffer.concat(pieces).equals(afreshBytes(object, encode))).toBe(true);
      expect(pieces.length).toBeGreaterThan(count / 200);
    }
  },
);
