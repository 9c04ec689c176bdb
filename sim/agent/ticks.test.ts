import fc from "fast-check";
import { expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { Ticks } from "./ticks.ts";

const period = 1_000;

it("does its work when one that looks at every tick would", () => {
  const asks = fc.array(fc.record({ at: fc.nat(20_000), ahead: fc.nat(5_000) }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.nat(5_000), asks, (startMicros, wanted) => {
      const kernel = new Kernel({ seed: "ticks" });
      const process = kernel.process("p");
      const { clock } = process;
      const fired: number[] = [];
      const looked: number[] = [];
      let dueMicros = Infinity;
      const ticks = new Ticks(process, "housekeeping", period, () => fired.push(clock.nowMicros()));
      const look = (): void => {
        if (dueMicros <= clock.nowMicros()) {
          dueMicros = Infinity;
          looked.push(clock.nowMicros());
        }
        clock.after(period, look);
      };
      kernel.enter(process, () => {
        // Odd moments, so that no ask falls on a tick: there the order of the two would decide.
        for (const { at, ahead } of wanted) {
          clock.after(2 * at + 1, () => {
            const due = clock.nowMicros() + 2 * ahead;
            dueMicros = Math.min(dueMicros, due);
            ticks.ask(due);
          });
        }
        clock.after(2 * startMicros, () => {
          ticks.start();
          clock.after(period, look);
        });
      });
      kernel.run(80_000);
      expect(fired).toEqual(looked);
    }),
  );
});

it("does nothing that nobody asks for", () => {
  const kernel = new Kernel({ seed: "ticks" });
  const process = kernel.process("p");
  kernel.enter(process, () => new Ticks(process, "housekeeping", period, () => {}).start());
  expect(kernel.pendingCount).toBe(0);
});
