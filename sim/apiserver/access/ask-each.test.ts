import { expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import type { User } from "./authenticate.ts";
import type { Attributes, Authorizer } from "./authorize.ts";
import { askEach, type Refused } from "./ask-each.ts";

const user: User = { name: "u", uid: "", groups: [] };

function* paths(count: number): Generator<Attributes, void> {
  for (let at = 0; at < count; at++) yield { is: "path", verb: "get", path: `/${at}` };
}

function asked(count: number, labourOfEach: number, refusedAt = -1, lateAt = -1) {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("apiserver-1");
  const labour = { count: 0 };
  const heard: string[] = [];
  const authorize: Authorizer = (_, attributes, done) => {
    const path = attributes.is === "path" ? attributes.path : "";
    heard.push(path);
    labour.count += labourOfEach;
    const decision =
      path === `/${refusedAt}` ? { allowed: false, denied: true, reason: "no" } : { allowed: true, reason: "" };
    if (path === `/${lateAt}`) return process.clock.after(1_000, () => done(decision as never));
    done(decision as never);
    return () => {};
  };
  const outcomes: (Refused | undefined)[] = [];
  const ports = { clock: process.clock, authorize, labour };
  const cancel = kernel.enter(process, () => askEach(ports, user, paths(count), (found) => outcomes.push(found)));
  const turns = (): number => {
    let turnCount = 1;
    for (; kernel.nextEventMicros !== undefined; turnCount++) kernel.step();
    return turnCount;
  };
  return { kernel, process, heard, outcomes, cancel, turns };
}

it("few questions are asked at once, and the first refusal ends it", () => {
  const all = asked(10, 100);
  expect([all.outcomes, all.heard.length, all.turns()]).toEqual([[undefined], 10, 1]);
  const some = asked(10, 100, 3);
  expect(some.outcomes).toMatchObject([{ asked: { path: "/3" }, decision: { reason: "no" } }]);
  expect(some.heard).toHaveLength(4);
});

it("many, or such as take much, are asked in turns", () => {
  const many = asked(40_000, 0);
  expect([many.turns(), many.outcomes]).toEqual([4, [undefined]]);
  const costly = asked(40, 1_000_000, 39);
  expect([costly.turns(), costly.outcomes.length, costly.heard.length]).toEqual([40, 1, 40]);
});

it("an answer may come later, and none comes after the cancel", () => {
  const late = asked(10, 0, -1, 4);
  expect([late.outcomes, late.heard.length]).toEqual([[], 5]);
  late.turns();
  expect([late.outcomes, late.heard.length]).toEqual([[undefined], 10]);
  for (const stopped of [asked(10, 0, -1, 4), asked(10, 1_000_000)]) {
    stopped.kernel.enter(stopped.process, stopped.cancel);
    stopped.turns();
    expect(stopped.outcomes).toEqual([]);
  }
});
