import { describe, expect, it } from "vitest";
import { Kernel } from "./kernel.ts";
import { runVirtual, VirtualTimeError } from "./virtual-driver.ts";

const MINUTE = 60_000_000;
const macrotask = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("user code on virtual time", () => {
  it("sleeps for minutes in no time, in the right order", async () => {
    const kernel = new Kernel({ seed: "1" });
    const order: string[] = [];
    const result = await runVirtual(kernel, async (driver) => {
      const sleeper = async (name: string, micros: number): Promise<void> => {
        await driver.sleep(micros);
        order.push(`${name} at ${driver.nowMicros()}`);
      };
      await Promise.all([sleeper("late", 5 * MINUTE), sleeper("early", 1), sleeper("same", 1), sleeper("now", 0)]);
      return "done";
    });
    expect(result).toBe("done");
    expect(order).toEqual(["now at 0", "early at 1", "same at 1", `late at ${5 * MINUTE}`]);
  });

  it("stays at one instant through long promise chains and its own macrotasks", async () => {
    const kernel = new Kernel({ seed: "1" });
    kernel.process("ticker").clock.after(10, () => {});
    const seen = await runVirtual(kernel, async (driver) => {
      void driver.sleep(10);
      for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
      const afterPromises = driver.nowMicros();
      await macrotask();
      return [afterPromises, driver.nowMicros()];
    });
    expect(seen).toEqual([0, 0]);
  });

  it("needs no turn for requests that are answered at once", async () => {
    const kernel = new Kernel({ seed: "1" });
    const server = kernel.process("server");
    let turns = 0;
    const turn = (): Promise<void> => {
      turns++;
      return macrotask();
    };
    await runVirtual(
      kernel,
      async (driver) => {
        for (let request = 0; request < 10_000; request++) {
          await driver.wait<number>("a request", (resolve) => driver.enter(server, () => resolve(request)));
        }
      },
      { turn },
    );
    expect(turns).toBe(1);
  });

  it("fires what is due now before it returns from an entry", async () => {
    const kernel = new Kernel({ seed: "1" });
    const server = kernel.process("server");
    await runVirtual(kernel, async (driver) => {
      let fired = false;
      driver.enter(server, () => server.clock.after(0, () => (fired = true)));
      expect(fired).toBe(true);
    });
  });

  it("waits for outside work, however many real turns that takes", async () => {
    const kernel = new Kernel({ seed: "1" });
    const at = await runVirtual(kernel, async (driver) => {
      const sleep = driver.sleep(5);
      const before = await driver.holds.outside("compression", async () => {
        for (let turn = 0; turn < 20; turn++) await macrotask();
        return driver.nowMicros();
      });
      await sleep;
      return [before, driver.nowMicros()];
    });
    expect(at).toEqual([0, 5]);
  });

  it("takes its turns from the real world when user code sees another setImmediate", async () => {
    const real = globalThis.setImmediate;
    globalThis.setImmediate = (() => expect.unreachable("asked the user's world for a turn")) as never;
    try {
      await runVirtual(new Kernel({ seed: "1" }), (driver) => driver.sleep(5));
    } finally {
      globalThis.setImmediate = real;
    }
  });

  it("answers with what the code throws", async () => {
    const failing = runVirtual(new Kernel({ seed: "1" }), async (driver) => {
      await driver.sleep(1);
      throw new Error("the test failed");
    });
    await expect(failing).rejects.toThrow("the test failed");
  });

  it("says what a deadlock waits for", async () => {
    const kernel = new Kernel({ seed: "1" });
    const stuck = runVirtual(kernel, (driver) => driver.wait("the watch of configmaps", () => {}));
    await expect(stuck).rejects.toThrow(
      "nothing will ever happen again: user code waits for the watch of configmaps; no event is pending",
    );
    await expect(stuck).rejects.toMatchObject({ code: "deadlock" });
  });

  it("ends a run that goes on for ever at its limit", async () => {
    const kernel = new Kernel({ seed: "1" });
    const compactor = kernel.process("compactor");
    const tick = (): void => void compactor.clock.after(5 * MINUTE, tick);
    tick();
    const endless = runVirtual(kernel, (driver) => driver.wait("an event", () => {}), {
      maxVirtualMicros: 60 * MINUTE,
    });
    await expect(endless).rejects.toBeInstanceOf(VirtualTimeError);
    await expect(endless).rejects.toThrow(/not finished after 3600\.000000 s .* waits for an event; 1 pending/);
    expect(kernel.nowMicros()).toBe(60 * MINUTE);
  });

  it("fails when an event throws, even if the code swallows the error", async () => {
    const kernel = new Kernel({ seed: "1" });
    const server = kernel.process("server");
    const swallowing = runVirtual(kernel, async (driver) => {
      try {
        driver.enter(server, () => {
          throw new Error("our bug");
        });
      } catch {}
      await driver.sleep(1);
    });
    await expect(swallowing).rejects.toThrow('process "server" threw at 0.000000 s: Error: our bug');
    server.clock.after(1, () => {
      throw new Error("later");
    });
    const meanwhile = runVirtual(kernel, (driver) => driver.sleep(5), { processName: "second user" });
    await expect(meanwhile).rejects.toThrow('process "server" threw');
  });

  it("gives one seed one history, whatever the real world does meanwhile", async () => {
    const history = async (busy: boolean): Promise<string> => {
      const kernel = new Kernel({ seed: "9" });
      const server = kernel.process("server");
      await runVirtual(kernel, async (driver) => {
        const client = async (name: string): Promise<void> => {
          for (let round = 0; round < 20; round++) {
            driver.enter(server, () => server.trace("write", name, round));
            if (busy) await driver.holds.outside("busy", macrotask);
            else await driver.holds.outside("busy", async () => {});
            await driver.sleep(server.prng.intInclusive(0, 3));
          }
        };
        await Promise.all([client("a"), client("b"), client("c")]);
      });
      return kernel.trace.hash();
    };
    expect(await history(true)).toBe(await history(false));
  });
});
