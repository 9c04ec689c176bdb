import { setTimeout as namedSetTimeout } from "node:timers/promises";
import nodeCrypto, { randomUUID as namedUuid } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { Kernel, VIRTUAL_EPOCH_UNIX_MILLIS } from "../kernel/kernel.ts";
import { VirtualDriver } from "../kernel/virtual-driver.ts";
import { Macrotasks } from "./macrotasks.ts";
import { installVirtualGlobals } from "./virtual-globals.ts";

let restore: () => void = () => undefined;
afterEach(() => restore());

/** Runs `main` with virtual globals in force, on a fresh run. */
async function virtually<T>(main: () => Promise<T>, seed = "1"): Promise<T> {
  const kernel = new Kernel({ seed });
  const macrotasks = new Macrotasks();
  const driver = new VirtualDriver(kernel, { turn: () => macrotasks.turn() });
  const { clock, prng } = kernel.process("user-code");
  const post = (task: () => void): void => macrotasks.post(task);
  ({ restore } = installVirtualGlobals({ clock, prng, post, standsStill: () => false, createdAt: "a test" }));
  try {
    return await driver.run(main);
  } finally {
    restore();
  }
}

describe("virtual globals", () => {
  it("show the run's time in Date, performance and hrtime, and only its present", async () => {
    const seen = await virtually(async () => {
      const before = [Date.now(), new Date().getTime(), performance.now(), Number(process.hrtime.bigint())];
      await new Promise((resolve) => setTimeout(resolve, 90_000));
      const [seconds, nanos] = process.hrtime();
      const after = [Date.now(), new Date().getTime(), performance.now(), seconds + nanos];
      return {
        before,
        after,
        parsed: new Date("2026-01-02T03:04:05Z").getTime(),
        text: Date(),
        instance: new Date() instanceof Date,
      };
    });
    expect(seen.before).toEqual([VIRTUAL_EPOCH_UNIX_MILLIS, VIRTUAL_EPOCH_UNIX_MILLIS, 0, 0]);
    expect(seen.after).toEqual([VIRTUAL_EPOCH_UNIX_MILLIS + 90_000, VIRTUAL_EPOCH_UNIX_MILLIS + 90_000, 90_000, 90]);
    expect(seen.parsed).toBe(1_767_323_045_000);
    expect(seen.instance).toBe(true);
    expect(Date.parse(seen.text)).toBe(VIRTUAL_EPOCH_UNIX_MILLIS + 90_000);
  });

  it("order timers by their time, whichever way they are set", async () => {
    const order = await virtually(async () => {
      const seen: string[] = [];
      setTimeout(() => seen.push("timeout 30"), 30);
      setImmediate(() => seen.push("immediate"));
      setTimeout((word: string) => seen.push(word), 10, "timeout 10");
      const interval = setInterval(() => seen.push("interval"), 20);
      clearTimeout(setTimeout(() => seen.push("cleared"), 5));
      const refreshed = setTimeout(() => seen.push("refreshed"), 25);
      await namedSetTimeout(15).then(() => seen.push("promise 15"));
      refreshed.refresh();
      await namedSetTimeout(30);
      clearInterval(interval);
      await namedSetTimeout(100);
      return seen;
    });
    expect(order).toEqual(["immediate", "timeout 10", "promise 15", "interval", "timeout 30", "refreshed", "interval"]);
  });

  it("abort by AbortSignal.timeout and by a signal given to a wait", async () => {
    const [timeout, aborted] = await virtually(async () => {
      const signal = AbortSignal.timeout(5000);
      await namedSetTimeout(4999);
      const early = signal.aborted;
      await namedSetTimeout(1);
      const failure = await namedSetTimeout(10, undefined, { signal }).catch((error: Error) => error.name);
      return [[early, signal.aborted, (signal.reason as Error).name], failure];
    });
    expect(timeout).toEqual([false, true, "TimeoutError"]);
    expect(aborted).toBe("AbortError");
  });

  it("draw chance from the seed, by every name it has", async () => {
    const draw = (): Promise<unknown[]> =>
      virtually(async () => [
        Math.random(),
        crypto.randomUUID(),
        namedUuid(),
        nodeCrypto.randomBytes(8).toString("hex"),
        [...crypto.getRandomValues(new Uint8Array(4))],
      ]);
    const first = await draw();
    expect(await draw()).toEqual(first);
    expect(first[0]).toBeGreaterThanOrEqual(0);
    expect(first[0]).toBeLessThan(1);
    expect(first[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(first[1]).not.toBe(first[2]);
  });

  it("are put back as they were", async () => {
    const before = [
      Date,
      setTimeout,
      Math.random,
      performance.now,
      crypto.randomUUID,
      AbortSignal.timeout,
      process.hrtime,
    ];
    await virtually(async () => undefined);
    expect([
      Date,
      setTimeout,
      Math.random,
      performance.now,
      crypto.randomUUID,
      AbortSignal.timeout,
      process.hrtime,
    ]).toEqual(before);
    expect(Math.abs(Date.now() - VIRTUAL_EPOCH_UNIX_MILLIS)).toBeGreaterThan(1000);
  });
});
