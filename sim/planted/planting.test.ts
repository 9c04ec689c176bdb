import { expect, it } from "vitest";
import { prngStream } from "../kernel/prng.ts";
import { decisionsWith, wrappedWith } from "./planting.ts";
import { RareBugs } from "./rare-bugs.ts";

type Name = "plus-one" | "doubled";

const law = { count: (text: string) => text.length, isLong: (text: string) => text.length > 3 };
type Law = typeof law;
const decisions = {
  "plus-one": ({ count }: Law) => ({ count: (text: string) => count(text) + 1 }),
  doubled: ({ count }: Law) => ({ count: (text: string) => 2 * count(text) }),
};

const echo = (text: string): string => text;
type Echo = typeof echo;
const wrappers = {
  "plus-one": (inner: Echo, shows: () => boolean) => (text: string) => inner(text) + (shows() ? "1" : ""),
  doubled: (inner: Echo, shows: () => boolean) => (text: string) => (shows() ? inner(inner(text)) : inner(text)),
};

it("bugs that decide otherwise stand one on another, and where none shows the law is what it is", () => {
  expect(decisionsWith<Name, Law>(law, decisions)({ doubled: false })()).toBe(law);
  const wrong = decisionsWith<Name, Law>(law, decisions)({ "plus-one": true, doubled: true })();
  expect([wrong.count("abcd"), wrong.isLong]).toEqual([10, law.isLong]);
});

it("decisions are asked for anew, so that a bug that is turned on shows from then on", () => {
  const bugs = { "plus-one": false };
  const decide = decisionsWith<Name, Law>(law, decisions)(bugs);
  expect(decide().count("a")).toBe(1);
  bugs["plus-one"] = true;
  expect(decide().count("a")).toBe(2);
});

it("there is no wrapper where no bug may show, and nothing is drawn for that", () => {
  let drawn = 0;
  const prng = prngStream("1");
  const counted = { ...prng, chance: (...odds: [number, number]) => (drawn++, prng.chance(...odds)) };
  const none = new RareBugs<Name>({ "plus-one": false, doubled: false }, 2, counted as typeof prng).switches;
  expect(wrappedWith<Name, Echo>(echo, wrappers, none)).toBe(echo);
  const { switches } = new RareBugs<Name>({ "plus-one": true, doubled: false }, 2, counted as typeof prng);
  const wrapped = wrappedWith<Name, Echo>(echo, wrappers, switches);
  expect(drawn).toBe(0);
  const said = new Set(Array.from({ length: 50 }, () => wrapped("a")));
  expect([drawn, said]).toEqual([50, new Set(["a", "a1"])]);
});
