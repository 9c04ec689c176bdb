/** How much is done at once about others whom the server asks: counted in turns, steps and what is made, never in time. */
import { describe, expect, it } from "vitest";
import { encodeJson } from "../../wire/go-strings.ts";
import { takeApart } from "./outside-answers.ts";
import { bodyPieces } from "./outside-bodies.ts";
import { OutsideLine, type OutsideWork, turnBytesMax } from "./outside-line.ts";

/** A line whose turns come when they are called for. */
function slowLine(): { readonly line: OutsideLine; readonly turn: () => boolean } {
  const due: (() => void)[] = [];
  const turn = (): boolean => {
    const next = due.shift();
    next?.();
    return next !== undefined;
  };
  return { line: new OutsideLine((begin) => void due.push(begin)), turn };
}

describe("a line of work", () => {
  const work = function* (name: string, steps: number, bytes: number, done: string[]): OutsideWork {
    for (let step = 0; step < steps; step++) {
      done.push(name);
      yield bytes;
    }
  };

  it("does what is little at once, in its order", () => {
    const { line } = slowLine();
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) line.add(work(name, 1, 1000, done));
    expect(done).toEqual(["a", "b", "c"]);
  });

  it("does so much in one turn, and all take turns", () => {
    const { line, turn } = slowLine();
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) line.add(work(name, 2, turnBytesMax / 2, done));
    const turns: string[] = [];
    do turns.push(done.splice(0).join(" "));
    while (turn());
    expect(turns).toEqual(["a a", "b c", "b c", ""]);
  });

  it("leaves out what is not wanted any more, and goes on after what throws", () => {
    const { line, turn } = slowLine();
    const done: string[] = [];
    line.add(work("first", 1, turnBytesMax, done));
    const cancel = line.add(work("dropped", 1, 1, done));
    line.add(
      (function* (): OutsideWork {
        yield 1;
        throw new Error("broken");
      })(),
    );
    line.add(work("last", 1, 1, done));
    cancel();
    expect(turn).toThrow("broken");
    while (turn());
    expect(done).toEqual(["first", "last"]);
  });
});

describe("the body of a review", () => {
  const data = Object.fromEntries(Array.from({ length: 45_000 }, (_, at) => [`k${at}`, "<v>"]));
  const object = { kind: "ConfigMap", data };
  const call = (uid: string, round: object) => {
    const request = { uid, name: undefined, object, oldObject: null, dryRun: false, options: { 2: "a", 10: "b" } };
    return { body: { kind: "AdmissionReview", apiVersion: "v1", request } as never, round };
  };
  const made = (uid: string, round: object): { readonly pieces: readonly Buffer[]; readonly stepCount: number } => {
    const steps = bodyPieces(call(uid, round));
    for (let stepCount = 0; ; stepCount++) {
      const { done, value } = steps.next();
      if (done === true) return { pieces: value, stepCount };
    }
  };

  it("is what the reader of JSON expects", () => {
    const { pieces } = made("1", {});
    expect(Buffer.concat([...pieces]).toString()).toBe(encodeJson(call("1", {}).body));
  });

  it("is written in steps, once for all that are asked about the same object", () => {
    const round = {};
    const first = made("1", round);
    expect(first.stepCount).toBeGreaterThanOrEqual(15);
    const second = made("2", round);
    expect(second.stepCount).toBe(0);
    const known = new Set(first.pieces);
    const own = second.pieces.filter((piece) => !known.has(piece));
    expect(own.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1_000);
    expect(made("3", {}).stepCount).toBe(first.stepCount);
  });
});

describe("an answer", () => {
  const apart = (text: string): { readonly body: unknown; readonly turnCount: number } => {
    const { line, turn } = slowLine();
    const bodies: unknown[] = [];
    takeApart(Buffer.from(text), (body) => void bodies.push(body), line);
    let turnCount = 1;
    for (; bodies.length === 0 && turn(); turnCount++);
    return { body: bodies[0], turnCount };
  };
  const nested = (depth: number): string => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;

  it.each([
    ["that is small", '{"a":1}', { a: 1 }, 1],
    ["that is no JSON", "<html>", "<html>", 1],
    ["of megabytes", JSON.stringify({ a: "a".repeat(2_000_000) }), { a: "a".repeat(2_000_000) }, 5],
    ["of too many values", `[${"1,".repeat(400_000)}1]`, new Error("the answer has more than 100000 values"), 2],
    ["of brackets", nested(1_400_000), new Error("the answer has more than 100000 values"), 2],
    ["that is too deep", nested(20_000), new Error("the answer is nested more than 10000 deep"), 4],
  ])("%s is taken apart in turns", (_, text, body, turnCount) => {
    expect(apart(text)).toEqual({ body, turnCount });
  });
});
