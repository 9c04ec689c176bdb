import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import { type Grant, Grants, type Subject } from "./grants.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

const binding = (name: string, subjects: readonly Subject[]): JsonObject =>
  ({ name, subjects }) as unknown as JsonObject;

const made = (): Grants<JsonObject> => new Grants("ns", (each) => each, { put: () => 0, taken: () => 0 });

function put(grants: Grants<JsonObject>, bindings: readonly JsonObject[]): number {
  let turnCount = 1;
  while (!grants.advance(bindings)) turnCount++;
  return turnCount;
}

/** The plain way: each subject of each binding. */
function plainly(bindings: readonly JsonObject[], is: (subject: Subject) => boolean): readonly Grant<JsonObject>[] {
  return bindings.flatMap((bound) =>
    (bound["subjects"] as unknown as readonly Subject[]).filter(is).map((subject) => ({ bound, subject })),
  );
}

const isUser = (user: string) => (subject: Subject) =>
  subject.kind === "User"
    ? subject.name === user
    : subject.kind === "ServiceAccount" &&
      user === `system:serviceaccount:${subject.namespace ?? "ns"}:${subject.name}`;
const isGroup = (name: string) => (subject: Subject) => subject.kind === "Group" && subject.name === name;

const name = fc.constantFrom("a", "b", "c");
const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({ kind: fc.constantFrom("User", "Group", "ServiceAccount"), name }),
  fc.record({ kind: fc.constant("ServiceAccount"), name, namespace: fc.constantFrom("ns", "other") }),
  fc.record({ kind: fc.constant("User"), name: fc.constant("system:serviceaccount:ns:a") }),
);

it("whatever changes, has what the bindings say, in their order", () => {
  const subjects = fc.array(subject, { maxLength: 4 });
  /** Bindings by their names, in this order; undefined: there is none. A number: as it was. */
  const change = fc.array(fc.option(fc.oneof(subjects, fc.constant("as it was" as const))), {
    minLength: 6,
    maxLength: 6,
  });
  const property = fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
    const grants = made();
    let slots: (JsonObject | undefined)[] = [];
    for (const each of changes) {
      slots = each.map((now, at) =>
        now === null ? undefined : now === "as it was" ? slots[at] : binding(`b${at}`, now),
      );
      const bindings = slots.filter((slot) => slot !== undefined);
      put(grants, bindings);
      for (const user of ["a", "b", "c", "system:serviceaccount:ns:a", "system:serviceaccount:other:b"]) {
        expect(grants.ofUser(user) ?? []).toEqual(plainly(bindings, isUser(user)));
      }
      for (const group of ["a", "b", "c"])
        expect(grants.ofGroup(group) ?? []).toEqual(plainly(bindings, isGroup(group)));
    }
  });
  fc.assert(property, { seed: 1, numRuns: 500 });
});

const users = (from: number, count: number): readonly Subject[] =>
  times(count, (at) => ({ kind: "User", name: `u${from + at}` }));

it("many subjects are put in some at a time, and of what changes nothing but that", () => {
  const grants = made();
  const bindings = times(10, (at) => binding(`b${at}`, users(at * 20_000, 20_000)));
  expect(put(grants, bindings)).toBeGreaterThanOrEqual(10);
  expect(put(grants, bindings)).toBe(1);
  expect(put(grants, [...bindings, binding("more", users(0, 100))])).toBe(1);
  expect(grants.ofUser("u50")).toHaveLength(2);
  expect(put(grants, bindings)).toBe(1);
  expect(grants.ofUser("u50")).toHaveLength(1);
  expect(put(grants, [])).toBeGreaterThanOrEqual(10);
  expect(grants.ofUser("u50")).toBeUndefined();
});

it("what is written while others are put in is put in after them", () => {
  const grants = made();
  const first = [binding("a", users(0, 50_000))];
  expect(grants.advance(first)).toBe(false);
  const second = [binding("b", users(0, 1))];
  put(grants, second);
  expect(grants.ofUser("u0")).toEqual(plainly(second, isUser("u0")));
  expect(grants.ofUser("u1")).toBeUndefined();
});
