import fc from "fast-check";
import { expect, it } from "vitest";
import { paced, TurnBudget } from "../../expressions/pace.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { Attributes, Authorizer, Decision } from "./authorize.ts";
import { type Ask, judged } from "./judgement.ts";

const user = { name: "u", uid: "", groups: [] };
const path = (name: string): Attributes => ({ is: "path", verb: "get", path: name });

/** Answers at once or when told to, by the path's own first letter: `w` waits; allowed where it ends in `+`. */
class Desk {
  readonly asked: string[] = [];
  readonly waiting: (() => void)[] = [];
  cancelledCount = 0;
  readonly authorize: Authorizer = (_user, attributes, done) => {
    const name = attributes.is === "path" ? attributes.path : "";
    this.asked.push(name);
    const decision: Decision = name.endsWith("+")
      ? { allowed: true, reason: name }
      : { allowed: false, denied: false, reason: name };
    if (!name.startsWith("w")) {
      done(decision);
      return () => {};
    }
    let open = true;
    this.waiting.push(() => open && done(decision));
    return () => {
      open = false;
      this.cancelledCount++;
    };
  };
}

it("judges as if every answer came at once, and asks each question once, in order", () => {
  const question = fc.tuple(fc.constantFrom("a", "w"), fc.nat(99), fc.constantFrom("+", "-"));
  fc.assert(
    fc.property(fc.array(question, { maxLength: 12 }), (drawn) => {
      const questions = drawn.map((parts) => parts.join(""));
      // Stops at the first refusal, as nearly all judgements do.
      const judge = (ask: Ask): string => {
        for (const name of questions) if (!ask(user, path(name)).allowed) return name;
        return "all";
      };
      const desk = new Desk();
      const found: string[] = [];
      judged(desk.authorize, judge, (judgement) => found.push(judgement()));
      for (let turn = 0; turn < desk.waiting.length; turn++) desk.waiting[turn]?.();
      const refused = questions.find((name) => name.endsWith("-"));
      expect(found).toEqual([refused ?? "all"]);
      expect(desk.asked).toEqual(
        refused === undefined ? questions : questions.slice(0, questions.indexOf(refused) + 1),
      );
    }),
    { seed: 1, numRuns: 200 },
  );
});

it("hands on what the judgement throws, at once or later, and nothing after a cancel", () => {
  for (const name of ["a+", "w+"]) {
    const desk = new Desk();
    const found: (() => unknown)[] = [];
    const judge = (ask: Ask): never => {
      throw new Error(`judged ${ask(user, path(name)).reason}`);
    };
    judged(desk.authorize, judge, (judgement) => found.push(judgement));
    desk.waiting[0]?.();
    expect(found).toHaveLength(1);
    expect(() => found[0]?.()).toThrow(`judged ${name}`);
  }
  const desk = new Desk();
  const found: unknown[] = [];
  const cancel = judged(
    desk.authorize,
    (ask) => ask(user, path("w+")),
    (judgement) => found.push(judgement()),
  );
  cancel();
  desk.waiting[0]?.();
  expect([found, desk.cancelledCount]).toEqual([[], 1]);
});

it("gives each part of a judgement in several turns its own answers", () => {
  const part = fc.record({
    questions: fc.array(fc.tuple(fc.constantFrom("a", "w"), fc.nat(99), fc.constantFrom("+", "-")), { maxLength: 3 }),
    cost: fc.integer({ min: 0, max: 400_000 }),
  });
  let turnCount = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), (drawn) => {
      const parts = drawn.map(({ questions, cost }) => ({ names: questions.map((each) => each.join("")), cost }));
      const desk = new Desk();
      const kernel = new Kernel({ seed: "judged" });
      const process = kernel.process("server");
      const found: string[][] = [];
      const judge = (ask: Ask): string[] => {
        turnCount++;
        const told = (names: readonly string[]): string[] => names.map((name) => ask(user, path(name)).reason);
        return parts.flatMap(({ names, cost }) =>
          paced(
            () => told(names),
            () => cost,
          ),
        );
      };
      const pacing = { clock: process.clock, budget: new TurnBudget() };
      kernel.enter(process, () => judged(desk.authorize, judge, (judgement) => found.push(judgement()), pacing));
      kernel.run(kernel.nowMicros());
      for (let at = 0; at < desk.waiting.length; at++) {
        kernel.enter(process, () => desk.waiting[at]?.());
        kernel.run(kernel.nowMicros());
      }
      const questions = parts.flatMap(({ names }) => names);
      expect(found).toEqual([questions]);
      expect(desk.asked).toEqual(questions);
    }),
    { seed: 1, numRuns: 200 },
  );
  expect(turnCount).toBeGreaterThan(400);
});
