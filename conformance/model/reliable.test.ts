import { describe, expect, it } from "vitest";
import { event, log, write } from "./hand-written.fixture.ts";
import { judgeNothingExtra, judgeNothingMissing, judgeRealTimeOrder } from "./reliable.ts";

const create = write("create", "a@1", [1, 2]);
const patch = write("patch", "a@2", [3, 4]);
const remove = write("delete", "a@", [5, 6]);

describe("nothing missing", () => {
  it("Nothing missing - an event for every acknowledged write - accepts", () => {
    expect(judgeNothingMissing(log("+a@1", "~a@2", "-a@3"), [create, patch, remove])).toBeUndefined();
  });
  it("Nothing missing - refused and unanswered writes need no event - accepts", () => {
    const refused = write("put", "a@9", [3, 4], { status: 409 });
    expect(judgeNothingMissing(log("+a@1"), [create, refused, write("patch", "a@8", [5, undefined])])).toBeUndefined();
  });
  it("Nothing missing - a deletion answers with a state before it - accepts", () => {
    const answered = { ...remove, object: event("~a@2").object };
    expect(judgeNothingMissing(log("+a@1", "~a@2", "-a@3"), [create, patch, answered])).toBeUndefined();
  });
  it("Nothing missing - a deletion that waits for finalizers is a change - accepts", () => {
    const pending = event("~a@2", { deletionTimestamp: "t" });
    expect(judgeNothingMissing([event("+a@1"), pending], [create, remove])).toBeUndefined();
  });
  it("Nothing missing - an acknowledged write without an event - rejects", () => {
    expect(judgeNothingMissing(log("+a@1"), [create, patch])?.expected).toContain("patch of n/a");
    expect(judgeNothingMissing(log("+a@1"), [create, remove])?.expected).toContain("delete of n/a");
  });
  it("Nothing missing - the deletion of another life - rejects", () => {
    expect(judgeNothingMissing(log("+a@1", "-a@2#2"), [create, remove])).toBeDefined();
  });
  it("Nothing missing - an event with other content than was answered - rejects", () => {
    const answered = { ...event("+a@1").object, data: { version: "another" } };
    expect(judgeNothingMissing(log("+a@1"), [{ ...create, object: answered }])?.expected).toContain(
      "shows what was answered",
    );
  });
});

describe("the event of a write", () => {
  it("Nothing missing - a deletion whose answer names no uid - accepts", () => {
    expect(judgeNothingMissing(log("+a@1", "-a@2"), [create, { ...remove, uid: undefined }])).toBeUndefined();
  });
  it("Nothing missing - the event of another object, or of its end, at that version - rejects", () => {
    expect(judgeNothingMissing(log("+a@1", "-b@2"), [create, { ...remove, uid: undefined }])).toBeDefined();
    expect(judgeNothingMissing(log("+b@1"), [create])).toBeDefined();
    expect(judgeNothingMissing(log("+a@1", "-a@2"), [create, patch])).toBeDefined();
  });
});

describe("nothing extra", () => {
  it("Nothing extra - two lost writes explain two events - accepts", () => {
    const lost = write("patch", "a@", [3, undefined]);
    expect(judgeNothingExtra(log("+a@1", "~a@2", "~a@3"), [create, lost, lost])).toBeUndefined();
  });
  it("Nothing extra - a refused deletion is there - rejects", () => {
    expect(judgeNothingExtra(log("+a@1", "-a@3"), [create, { ...remove, status: 409 }])).toBeDefined();
  });
  it("Nothing extra - a lost write may be there - accepts", () => {
    expect(judgeNothingExtra(log("+a@1", "~a@2"), [create, write("patch", "a@", [3, undefined])])).toBeUndefined();
  });
  it("Nothing extra - a refused write is there - rejects", () => {
    const refused = write("patch", "a@2", [3, 4], { status: 409 });
    expect(judgeNothingExtra(log("+a@1", "~a@2"), [create, refused])?.actual).toContain("patch of n/a (409)");
  });
  it("Nothing extra - one lost write explains one event, not two - rejects", () => {
    expect(
      judgeNothingExtra(log("+a@1", "~a@2", "~a@3"), [create, write("patch", "a@", [3, undefined])]),
    ).toBeDefined();
  });
  it("Nothing extra - an event that nobody wrote - rejects", () => {
    expect(judgeNothingExtra(log("+a@1", "+b@2"), [create])?.actual).toContain("n/b");
  });
});

describe("real-time order", () => {
  const earlier = write("create", "a@1", [1, 2]);
  const later = write("create", "b@2", [3, 4]);
  it("Real-time order - as answered - accepts", () => {
    expect(judgeRealTimeOrder(log("+a@1", "+b@2"), [earlier, later])).toBeUndefined();
  });
  it("Real-time order - overlapping writes, either way round - accepts", () => {
    const overlapping = write("create", "a@1", [1, 4]);
    expect(judgeRealTimeOrder(log("+b@2", "+a@1"), [overlapping, later])).toBeUndefined();
  });
  it("Real-time order - a write that changed nothing shares an earlier event - accepts", () => {
    const nothing = write("patch", "a@1", [5, 6]);
    expect(judgeRealTimeOrder(log("+a@1", "+b@2"), [earlier, later, nothing])).toBeUndefined();
  });
  it("Real-time order - a repetition that is told first, and a deletion that was refused before - accepts", () => {
    const nothing = write("patch", "a@1", [5, 6]);
    expect(judgeRealTimeOrder(log("+a@1", "+b@2"), [nothing, earlier, later])).toBeUndefined();
    const refused = write("delete", "a@", [1, 2], { status: 404 });
    const made = write("create", "a@1", [3, 4]);
    expect(judgeRealTimeOrder(log("+a@1", "-a@3"), [refused, made, remove])).toBeUndefined();
  });
  it("Real-time order - behind the second of two that overlap - rejects", () => {
    const [slow, next] = [write("create", "a@1", [1, 20]), write("create", "b@2", [5, 20])];
    expect(judgeRealTimeOrder(log("+a@1", "+b@2", "+c@3"), [slow, next, write("create", "c@3", [2, 4])])).toBeDefined();
  });
  it("Real-time order - answered first, delivered last - rejects", () => {
    expect(judgeRealTimeOrder(log("+b@2", "+a@1"), [earlier, later])).toBeDefined();
  });
  it("Real-time order - across a third write - rejects", () => {
    const between = write("create", "c@3", [2, 9]);
    expect(judgeRealTimeOrder(log("+b@2", "+c@3", "+a@1"), [earlier, between, later])).toBeDefined();
  });
});
