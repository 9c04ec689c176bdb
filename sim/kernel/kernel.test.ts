import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvariantError } from "./invariant.ts";
import { Kernel, ProcessError } from "./kernel.ts";
import type { CallFailure, CallResult, Cancel, Endpoint, Process } from "./types.ts";

const kernel = (seed = "1"): Kernel => new Kernel({ seed });

/** An endpoint that keeps what it was asked, for a test to answer when it likes. */
class Desk implements Endpoint<string, string> {
  readonly asked: {
    request: string;
    done: (response: string) => void;
    fail: (failure: CallFailure) => void;
    cancelled: boolean;
  }[] = [];

  start(request: string, done: (response: string) => void, fail: (failure: CallFailure) => void): Cancel {
    const entry = { request, done, fail, cancelled: false };
    this.asked.push(entry);
    return () => {
      entry.cancelled = true;
    };
  }
}

describe("time", () => {
  it("fires by time, and at equal times in the order of scheduling", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 60 }), (delays) => {
        const run = kernel();
        const { clock } = run.process("p");
        const fired: (readonly [number, number])[] = [];
        for (const [index, delay] of delays.entries()) clock.after(delay, () => fired.push([clock.nowMicros(), index]));
        run.run();
        const expected = delays.map((delay, index) => [delay, index] as const);
        expect(fired).toEqual(expected.sort((a, b) => a[0] - b[0] || a[1] - b[1]));
      }),
      { seed: 14 },
    );
  });

  it("stops at the instant asked for, with what is due there done", () => {
    const run = kernel();
    const { clock } = run.process("p");
    const fired: number[] = [];
    for (const at of [5, 10, 11]) clock.after(at, () => fired.push(at));
    run.run(10);
    expect([fired, run.nowMicros(), run.nextEventMicros, run.pendingCount]).toEqual([[5, 10], 10, 11, 1]);
    expect(run.step()).toBe(true);
    expect([fired, run.nowMicros(), run.nextEventMicros]).toEqual([[5, 10, 11], 11, undefined]);
    expect(run.step()).toBe(false);
    run.run(1_000_000);
    expect(run.nowMicros()).toBe(1_000_000);
    expect(() => run.run(999_999)).toThrow(InvariantError);
  });

  it("runs in parts of so many events, which come to the same", () => {
    const run = kernel();
    const { clock } = run.process("p");
    const fired: number[] = [];
    for (const at of [5, 5, 10, 11]) clock.after(at, () => fired.push(at));
    expect([run.runSome(10, 2), run.nowMicros(), fired]).toEqual([false, 5, [5, 5]]);
    expect([run.runSome(10, 2), run.nowMicros(), fired]).toEqual([true, 10, [5, 5, 10]]);
    expect([run.runSome(20, 2), run.nowMicros(), fired]).toEqual([true, 20, [5, 5, 10, 11]]);
    expect(() => run.runSome(19, 2)).toThrow(InvariantError);
  });

  it("forgets what was cancelled, and takes a late cancel for nothing", () => {
    const run = kernel();
    const { clock } = run.process("p");
    let fired = 0;
    const cancel = clock.after(5, () => fired++);
    const kept = clock.after(6, () => fired++);
    cancel();
    cancel();
    run.run();
    kept();
    expect([fired, run.nowMicros(), run.pendingCount]).toEqual([1, 6, 0]);
  });

  it("refuses delays that are none", () => {
    const { clock } = kernel().process("p");
    for (const delay of [-1, 0.5, Number.NaN, Infinity])
      expect(() => clock.after(delay, () => {})).toThrow(InvariantError);
  });

  it("says which process keeps time from moving", () => {
    const run = new Kernel({ seed: "1", eventsPerInstantMax: 1000 });
    const process = run.process("spinner");
    const spin = (): void => void process.clock.after(0, spin);
    spin();
    expect(() => run.run()).toThrow(/process "spinner" threw at 0\.000000 s: InvariantError: events keep firing/);
  });
});

describe("an event that throws", () => {
  it("surfaces with its process and its moment, and the run can go on", () => {
    const run = kernel();
    const cause = new Error("boom");
    let after = false;
    run.process("hostile").clock.after(1_500_000, () => {
      throw cause;
    });
    run.process("calm").clock.after(2_000_000, () => {
      after = true;
    });
    let thrown: unknown;
    try {
      run.run();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ProcessError);
    expect(thrown).toMatchObject({ process: "hostile", atMicros: 1_500_000, cause });
    expect((thrown as Error).message).toBe('process "hostile" threw at 1.500000 s: Error: boom');
    expect(run.dispatching).toBe(false);
    run.run();
    expect(after).toBe(true);
  });

  it("is named by who was entered, not by who ran before", () => {
    const run = kernel();
    const socket = run.process("socket");
    expect(() =>
      run.enter(socket, () => {
        throw new Error("bad bytes");
      }),
    ).toThrow('process "socket" threw at 0.000000 s: Error: bad bytes');
    expect(run.dispatching).toBe(false);
  });
});

describe("processes", () => {
  it("have names that are unique among the living", () => {
    const run = kernel();
    const first = run.process("p");
    expect(() => run.process("p")).toThrow(InvariantError);
    first.crash();
    const second = run.process("p");
    expect([first.alive, second.alive]).toEqual([false, true]);
    expect(second.prng.uint32()).not.toBe(kernel().process("p").prng.uint32());
  });

  it("draw from streams that no other process shifts", () => {
    const alone = kernel().process("p");
    const run = kernel();
    run.process("a").prng.uint32();
    const among = run.process("p");
    run.process("z").prng.uint32();
    expect(among.prng.uint32()).toBe(alone.prng.uint32());
    expect(among.prng.stream("x").uint32()).toBe(alone.prng.stream("x").uint32());
  });

  it("fire nothing after a crash, whatever they had pending", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 40 }), fc.nat(20), (delays, crashAt) => {
        const run = kernel();
        const [victim, other] = [run.process("victim"), run.process("other")];
        const fired: number[] = [];
        let others = 0;
        for (const delay of delays) {
          victim.clock.after(delay, () => {
            fired.push(run.nowMicros());
            victim.clock.after(3, () => fired.push(run.nowMicros()));
          });
          other.clock.after(delay, () => others++);
        }
        other.clock.after(crashAt, () => victim.crash());
        run.run();
        expect(fired.every((at) => at <= crashAt)).toBe(true);
        expect(others).toBe(delays.length);
        expect(run.pendingCount).toBe(0);
      }),
      { seed: 15 },
    );
  });

  it("can do nothing once dead", () => {
    const run = kernel();
    const dead = run.process("dead");
    const before = run.process("other");
    dead.crash();
    const records = run.trace.count;
    const fail = (): never => expect.unreachable("a dead process acted");
    dead.clock.after(0, fail);
    dead.call(new Desk(), "x", { deadlineMicros: 5 }, fail);
    dead.onCrash(fail);
    dead.trace("ghost");
    dead.crash();
    run.run();
    expect(run.trace.count).toBe(records);
    expect(() => run.enter(dead, fail)).toThrow(InvariantError);
    expect(before.alive).toBe(true);
  });

  it("clean up in order when they crash", () => {
    const process = kernel().process("p");
    const cleaned: string[] = [];
    process.onCrash(() => cleaned.push("first"));
    const forget = process.onCrash(() => cleaned.push("forgotten"));
    process.onCrash(() => cleaned.push("second"));
    forget();
    process.crash();
    expect(cleaned).toEqual(["first", "second"]);
  });
});

describe("a call", () => {
  const setup = (): { run: Kernel; client: Process; server: Process; desk: Desk; results: CallResult<string>[] } => {
    const run = kernel();
    return { run, client: run.process("client"), server: run.process("server"), desk: new Desk(), results: [] };
  };

  it("answers once, in an event of the caller", () => {
    const { run, client, server, desk, results } = setup();
    let named: string | undefined;
    client.call(desk, "hello", { deadlineMicros: 100 }, (result) => {
      named = run.currentProcess;
      results.push(result);
    });
    server.clock.after(10, () => {
      desk.asked[0]?.done("hi");
      desk.asked[0]?.done("again");
      desk.asked[0]?.fail("refused");
      expect(results).toEqual([]);
    });
    run.run();
    expect(results).toEqual([{ ok: true, response: "hi" }]);
    expect([named, run.nowMicros(), desk.asked[0]?.cancelled]).toEqual(["client", 10, false]);
  });

  it("does not answer before it has returned", () => {
    const { run, client, results } = setup();
    const prompt: Endpoint<string, string> = {
      start(request, done) {
        done(`${request}!`);
        return () => {};
      },
    };
    let returned = false;
    client.clock.after(0, () => {
      client.call(prompt, "now", { deadlineMicros: 1 }, (result) => {
        expect(returned).toBe(true);
        results.push(result);
      });
      returned = true;
    });
    run.run();
    expect(results).toEqual([{ ok: true, response: "now!" }]);
  });

  it("ends at its deadline: the endpoint is cancelled and a late answer is dropped", () => {
    const { run, client, server, desk, results } = setup();
    client.call(desk, "slow", { deadlineMicros: 100 }, (result) => results.push(result));
    server.clock.after(101, () => desk.asked[0]?.done("too late"));
    run.run();
    expect(results).toEqual([{ ok: false, failure: "deadline" }]);
    expect(desk.asked[0]?.cancelled).toBe(true);
  });

  it("passes on why the endpoint failed", () => {
    const { run, client, server, desk, results } = setup();
    client.call(desk, "x", { deadlineMicros: 100 }, (result) => results.push(result));
    server.clock.after(5, () => desk.asked[0]?.fail("disconnected"));
    run.run();
    expect(results).toEqual([{ ok: false, failure: "disconnected" }]);
  });

  it.each(["before the answer", "between the answer and its delivery"])("never answers when cancelled %s", (when) => {
    const { run, client, server, desk } = setup();
    const cancel = client.call(desk, "x", { deadlineMicros: 100 }, () => expect.unreachable("answered after a cancel"));
    server.clock.after(5, () => {
      if (when === "before the answer") cancel();
      desk.asked[0]?.done("answer");
      cancel();
    });
    run.run();
    expect(desk.asked[0]?.cancelled).toBe(when === "before the answer");
    expect(run.nowMicros()).toBe(5); // the deadline is gone too
  });

  it("is over when its process crashes in the middle, whenever that is", () => {
    fc.assert(
      fc.property(fc.nat(30), fc.nat(30), fc.integer({ min: 1, max: 30 }), (answerAt, crashAt, deadline) => {
        const { run, client, server, desk } = setup();
        let crashed = false;
        client.call(desk, "x", { deadlineMicros: deadline }, () => expect(crashed).toBe(false));
        server.clock.after(crashAt, () => {
          crashed = true;
          client.crash();
        });
        server.clock.after(answerAt, () => desk.asked[0]?.done("answer"));
        run.run();
        const open = crashAt <= answerAt && crashAt < deadline;
        if (open) expect(desk.asked[0]?.cancelled).toBe(true);
        expect(run.pendingCount).toBe(0);
      }),
      { seed: 16, numRuns: 300 },
    );
  });

  it("is cancelled even when starting it is what crashes the caller", () => {
    const { run, client } = setup();
    let cancelled = false;
    const deadly: Endpoint<string, string> = {
      start() {
        client.crash();
        return () => {
          cancelled = true;
        };
      },
    };
    client.call(deadly, "x", { deadlineMicros: 5 }, () => expect.unreachable("answered a dead process"));
    run.run();
    expect(cancelled).toBe(true);
  });
});

describe("a run", () => {
  /** Three processes that call, time out, cancel and crash by draws of their own. */
  function history(seed: string, extra = false): Kernel {
    const run = kernel(seed);
    const server = run.process("server");
    const echo: Endpoint<number, number> = {
      start: (request, done) => server.clock.after(server.prng.intInclusive(0, 40), () => done(request)),
    };
    if (extra) run.process("bystander").prng.uint32();
    for (const name of ["a", "b", "c"]) {
      const client = run.process(name);
      const loop = (count: number): void => {
        client.trace("loop", count);
        if (count > 0 && client.prng.chance(1, 50)) client.crash();
        const cancel = client.call(echo, count, { deadlineMicros: 20 }, (result) =>
          client.trace("answer", String(result.ok)),
        );
        if (client.prng.chance(1, 5)) cancel();
        if (count < 30) client.clock.after(client.prng.intInclusive(1, 50), () => loop(count + 1));
      };
      loop(0);
    }
    run.run();
    return run;
  }

  it("has one hash for one seed, and another for another", () => {
    const hashes = Array.from({ length: 50 }, (_, seed) => history(String(seed)).trace.hash());
    expect(hashes).toEqual(Array.from({ length: 50 }, (_, seed) => history(String(seed)).trace.hash()));
    expect(new Set(hashes).size).toBe(50);
  });

  it("is not shifted by a process that only draws", () => {
    expect(history("7", true).trace.hash()).toBe(history("7").trace.hash());
  });

  it("says what is pending", () => {
    const run = kernel();
    expect(run.pendingReason()).toBe("no event is pending");
    run.process("p").call(new Desk(), "x", { deadlineMicros: 1_000_000 }, () => {});
    expect(run.pendingReason()).toBe('1 pending, next at 1.000000 s for process "p"; process "p" has 1 open calls');
  });

  it("lets the world in under a process's name, even from inside an event", () => {
    const run = kernel();
    const [outer, inner] = [run.process("outer"), run.process("inner")];
    const seen = run.enter(outer, () => [
      run.currentProcess,
      run.enter(inner, () => run.currentProcess),
      run.currentProcess,
    ]);
    expect(seen).toEqual(["outer", "inner", "outer"]);
    expect(() => run.enter(outer, () => run.run())).toThrow(/one event at a time/);
  });
});
