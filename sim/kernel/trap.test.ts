import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Kernel, ProcessError } from "./kernel.ts";
import { installTrap, TrapError } from "./trap.ts";

let uninstall: () => void;
beforeEach(() => {
  uninstall = installTrap();
});
afterEach(() => uninstall());

/** What an event that calls `reach` makes the run throw. */
function caught(reach: () => unknown): TrapError {
  const kernel = new Kernel({ seed: "1" });
  kernel.process("culprit").clock.after(0, () => void reach());
  let thrown: unknown;
  try {
    kernel.run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ProcessError);
  expect(thrown).toMatchObject({ process: "culprit" });
  expect((thrown as Error).cause).toBeInstanceOf(TrapError);
  return (thrown as Error).cause as TrapError;
}

const forbidden: [string, () => unknown][] = [
  ["Date.now()", () => Date.now()],
  ["new Date()", () => new Date()],
  ["Date()", () => Date()],
  ["Math.random()", () => Math.random()],
  ["performance.now()", () => performance.now()],
  ["process.hrtime()", () => process.hrtime()],
  ["process.hrtime.bigint()", () => process.hrtime.bigint()],
  ["crypto.randomUUID()", () => crypto.randomUUID()],
  ["crypto.getRandomValues()", () => crypto.getRandomValues(new Uint8Array(4))],
  ["setTimeout()", () => setTimeout(() => {}, 1)],
  ["setInterval()", () => setInterval(() => {}, 1)],
  ["setImmediate()", () => setImmediate(() => {})],
  ["fetch()", () => fetch("http://127.0.0.1:9/")],
];

describe("the trap", () => {
  it.each(forbidden)("refuses %s in an event", (label, reach) => {
    expect(caught(reach).forbidden).toBe(label);
  });

  it("names the function and the line that called", () => {
    const error = caught(function leakyComponent() {
      return Math.random();
    });
    expect(error.caller).toMatch(/leakyComponent \(.*trap\.test\.ts:\d+:\d+\)/);
    expect(error.message).toContain("use the process's prng");
  });

  it("refuses in what is entered from outside, too", () => {
    const kernel = new Kernel({ seed: "1" });
    expect(() => kernel.enter(kernel.process("p"), () => Date.now())).toThrow(/Date\.now\(\) was called/);
  });

  it("lets everything pass outside dispatch, and working as before", () => {
    expect(Date.now()).toBeGreaterThan(1_600_000_000_000);
    expect(new Date()).toBeInstanceOf(Date);
    expect(new Date().constructor).toBe(Date);
    expect(typeof Date()).toBe("string");
    expect(Math.random()).toBeLessThan(1);
    expect(performance.now()).toBeGreaterThan(0);
    expect(process.hrtime()).toHaveLength(2);
    expect(typeof process.hrtime.bigint()).toBe("bigint");
    expect(crypto.randomUUID()).toHaveLength(36);
    expect(crypto.getRandomValues(new Uint8Array(4))).toHaveLength(4);
    clearTimeout(setTimeout(() => {}, 1));
  });

  it("lets an event read an instant that it was given", () => {
    const kernel = new Kernel({ seed: "1" });
    const texts: string[] = [];
    kernel.process("p").clock.after(0, () => {
      texts.push(new Date(0).toISOString(), String(Date.UTC(1970, 0, 1)), String(Date.parse("1970-01-01T00:00:01Z")));
    });
    kernel.run();
    expect(texts).toEqual(["1970-01-01T00:00:00.000Z", "0", "1000"]);
  });

  it("is over for the next caller when an event has thrown", () => {
    caught(() => Date.now());
    expect(() => Date.now()).not.toThrow();
  });

  it("leaves no trace when it is removed, and installs once", () => {
    expect(installTrap()).toBe(uninstall);
    uninstall();
    const real = {
      date: Date,
      random: Math.random,
      now: performance.now,
      timeout: setTimeout,
      uuid: crypto.randomUUID,
    };
    const kernel = new Kernel({ seed: "1" });
    kernel.process("p").clock.after(0, () => void Date.now());
    expect(() => kernel.run()).not.toThrow();
    uninstall = installTrap();
    expect(Date).not.toBe(real.date);
    uninstall();
    expect([Date, Math.random, performance.now, setTimeout, crypto.randomUUID]).toEqual(Object.values(real));
    expect(Object.hasOwn(performance, "now")).toBe(false);
    expect(new Date(0).constructor).toBe(Date);
  });
});
