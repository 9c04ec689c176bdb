import { describe, expect, it } from "vitest";
import type { StoreEvent } from "../../store/types.ts";
import { EventHistory, type Retention } from "./event-history.ts";

const SECOND = 1_000_000;
const ring: Retention = { kind: "ring" };

const event = (revision: number): StoreEvent => ({
  revision,
  key: "/k",
  value: {},
  previous: undefined,
  previousRevision: 0,
});

/** Appends `count` events, `gapMicros` apart, of revisions after `from`. Returns the time of the last. */
function fill(history: EventHistory, from: number, count: number, start: number, gapMicros: number): number {
  for (let index = 1; index <= count; index++) history.append(event(from + index), start + index * gapMicros);
  return start + count * gapMicros;
}

describe("a window", () => {
  const window: Retention = { kind: "window", windowMicros: 10 };

  it("keeps what is not older than itself, and starts after the last event lost", () => {
    const history = new EventHistory(window, 5);
    expect(history.oldestStart(100)).toBe(5);
    history.append(event(7), 100);
    history.append(event(9), 105);
    expect(history.oldestStart(110)).toBe(5);
    expect(history.after(5).map(({ revision }) => revision)).toEqual([7, 9]);
    expect(history.oldestStart(111)).toBe(7);
    expect(history.after(7).map(({ revision }) => revision)).toEqual([9]);
    expect(history.oldestStart(200)).toBe(9);
    expect(history.after(9)).toEqual([]);
  });

  it("cuts off what it has lost, however much that is", () => {
    const history = new EventHistory(window, 1);
    fill(history, 1, 10_000, 0, 1);
    expect(history.size).toBe(11);
    expect(history.oldestStart(10_000)).toBe(9_990);
    expect(history.after(9_995).map(({ revision }) => revision)).toEqual([9_996, 9_997, 9_998, 9_999, 10_000, 10_001]);
  });
});

describe("a ring", () => {
  it("loses nothing before it is full, however old", () => {
    const history = new EventHistory(ring, 5);
    const now = fill(history, 5, 100, 0, 3600 * SECOND);
    expect(history.oldestStart(now)).toBe(5);
    history.append(event(106), now + 3600 * SECOND);
    expect(history.size).toBe(100);
    expect(history.oldestStart(now)).toBe(6); // just before its oldest, 7
  });

  it("starts just before its oldest event, though nothing lies between that and the one it lost", () => {
    const history = new EventHistory(ring, 1);
    for (let index = 1; index <= 101; index++) history.append(event(index * 10), index * 100 * SECOND);
    expect(history.oldestStart(0)).toBe(19);
  });

  it("grows rather than lose an event younger than 75 s, up to 102,400", () => {
    const history = new EventHistory(ring, 1);
    fill(history, 1, 10_000, 0, 100);
    expect(history.size).toBe(10_000);
    expect(history.oldestStart(0)).toBe(1);
    fill(history, 10_001, 100_000, SECOND, 100);
    expect(history.size).toBe(102_400);
    expect(history.after(0)[0]?.revision).toBe(110_001 - 102_400 + 1);
  });

  it("shrinks when three quarters of it would hold 75 s and more", () => {
    const history = new EventHistory(ring, 1);
    const burst = fill(history, 1, 1_600, 0, 100);
    expect(history.size).toBe(1_600);
    fill(history, 1_601, 1_700, burst, 10 * SECOND);
    expect(history.size).toBe(100);
  });
});
