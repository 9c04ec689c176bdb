import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { walkRead, readBody } from "./decode.ts";
import { largeMapSteps } from "./large-maps.ts";
import { endpoint } from "./objects.fixture.ts";

const odd = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.nat().map(String),
  fc.constantFrom("__proto__", "constructor", "é", "\ud83d\ude00", "\uffff"),
);
/** Texts that are right as they stand, that are written otherwise, and that are wrong: as bytes and as amounts. */
const text = fc.constantFrom("AAAA", "AA==", "AB==", "AA\nAA", "1", "1000m", "1Ki", "0.1", "1e3");
const wrong = fc.constantFrom<unknown>("=", "a b", 5, null, true, {});

const large: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .record({
    count: fc.integer({ min: 3_990, max: 4_200 }),
    descends: fc.boolean(),
    texts: fc.array(text, { minLength: 1, maxLength: 4 }),
    /** Whether there are empty maps in place of the texts, as in a set of fields. */
    isSet: fc.nat(3).map((draw) => draw === 0),
    others: fc.array(fc.tuple(odd, fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: wrong })), {
      maxLength: 5,
    }),
  })
  .map(({ count, descends, texts, isSet, others }) => {
    const many = Array.from({ length: count }, (_, at): [string, unknown] => {
      return [`k${descends ? count - at : at}`, isSet ? {} : texts[at % texts.length]];
    });
    return Object.fromEntries([...many, ...others]);
  });

const places = {
  "texts and labels": ["v1/configmaps", (map: object) => ({ data: map, metadata: { labels: map } })],
  bytes: ["v1/secrets", (map: object) => ({ data: map })],
  "texts beside bytes": ["v1/configmaps", (map: object) => ({ data: map, binaryData: map })],
  amounts: ["v1/resourcequotas", (map: object) => ({ spec: { hard: map } })],
  "owned fields": ["v1/configmaps", (map: object) => ({ metadata: { managedFields: [{ fieldsV1: map }] } })],
} as const satisfies Record<string, readonly [string, (map: object) => object]>;

it.each(Object.entries(places))("makes the same of large maps that are put in order before: %s", (_, [at, of]) => {
  const { target } = endpoint(at);
  fc.assert(
    fc.property(large, fc.boolean(), (map, isRead) => {
      const decoded = (isOrdered: boolean): string => {
        const object = of(map) as JsonObject;
        const body = isRead ? new TextEncoder().encode(JSON.stringify(object)) : object;
        const read = readBody(body, "json", target);
        if (isOrdered) for (const _ of largeMapSteps(read.value));
        try {
          return JSON.stringify(walkRead(read, body, target, "Warn"));
        } catch (error) {
          return (error as Error).message;
        }
      };
      expect(decoded(true)).toBe(decoded(false));
    }),
    { seed: 3, numRuns: 40 },
  );
});
