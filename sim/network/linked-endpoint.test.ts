import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import type { CallResult, Cancel, Endpoint, Process } from "../kernel/types.ts";
import { linkedEndpoint } from "./linked-endpoint.ts";
import { Address, Network, type NetworkOptions } from "./network.ts";

type Echo = Endpoint<string, string>;

/** A server that answers after `workMicros`, and notes what reaches it. */
function echoServer(process: Process, workMicros: number, log: string[]): Echo {
  return {
    start(request, done) {
      log.push(`${request} arrives at ${process.clock.nowMicros()}`);
      const cancelWork = process.clock.after(workMicros, () => done(`${request}!`));
      return () => {
        log.push(`${request} cancelled at ${process.clock.nowMicros()}`);
        cancelWork();
      };
    },
  };
}

interface Setup {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly client: Process;
  readonly server: Process;
  readonly address: Address<Echo>;
  readonly endpoint: Echo;
  readonly log: string[];
  readonly call: (request: string, deadlineMicros: number) => Cancel;
}

function setup(options: NetworkOptions, workMicros = 0): Setup {
  const kernel = new Kernel({ seed: "1" });
  const network = new Network(kernel.process("network"), options);
  const [client, server] = [kernel.process("client"), kernel.process("server-1")];
  const address = new Address<Echo>("server");
  const log: string[] = [];
  address.listen(server, echoServer(server, workMicros, log));
  const endpoint = linkedEndpoint(network, client, address);
  const call = (request: string, deadlineMicros: number): Cancel =>
    client.call(endpoint, request, { deadlineMicros }, (result: CallResult<string>) => {
      expect(kernel.currentProcess).toBe("client");
      log.push(`${request}: ${result.ok ? result.response : result.failure} at ${client.clock.nowMicros()}`);
    });
  return { kernel, network, client, server, address, endpoint, log, call };
}

const tenEachWay: NetworkOptions = { rules: [{ from: "*", to: "*", latencyMicros: 10 }], detectMicros: 500 };

describe("a call over a link", () => {
  it("takes the latency of each direction and the work between", () => {
    const rules = [
      { from: "client", to: "server", latencyMicros: 10 },
      { from: "server", to: "cli*", latencyMicros: 25 },
      { from: "*", to: "*", latencyMicros: 999 },
    ];
    const { kernel, log, call } = setup({ rules }, 100);
    call("a", 1000);
    kernel.run();
    expect(log).toEqual(["a arrives at 10", "a: a! at 135"]);
  });

  it("draws a range from the link's own stream, within both ends", () => {
    const arrivals = (extraLink: boolean): string[] => {
      const { kernel, network, log, call } = setup({
        rules: [{ from: "*", to: "*", latencyMicros: { min: 5, max: 9 } }],
      });
      if (extraLink) network.link("elsewhere", "server").prng.uint32();
      for (let index = 0; index < 50; index++) call(String(index), 1000);
      kernel.run();
      return log;
    };
    const log = arrivals(false);
    expect(log).toEqual(arrivals(true));
    const times = new Set(log.filter((line) => line.includes("arrives")).map((line) => Number(line.split(" ").at(-1))));
    expect(times).toEqual(new Set([5, 6, 7, 8, 9]));
  });

  it("times out at its deadline when the link is cut, the outcome unknown", () => {
    const { kernel, network, log, call } = setup(tenEachWay);
    network.cut("client", "server");
    call("never arrives", 100);
    kernel.run();
    network.heal("client", "server");
    network.cut("server", "client");
    call("done unheard", 100);
    kernel.run();
    expect(log).toEqual([
      "never arrives: deadline at 100",
      "done unheard arrives at 110",
      "done unheard: deadline at 200",
    ]);
  });

  it("is lost with what was on its way when the link was cut, healed or not", () => {
    const { kernel, network, client, log, call } = setup(tenEachWay);
    call("a", 100);
    client.clock.after(5, () => network.partition("client", "server"));
    client.clock.after(6, () => network.heal("client", "server"));
    client.clock.after(7, () => call("b", 100));
    kernel.run();
    expect(log).toEqual(["b arrives at 17", "b: b! at 27", "a: deadline at 100"]);
  });

  it("is told of a dead connection when its deadline is later than that", () => {
    const { kernel, network, log, call } = setup(tenEachWay);
    network.partition("client", "server");
    call("a", 10_000);
    kernel.run();
    expect(log).toEqual(["a: disconnected at 500"]);
  });

  it("reaches the server as a disconnect when it is cancelled, times out, or its caller crashes", () => {
    const { kernel, client, log, call } = setup(tenEachWay, 1000);
    const cancel = call("cancelled", 500);
    client.clock.after(50, cancel);
    call("late", 100);
    call("orphaned", 500);
    client.clock.after(200, () => client.crash());
    kernel.run();
    expect(log).toEqual([
      "cancelled arrives at 10",
      "late arrives at 10",
      "orphaned arrives at 10",
      "cancelled cancelled at 60",
      "late: deadline at 100",
      "late cancelled at 110",
      "orphaned cancelled at 210",
    ]);
  });

  it("is disconnected when the server crashes, refused while nobody listens, and answered by the next incarnation", () => {
    const { kernel, client, server, address, log, call } = setup(tenEachWay, 30);
    call("in work", 1000);
    client.clock.after(20, () => {
      call("on its way", 1000);
      server.crash();
      call("nobody there", 1000);
    });
    client.clock.after(100, () => {
      const next = kernel.process("server-1");
      address.listen(next, echoServer(next, 0, log));
      call("again", 1000);
    });
    kernel.run();
    expect(log).toEqual([
      "in work arrives at 10",
      "in work: disconnected at 30",
      "on its way: disconnected at 30",
      "nobody there: refused at 40",
      "again arrives at 110",
      "again: again! at 120",
    ]);
  });
});

describe("the network", () => {
  it("takes the first rule that matches, and no latency where none does", () => {
    const network = new Network(new Kernel({ seed: "1" }).process("network"), {
      rules: [
        { from: "node-1", to: "apiserver", latencyMicros: 1 },
        { from: "node-2", to: "*", cut: true },
        { from: "node-*", to: "apiserver", latencyMicros: { min: 2, max: 3 } },
      ],
    });
    expect(network.link("node-1", "apiserver").latency).toBe(1);
    expect(network.link("node-2", "apiserver").cut).toBe(true);
    expect(network.link("node-33", "apiserver").latency).toEqual({ min: 2, max: 3 });
    expect(network.link("apiserver", "node-1")).toMatchObject({ cut: false, latency: 0 });
    network.cut("node-*", "apiserver");
    expect(network.link("node-1", "apiserver").cut).toBe(true);
    network.heal("node-*", "apiserver");
    expect(network.link("node-1", "apiserver")).toMatchObject({ cut: false, latency: 1 });
    network.heal("node-2", "*");
    expect(network.link("node-2", "apiserver")).toMatchObject({ cut: false, latency: { min: 2, max: 3 } });
  });

  it("refuses rules that are none", () => {
    const process = new Kernel({ seed: "1" }).process("network");
    for (const latencyMicros of [-1, 0.5, { min: 3, max: 2 }]) {
      expect(() => new Network(process, { rules: [{ from: "*", to: "*", latencyMicros }] })).toThrow(/latency/);
    }
    expect(() => new Network(process, { detectMicros: 0 })).toThrow(/broken link/);
  });

  it("ends every call exactly once under any cuts, heals and crashes, and keeps nothing of it", () => {
    const action = fc.record({
      at: fc.nat(300),
      do: fc.constantFrom(
        "call",
        "call",
        "call",
        "cancel",
        "cut up",
        "cut down",
        "partition",
        "heal",
        "crash",
        "restart",
      ),
    });
    const play = (actions: readonly { at: number; do: string }[]): string => {
      const { kernel, network, client, server, address, log, endpoint } = setup(
        { rules: [{ from: "*", to: "*", latencyMicros: { min: 0, max: 30 } }], detectMicros: 80 },
        20,
      );
      const driver = kernel.process("driver");
      let current = server;
      const calls: { cancel: Cancel; ends: number; cancelled: boolean }[] = [];
      const deeds: Record<string, () => void> = {
        call() {
          const call = { cancel: (): void => {}, ends: 0, cancelled: false };
          calls.push(call);
          const options = { deadlineMicros: 60 + calls.length };
          call.cancel = client.call(endpoint, `call ${calls.length}`, options, (result) => {
            expect(call.cancelled).toBe(false);
            call.ends++;
            client.trace("end", result.ok ? result.response : result.failure);
          });
        },
        cancel() {
          const call = calls.at(-1);
          if (call === undefined || call.ends > 0) return;
          call.cancelled = true;
          call.cancel();
        },
        "cut up": () => network.cut("client", "server"),
        "cut down": () => network.cut("server", "client"),
        partition: () => network.partition("client", "server"),
        heal: () => network.heal("client", "server"),
        crash: () => current.crash(),
        restart() {
          if (current.alive) return;
          current = kernel.process("server-1");
          address.listen(current, echoServer(current, 20, log));
        },
      };
      for (const { at, do: name } of actions) driver.clock.after(at, () => deeds[name]?.());
      kernel.run();
      for (const call of calls) expect(call.ends).toBe(call.cancelled ? 0 : 1);
      expect(network.link("client", "server").users.size).toBe(0);
      expect(network.link("server", "client").users.size).toBe(0);
      return kernel.trace.hash();
    };
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        expect(play(actions)).toBe(play(actions));
      }),
      { seed: 17, numRuns: 300 },
    );
  });
});
