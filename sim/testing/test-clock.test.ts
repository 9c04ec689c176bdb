import { PassThrough, Readable } from "node:stream";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "./cluster.ts";
import { createCluster } from "./testing.ts";

let cluster: Cluster;
beforeEach(async () => {
  cluster = await createCluster();
});
afterEach(() => cluster.close());

const seconds = (): number => cluster.nowMicros() / 1_000_000;

describe("the test's clock", () => {
  it("stands still by itself, and moves by what is asked for", async () => {
    let ticks = 0;
    setInterval(() => ticks++, 1000);
    expect([seconds(), ticks]).toEqual([0, 0]);
    await cluster.advance("2500ms");
    expect([seconds(), ticks]).toEqual([2.5, 2]);
    await cluster.advance({ millis: 500 });
    expect([seconds(), ticks, Date.now() % 1000, performance.now()]).toEqual([3, 3, 0, 3000]);
  });

  it("advances over days without waiting", async () => {
    const late = sleep(40 * 24 * 3600 * 500, "late");
    await cluster.advance("480h");
    expect(await late).toBe("late");
  });

  it("settles what needs no time, and nothing else", async () => {
    const seen: string[] = [];
    void sleep(1).then(() => seen.push("later"));
    void (async () => {
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
      seen.push("immediates");
      for (let i = 0; i < 50; i++) await new Promise<void>((resolve) => process.nextTick(resolve));
      seen.push("ticks");
    })();
    await cluster.settle();
    expect([seen, seconds()]).toEqual([["immediates", "ticks"], 0]);
  });

  it("waits for streams and readline to have passed on what they have", async () => {
    const lines: string[] = [];
    const source = new PassThrough();
    const web = Readable.toWeb(source).pipeThrough(new TransformStream());
    createInterface(Readable.fromWeb(web as never)).on("line", (line) => lines.push(`${line} at ${seconds()}`));
    setInterval(() => source.write("a\nb"), 1000);
    await cluster.advance("3s");
    expect(lines).toEqual(["a at 1", "ba at 2", "ba at 3"]);
  });

  it("runs until a condition holds, at the first instant at which it does", async () => {
    let count = 0;
    setInterval(() => count++, 700);
    await cluster.runUntil(() => count === 3);
    expect(seconds()).toBe(2.1);
    await cluster.runUntil(async () => true);
    expect(seconds()).toBe(2.1);
    await expect(cluster.runUntil(() => false, { within: "10s" })).rejects.toThrow("does not hold within 10s");
    expect(seconds()).toBeLessThanOrEqual(12.1);
  });

  it("runs what takes time by itself, and answers as it does", async () => {
    expect(await cluster.run(async () => sleep(90_000, "done"))).toBe("done");
    expect(seconds()).toBe(90);
    await expect(cluster.run(() => sleep(1).then(() => Promise.reject(new Error("mine"))))).rejects.toThrow("mine");
    await expect(
      cluster.run(() => {
        throw new Error("at once");
      }),
    ).rejects.toThrow("at once");
  });

  it("may be used within itself, and by several at once", async () => {
    const order: string[] = [];
    const slow = cluster.advance("5s").then(() => order.push(`slow ${seconds()}`));
    const quick = cluster.advance("1s").then(() => order.push(`quick ${seconds()}`));
    await quick;
    await slow;
    await cluster.run(async () => {
      await cluster.advance("1s");
      await cluster.run(async () => {
        setTimeout(() => order.push("due"), 1000);
        await cluster.runUntil(() => order.includes("due"));
        await cluster.settle();
      });
      order.push(`nested ${seconds()}`);
    });
    expect(order).toEqual(["quick 1", "slow 5", "due", "nested 7"]);
  });

  it("says what it waited for when nothing will ever happen", async () => {
    const stuck = cluster.run(() => new Promise(() => undefined), { within: "2h" });
    await expect(stuck).rejects.toThrow(/not finished after 2h of virtual time.*cluster\.outside/);
    expect(seconds()).toBe(7200);
    await cluster.advance("1s"); // the cluster itself is as good as before
  });

  it("keeps Node's order: each timer, then all that follows from it", async () => {
    const order: string[] = [];
    for (const name of ["one", "two"]) {
      setTimeout(() => {
        order.push(name);
        process.nextTick(() => order.push(`${name}: tick`));
        void Promise.resolve()
          .then(() => undefined)
          .then(() => order.push(`${name}: microtask`));
      }, 10);
    }
    const three = setTimeout(() => order.push("never"), 10);
    setTimeout(() => clearTimeout(three), 9);
    await cluster.advance("1s");
    expect(order).toEqual(["one", "one: tick", "one: microtask", "two", "two: tick", "two: microtask"]);
  });

  it("lets code that polls by immediates see time pass", async () => {
    let done = false;
    setTimeout(() => (done = true), 50);
    await cluster.run(async () => {
      while (!done) await new Promise((resolve) => setImmediate(resolve));
    });
    expect(seconds()).toBe(0.05);
  });

  it("drives promisified timers, and timers that abort", async () => {
    await cluster.run(() => promisify(setTimeout)(1500));
    expect(seconds()).toBe(1.5);
    const signal = AbortSignal.timeout(500);
    await cluster.advance("1s");
    expect(signal.aborted).toBe(true);
  });

  it("refuses a length that is none", async () => {
    for (const length of ["soon", "-1s", { millis: -1 }, { millis: Number.NaN }]) {
      expect(() => cluster.advance(length)).toThrow(/not a duration: .*; write "90s"/);
    }
  });

  it("is refused to a second cluster while the first is open", async () => {
    await expect(createCluster()).rejects.toThrow(/created at .*test-clock\.test\.ts:\d+:\d+\)? is still open/);
    const bystander = await createCluster({ virtualGlobals: false });
    await bystander.advance("1s");
    await bystander.close();
  });

  it("gives everything back when it is closed", async () => {
    const pending = cluster.run(() => new Promise(() => undefined));
    await Promise.all([expect(pending).rejects.toThrow("the cluster is closed"), cluster.close()]);
    await expect(cluster.fetch(cluster.url)).rejects.toMatchObject({ cause: new Error("the cluster is closed") });
    expect(new Date().getFullYear()).toBeLessThan(2030);
    expect(Date.prototype.constructor).toBe(Date);
    expect(Date.now).toBe(new Date().constructor.prototype.constructor.now);
  });
});
