import { describe, expect, it } from "vitest";
import { Kernel } from "./kernel.ts";
import type { Process } from "./types.ts";
import { WallDriver, type WallPorts } from "./wall-driver.ts";

/** A wall clock that a test moves by hand; it starts anywhere, as real ones do. */
class HandClock implements WallPorts {
  now = 777_000_000;
  readonly armed: { at: number; fire: () => void; cancelled: boolean }[] = [];

  nowMicros(): number {
    return this.now;
  }

  wake(delayMicros: number, fire: () => void): () => void {
    const entry = { at: this.now + delayMicros, fire, cancelled: false };
    this.armed.push(entry);
    return () => {
      entry.cancelled = true;
    };
  }

  /** Moves time on, firing wake-ups that fall due on the way. */
  advance(micros: number): void {
    const until = this.now + micros;
    for (;;) {
      const next = this.armed.filter((entry) => !entry.cancelled && entry.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      next.cancelled = true;
      this.now = Math.max(this.now, next.at);
      next.fire();
    }
    this.now = until;
  }

  get pending(): number {
    return this.armed.filter((entry) => !entry.cancelled).length;
  }
}

function setup(): { clock: HandClock; kernel: Kernel; process: Process; driver: WallDriver; errors: unknown[] } {
  const clock = new HandClock();
  const kernel = new Kernel({ seed: "1" });
  const errors: unknown[] = [];
  const driver = new WallDriver(kernel, clock, { onError: (error) => void errors.push(error) });
  return { clock, kernel, process: kernel.process("p"), driver, errors };
}

describe("the wall driver", () => {
  it("leaves a turn to others after one that took long, once", () => {
    const { clock, process, driver } = setup();
    const fired: string[] = [];
    const enter = (name: string, micros: number): void =>
      driver.enter(process, () => {
        clock.now += micros;
        process.clock.after(0, () => fired.push(name));
      });
    const wake = (): void => {
      const next = clock.armed.find(({ cancelled }) => !cancelled);
      if (next === undefined) throw new Error("nothing is armed");
      next.cancelled = true;
      next.fire();
    };
    enter("short", 9_000);
    expect(fired).toEqual(["short"]);
    enter("long", 11_000);
    wake();
    expect(fired).toEqual(["short"]);
    enter("long again", 11_000); // nobody is kept from his turn by others who take long ones
    wake();
    expect(fired).toEqual(["short", "long", "long again"]);
    expect(clock.pending).toBe(0);
  });

  it("runs the events of one turn for many that enter in it, not of one for each", () => {
    const { clock, process, driver } = setup();
    const fired: number[] = [];
    for (let at = 0; at < 100; at++) {
      driver.enter(process, () => {
        process.clock.after(0, () => {
          clock.now += 1_000;
          fired.push(at);
        });
      });
    }
    expect(fired.length).toBeLessThanOrEqual(11);
    clock.advance(200_000);
    expect(fired).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it("fires timers when the world's time has come", () => {
    const { clock, process, driver } = setup();
    const fired: number[] = [];
    driver.enter(process, () => {
      for (const delay of [2000, 1000]) process.clock.after(delay, () => fired.push(process.clock.nowMicros()));
    });
    expect(clock.pending).toBe(1);
    clock.advance(999);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toEqual([1000]);
    clock.advance(5000);
    expect([fired, clock.pending]).toEqual([[1000, 2000], 0]);
  });

  it("brings the clock up to now before an entry, with what was due done first", () => {
    const { clock, process, driver } = setup();
    const order: string[] = [];
    driver.enter(process, () => process.clock.after(1000, () => order.push(`timer at ${process.clock.nowMicros()}`)));
    clock.now += 5000; // the host was busy: the wake-up is late
    driver.enter(process, () => order.push(`entry at ${process.clock.nowMicros()}`));
    expect(order).toEqual(["timer at 1000", "entry at 5000"]);
  });

  it("fires what an entry makes due at once, and returns its result", () => {
    const { process, driver } = setup();
    let fired = false;
    expect(driver.enter(process, () => (process.clock.after(0, () => (fired = true)), "result"))).toBe("result");
    expect(fired).toBe(true);
  });

  it("moves its wake-up forward for a nearer event, and never back", () => {
    const { clock, process, driver } = setup();
    let cancelNear = (): void => {};
    driver.enter(process, () => void process.clock.after(10_000, () => {}));
    driver.enter(process, () => void (cancelNear = process.clock.after(1000, () => {})));
    expect(clock.armed.map(({ at, cancelled }) => [at - 777_000_000, cancelled])).toEqual([
      [10_000, true],
      [1000, false],
    ]);
    driver.enter(process, () => cancelNear());
    expect(clock.armed).toHaveLength(2);
    clock.advance(1000);
    expect(clock.armed.at(-1)?.at).toBe(777_010_000);
  });

  it("wakes for far timers in steps that no host's timer overflows on", () => {
    const { clock, process, driver } = setup();
    const day = 86_400_000_000;
    let fired = 0;
    driver.enter(process, () => process.clock.after(40 * day, () => fired++));
    expect((clock.armed[0]?.at ?? 0) - clock.now).toBeLessThan(2 ** 31 * 1000);
    clock.advance(40 * day - 1);
    expect(fired).toBe(0);
    clock.advance(1);
    expect(fired).toBe(1);
  });

  it("hands on the error of an event and goes on with the rest", () => {
    const { clock, process, driver, errors } = setup();
    let fired = 0;
    driver.enter(process, () => {
      process.clock.after(10, () => {
        throw new Error("boom");
      });
      process.clock.after(10, () => fired++);
      process.clock.after(500, () => fired++);
    });
    clock.advance(1000);
    expect(errors.map(String)).toEqual(['ProcessError: process "p" threw at 0.000010 s: Error: boom']);
    expect(fired).toBe(2);
  });

  it("throws an entry's error at who entered, and stays usable", () => {
    const { clock, process, driver, errors } = setup();
    let fired = false;
    expect(() =>
      driver.enter(process, () => {
        process.clock.after(10, () => (fired = true));
        throw new Error("bad request");
      }),
    ).toThrow('process "p" threw at 0.000000 s: Error: bad request');
    clock.advance(10);
    expect([fired, errors]).toEqual([true, []]);
  });

  it("takes entries from inside an event as plain calls, and a clock that steps back for one that stands", () => {
    const { clock, process, driver } = setup();
    clock.advance(100);
    driver.enter(process, () => {
      clock.now += 50; // time does not move while code runs
      expect(driver.enter(process, () => process.clock.nowMicros())).toBe(100);
    });
    clock.now -= 120;
    expect(driver.enter(process, () => process.clock.nowMicros())).toBe(100);
  });

  it("leaves events for the next turn when they take long, and runs none of them for what enters before", () => {
    const { clock, process, driver } = setup();
    const order: string[] = [];
    const slow = (name: string) => (): void => {
      clock.now += 20_000;
      order.push(name);
    };
    driver.enter(process, () => {
      for (const name of ["a", "b", "c"]) process.clock.after(0, slow(name));
    });
    expect(order).toEqual(["a"]);
    driver.enter(process, () => order.push("entered"));
    expect(order).toEqual(["a", "entered"]);
    clock.advance(0);
    expect(order).toEqual(["a", "entered", "b"]); // a turn each
    clock.advance(20_000);
    expect(order).toEqual(["a", "entered", "b", "c"]);
    driver.enter(process, () => process.clock.after(0, () => order.push("d")));
    expect(order.at(-1)).toBe("d");
  });

  it("fires timers in time while events go on that each take a turn and make the next", () => {
    const { clock, process, driver } = setup();
    const fired: string[] = [];
    let left = 1_000;
    const work = (): void => {
      clock.now += 12_000;
      if (--left > 0) process.clock.after(0, work);
    };
    driver.enter(process, () => {
      const began = process.clock.nowMicros();
      for (const seconds of [5, 1, 3]) {
        process.clock.after(seconds * 1_000_000, () => {
          const late = process.clock.nowMicros() - began - seconds * 1_000_000;
          fired.push(`${seconds} s, ${late >= 0 && late <= 24_000 ? "in time" : `${late} µs late`}`);
        });
      }
      process.clock.after(0, work);
    });
    clock.advance(2_000_000);
    expect(left).toBeGreaterThan(0);
    expect(fired).toEqual(["1 s, in time"]);
    const seen = driver.enter(process, () => process.clock.nowMicros());
    expect(clock.now - 777_000_000 - seen).toBeLessThan(12_000);
    clock.advance(60_000_000);
    expect([left, fired]).toEqual([0, ["1 s, in time", "3 s, in time", "5 s, in time"]]);
  });

  it("fires late events in the order of their times, and those that had to wait for another turn at the time that it is", () => {
    const { clock, process, driver } = setup();
    const fired: string[] = [];
    driver.enter(process, () => {
      for (const at of [3_000, 1_000, 2_000]) {
        process.clock.after(at, () => {
          fired.push(`${at} at ${process.clock.nowMicros()}`);
          clock.now += 50_000;
        });
      }
    });
    clock.advance(200_000);
    expect(fired).toEqual(["1000 at 1000", "2000 at 2000", "3000 at 101000"]);
  });

  it("fires nothing after it was stopped", () => {
    const { clock, process, driver } = setup();
    driver.enter(process, () => process.clock.after(10, () => expect.unreachable("fired after stop")));
    driver.stop();
    expect(clock.pending).toBe(0);
    clock.advance(100);
    expect(driver.enter(process, () => process.clock.nowMicros())).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("still runs what an entry makes due at once after it was stopped, however long that takes", () => {
    const { clock, process, driver } = setup();
    let fired = 0;
    const enter = (): void =>
      driver.enter(process, () => {
        process.clock.after(0, () => {
          clock.now += 4_000;
          fired++;
        });
      });
    for (let at = 0; at < 5; at++) enter();
    driver.stop();
    for (let at = 0; at < 5; at++) enter();
    expect(fired).toBe(10);
  });
});
