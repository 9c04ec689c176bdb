/** What is refused when memory is full. */
import { describe, expect, it } from "vitest";
import { type MemoryLevel, MemoryLimit, processPorts } from "./memory-limit.ts";

/** A process whose memory is what the test says, and whose collections end when it does. */
class Machine {
  used = 100;
  garbage = 0;
  begun = 0;
  forced = 0;
  old = 0;
  isDone = false;
  private now = 0;
  readonly limit = new MemoryLimit(
    1000,
    { bytes: () => this.old, forget: () => this.forget() },
    {
      usedBytes: () => this.used + this.garbage,
      nowMicros: () => this.now,
      beginCollecting: () => {
        this.begun++;
        this.isDone = false;
        return () => this.isDone;
      },
      collect: () => {
        this.forced++;
        this.garbage = 0;
      },
    },
  );

  private forget(): void {
    this.garbage += this.old;
    this.used -= this.old;
    this.old = 0;
  }

  levelAfter(seconds: number): MemoryLevel {
    this.now += seconds * 1_000_000;
    return this.limit.level();
  }

  end(): void {
    this.garbage = 0;
    this.isDone = true;
  }
}

describe("the limit of memory", () => {
  it("has what nobody uses collected beside the work, and refuses nobody before that is done", () => {
    const machine = new Machine();
    expect([machine.levelAfter(1), machine.begun]).toEqual(["free", 0]);
    machine.garbage = 750;
    expect([machine.levelAfter(1), machine.begun]).toEqual(["free", 1]);
    machine.end();
    expect(machine.levelAfter(1)).toBe("free");
    machine.used = 900;
    expect([machine.levelAfter(3), machine.begun]).toEqual(["free", 2]);
    machine.end();
    expect(machine.levelAfter(1)).toBe("scarce");
    machine.used = 960;
    expect(machine.levelAfter(1)).toBe("none");
    machine.used = 100;
    expect([machine.levelAfter(10), machine.forced]).toEqual(["free", 0]);
  });

  it("refuses at the very end meanwhile, begins again what takes too long, and collects at once only where hardly anybody is answered", () => {
    const machine = new Machine();
    machine.garbage = 650;
    expect([machine.levelAfter(1), machine.begun]).toEqual(["free", 1]);
    machine.garbage = 860;
    expect([machine.levelAfter(1), machine.forced]).toEqual(["none", 0]);
    machine.end();
    expect(machine.levelAfter(1)).toBe("free");
    machine.used = 900;
    expect([machine.levelAfter(3), machine.begun]).toEqual(["free", 2]);
    expect([machine.levelAfter(2), machine.begun, machine.forced]).toEqual(["free", 2, 0]);
    expect([machine.levelAfter(1), machine.begun, machine.forced]).toEqual(["free", 3, 0]);
    machine.garbage = 60;
    expect([machine.levelAfter(3), machine.begun, machine.forced]).toEqual(["none", 4, 0]);
    expect([machine.levelAfter(3), machine.begun, machine.forced]).toEqual(["none", 5, 0]);
    expect([machine.levelAfter(3), machine.begun, machine.forced]).toEqual(["scarce", 5, 1]);
  });

  it("forgets old versions before anybody is refused, unless they are few", () => {
    const machine = new Machine();
    machine.used = 900;
    machine.old = 200;
    expect([machine.levelAfter(3), machine.begun]).toEqual(["free", 1]);
    machine.end();
    expect([machine.levelAfter(1), machine.old]).toEqual(["scarce", 200]); // a collection was just now
    expect([machine.levelAfter(2), machine.old, machine.begun]).toEqual(["free", 0, 2]);
    machine.end();
    expect(machine.levelAfter(1)).toBe("free");
    machine.used = 900;
    machine.old = 20;
    machine.levelAfter(3);
    machine.end();
    expect([machine.levelAfter(3), machine.old]).toEqual(["scarce", 20]);
  });

  it("does not collect again and again what is in use", () => {
    const machine = new Machine();
    machine.used = 900;
    machine.levelAfter(3);
    machine.end();
    for (let look = 0; look < 10; look++) expect(machine.levelAfter(3)).toBe("scarce");
    expect([machine.begun, machine.forced]).toEqual([1, 0]);
  });
});

it("a collection is seen to end, though somebody looks whether it has all the while", async () => {
  const isDone = processPorts.beginCollecting();
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve));
});
