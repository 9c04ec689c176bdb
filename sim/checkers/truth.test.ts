import fc from "fast-check";
import { expect, it } from "vitest";
import { Truth } from "./truth.ts";

const keys = ["/registry/pods/a/x", "/registry/pods/a/y", "/registry/pods/b/x", "/registry/nodes/n"];
const prefixes = ["/registry/pods/", "/registry/pods/a/", "/registry/nodes/"];

/** A write or a deletion of a key, a question about a prefix at a share of all revisions, or another store. */
const steps = fc.array(
  fc.oneof(
    fc.record({ key: fc.constantFrom(...keys), isDeletion: fc.boolean() }),
    fc.record({ prefix: fc.constantFrom(...prefixes), percent: fc.nat(100) }),
    fc.constant("restart" as const),
  ),
  { maxLength: 60 },
);

it("tells what a prefix held at any revision, in whatever order it is asked", () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const truth = new Truth(1, () => 0);
      let revision = 1;
      for (const step of taken) {
        if (step === "restart") {
          const kept = truth.changes.slice(0, truth.changes.length >> 1);
          const events = kept.map((change) => ({ ...change, value: change.object, previousRevision: 0 }));
          revision = kept.at(-1)?.revision ?? 1;
          truth.restart(events, revision);
        } else if ("key" in step) {
          const value = step.isDeletion ? undefined : { metadata: { name: "x" } };
          truth.committed({ revision: ++revision, key: step.key, value, previous: undefined, previousRevision: 0 });
        } else {
          const at = Math.floor((revision * step.percent) / 100);
          const held = new Map<string, number>();
          for (const { key, object, revision: written } of truth.changes) {
            if (written > at || !key.startsWith(step.prefix)) continue;
            if (object === undefined) held.delete(key);
            else held.set(key, written);
          }
          const told = [...truth.stateAt(step.prefix, at)].map(([key, change]) => [key, change.revision]);
          expect(told).toEqual([...held]);
        }
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});
