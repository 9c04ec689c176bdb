import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EventOwner, EventQueue } from "./event-queue.ts";

type Step =
  | { readonly do: "push"; readonly delay: number; readonly owner: number }
  | { readonly do: "pop" }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "crash"; readonly owner: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("push" as const), delay: fc.nat(6), owner: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.constant({ do: "pop" as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), owner: fc.nat(3) }) },
);

interface ModelEvent {
  readonly time: number;
  readonly sequence: number;
  readonly label: number;
  readonly owner: { alive: boolean; pendingCount: number };
  readonly slot: number;
  pending: boolean;
}

/** The queue beside an array that is searched in full every time. */
function playAgainstModel(steps: readonly Step[]): void {
  const queue = new EventQueue();
  const everyEvent: ModelEvent[] = [];
  const owners = Array.from({ length: 4 }, () => ({ alive: true, pendingCount: 0 }));
  const fired: number[] = [];
  let now = 0;
  const first = (): ModelEvent | undefined =>
    everyEvent.filter((event) => event.pending).sort((a, b) => a.time - b.time || a.sequence - b.sequence)[0];

  for (const [label, action] of steps.entries()) {
    if (action.do === "push") {
      const owner = owners[action.owner] as ModelEvent["owner"];
      const time = now + action.delay;
      const slot = queue.push(time, owner, () => void fired.push(label));
      everyEvent.push({ time, sequence: queue.sequence, label, owner, slot, pending: true });
    } else if (action.do === "cancel" && everyEvent.length > 0) {
      const event = everyEvent[action.which % everyEvent.length] as ModelEvent;
      queue.cancel(event.slot, event.sequence);
      event.pending = false;
    } else if (action.do === "crash") {
      const owner = owners[action.owner] as ModelEvent["owner"];
      owner.alive = false;
      queue.revoke(owner);
      for (const event of everyEvent) if (event.owner === owner) event.pending = false;
      owners[action.owner] = { alive: true, pendingCount: 0 };
    } else if (action.do === "pop") {
      const expected = first();
      expect(queue.nextTime()).toBe(expected?.time ?? Infinity);
      if (expected === undefined) continue;
      expect(queue.nextOwner()).toBe(expected.owner);
      now = expected.time;
      expected.pending = false;
      queue.pop()();
      expect(fired.at(-1)).toBe(expected.label);
      expect(queue.poppedSequence).toBe(expected.sequence);
    }
    expect(queue.pendingCount).toBe(everyEvent.filter((event) => event.pending).length);
  }
}

describe("the event queue", () => {
  it("behaves as a naive model does, under pushes, pops, cancels and crashes", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 300 }), playAgainstModel), { seed: 11, numRuns: 300 });
  });

  it("keeps order when it grows and when it sweeps out the cancelled", () => {
    const queue = new EventQueue();
    const owner: EventOwner = { alive: true, pendingCount: 0 };
    const fired: number[] = [];
    const handles = Array.from({ length: 5000 }, (_, index) => {
      const slot = queue.push((index * 7919) % 100, owner, () => void fired.push(index));
      return { slot, sequence: queue.sequence };
    });
    for (const [index, { slot, sequence }] of handles.entries()) if (index % 4 !== 0) queue.cancel(slot, sequence);
    expect(queue.pendingCount).toBe(1250);
    while (queue.nextTime() !== Infinity) queue.pop()();
    const expected = Array.from({ length: 1250 }, (_, index) => index * 4).sort(
      (a, b) => ((a * 7919) % 100) - ((b * 7919) % 100) || a - b,
    );
    expect(fired).toEqual(expected);
    expect(owner.pendingCount).toBe(0);
  });

  it("does not let an old handle cancel a later event in the same slot", () => {
    const queue = new EventQueue();
    const owner: EventOwner = { alive: true, pendingCount: 0 };
    const slot = queue.push(1, owner, () => {});
    const sequence = queue.sequence;
    queue.nextTime();
    queue.pop();
    expect(queue.push(2, owner, () => {})).toBe(slot);
    queue.cancel(slot, sequence);
    expect(queue.pendingCount).toBe(1);
  });
});
