import { expect, it } from "vitest";
import { judgeRace, type Raced, type RaceState } from "./race.ts";

const none: RaceState = { exists: false, marks: [], held: false, deleting: false };
const object = (...marks: string[]): RaceState => ({ exists: true, marks, held: false, deleting: false });
const raced = (text: string): Raced[] =>
  text.split(", ").map((one) => {
    const [verb, mark = "", status] = one.split(" ");
    return { verb: verb as Raced["verb"], mark, status: Number(status) };
  });

it.each<readonly [string, RaceState, string, RaceState]>([
  ["two creates, one of them too late", none, "create a 201, create b 409", object("a")],
  ["two applies that make one object", none, "apply a 201, apply b 200", object("a", "b")],
  ["an apply after a deletion", object("x"), "delete d 200, apply a 201", object("a")],
  ["a patch before a deletion", object("x"), "delete d 200, merge a 200", none],
  ["a patch after a deletion", object("x"), "merge a 404, delete d 200", none],
  ["a hold in time", object(), "hold h 200, delete d 200", { ...object("h"), held: true, deleting: true }],
  ["a hold that came too late", object(), "hold h 404, delete d 200", none],
  ["a put that lost", object(), "put p 409, merge a 200", object("a")],
])("takes %s", (_what, before, answers, after) => {
  expect(judgeRace(before, raced(answers), after)).toBeUndefined();
});

it.each<readonly [string, string, RaceState, string, RaceState]>([
  ["two creates of one name", "writes.linearizable", none, "create a 201, create b 201", object("b")],
  ["an apply that undid another", "writes.patch-no-lost-update", none, "apply a 201, apply b 201", object("b")],
  ["a lost patch", "writes.patch-no-lost-update", object(), "merge a 200, merge b 200", object("b")],
  ["what a patch has brought back", "writes.linearizable", object("x"), "delete d 200, merge a 200", object("a", "x")],
  [
    "a deletion through a hold",
    "deletion.finalizers-hold",
    { ...object(), held: true },
    "delete d 200, merge a 200",
    none,
  ],
  [
    "a hold on what is going",
    "deletion.finalizers-hold",
    { ...object(), deleting: true },
    "hold h 200, merge a 200",
    { ...object("h", "a"), held: true, deleting: true },
  ],
  ["a patch in conflict", "writes.linearizable", object(), "merge a 409, merge b 200", object("b")],
  ["two puts from one version", "writes.linearizable", object(), "put a 200, put b 200", object("a", "b")],
])("rejects %s", (_what, requirement, before, answers, after) => {
  expect(judgeRace(before, raced(answers), after)?.requirement).toBe(requirement);
});
