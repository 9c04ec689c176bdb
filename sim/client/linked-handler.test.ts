import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiHandler, ApiRequest, Payload, Responder } from "../contract/http-message.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import { linkedHandler } from "./linked-handler.ts";
import { Address, Network, type NetworkOptions } from "../network/network.ts";

const payload = (text: string): Payload => ({
  object: { text },
  contentType: "application/json",
  bytes: () => new TextEncoder().encode(text),
});
const textOf = (body: Payload): string => String(body.object?.["text"]);
const request = (path: string): ApiRequest => ({ method: "GET", path, query: "", headers: {} });

/** Serves `/stream` as a frame every 10 µs, `/five` as five frames at once and an end, the rest at once. */
function streamingServer(process: Process, log: string[], backlogs: number[] = []): ApiHandler {
  return {
    start({ path }, responder) {
      log.push(`server: ${path} at ${process.clock.nowMicros()}`);
      let cancelNext: Cancel = () => {};
      let sent = 0;
      const frame = (): void => {
        backlogs.push(responder.frame(payload(`frame ${sent++}`)));
        cancelNext = process.clock.after(10, frame);
      };
      if (path === "/stream") {
        responder.open(200, {});
        frame();
      } else if (path === "/five") {
        responder.open(200, {});
        for (let index = 0; index < 5; index++) responder.frame(payload(`frame ${index}`));
        responder.close();
      } else {
        responder.respond(200, {}, payload("whole"));
      }
      return () => {
        log.push(`server: client gone at ${process.clock.nowMicros()}`);
        cancelNext();
      };
    },
  };
}

function setup(options: NetworkOptions) {
  const kernel = new Kernel({ seed: "1" });
  const network = new Network(kernel.process("network"), options);
  const [client, server] = [kernel.process("client"), kernel.process("apiserver")];
  const address = new Address<ApiHandler>("apiserver");
  const log: string[] = [];
  const backlogs: number[] = [];
  address.listen(server, streamingServer(server, log, backlogs));
  const at = (): number => client.clock.nowMicros();
  const responder: Responder = {
    respond: (status, _, body) => void log.push(`client: ${status} ${textOf(body)} at ${at()}`),
    open: (status) => void log.push(`client: open ${status} at ${at()}`),
    frame(body) {
      log.push(`client: ${textOf(body)} at ${at()}`);
      return 1000 + at();
    },
    close: () => void log.push(`client: close at ${at()}`),
    failed: (failure) => void log.push(`client: ${failure} at ${at()}`),
  };
  const handler = linkedHandler(network, client, address);
  const start = (path: string): Cancel => handler.start(request(path), responder);
  return { kernel, network, client, server, log, backlogs, start };
}

const sevenEachWay: NetworkOptions = { rules: [{ from: "*", to: "*", latencyMicros: 7 }], detectMicros: 100 };

describe("an API server behind a link", () => {
  it("answers after a round trip", () => {
    const { kernel, log, start } = setup(sevenEachWay);
    start("/whole");
    kernel.run();
    expect(log).toEqual(["server: /whole at 7", "client: 200 whole at 14"]);
  });

  it("streams in order to the end, even when latencies are drawn", () => {
    const { kernel, log, start } = setup({ rules: [{ from: "*", to: "*", latencyMicros: { min: 0, max: 50 } }] });
    for (let index = 0; index < 20; index++) {
      log.length = 0;
      start("/five");
      kernel.run();
      const seen = log.filter((line) => line.startsWith("client")).map((line) => line.replace(/ at \d+$/, ""));
      expect(seen).toEqual([
        "client: open 200",
        ...[0, 1, 2, 3, 4].map((frame) => `client: frame ${frame}`),
        "client: close",
      ]);
    }
  });

  it("stops sending when the client goes away, one latency later", () => {
    const { kernel, client, log, start } = setup(sevenEachWay);
    const cancel = start("/stream");
    client.clock.after(20, cancel);
    kernel.run();
    expect(log).toEqual([
      "server: /stream at 7",
      "client: open 200 at 14",
      "client: frame 0 at 14",
      "server: client gone at 27",
    ]);
  });

  it("sees a client that crashes as one that goes away", () => {
    const { kernel, client, log, start } = setup(sevenEachWay);
    start("/stream");
    client.clock.after(15, () => client.crash());
    kernel.run();
    expect(log.at(-1)).toBe("server: client gone at 22");
  });

  it("tells the client when the server crashes in the middle of a stream", () => {
    const { kernel, server, log, start } = setup(sevenEachWay);
    start("/stream");
    server.clock.after(20, () => server.crash());
    kernel.run();
    expect(log.slice(-2)).toEqual(["client: frame 1 at 24", "client: disconnected at 27"]);
  });

  it("delivers nothing after a cut, and later tells both ends", () => {
    const { kernel, network, client, log, start } = setup(sevenEachWay);
    start("/stream");
    client.clock.after(20, () => network.partition("client", "apiserver"));
    client.clock.after(21, () => network.heal("client", "apiserver"));
    kernel.run();
    expect(log).toEqual([
      "server: /stream at 7",
      "client: open 200 at 14",
      "client: frame 0 at 14",
      "client: disconnected at 120",
      "server: client gone at 120",
    ]);
  });

  it("goes on in the direction that still works until the break is noticed", () => {
    const { kernel, network, client, log, start } = setup(sevenEachWay);
    start("/stream");
    client.clock.after(20, () => network.cut("client", "apiserver"));
    kernel.run();
    expect(log.filter((line) => line.startsWith("client: frame")).length).toBe(11); // up to 114
    expect(log.slice(-2)).toEqual(["client: disconnected at 120", "server: client gone at 120"]);
  });

  it("reports what the client had left to read when it last took a frame", () => {
    const { kernel, client, backlogs, start } = setup(sevenEachWay);
    const cancel = start("/stream");
    client.clock.after(30, cancel);
    kernel.run();
    // Sent at 7, 17, 27 and 37; the client took the first two at 14 and 24, and left at 30.
    expect(backlogs).toEqual([0, 1014, 1024, 1024]);
  });

  it("gives each stream a gapless beginning of what was sent, and one end, whatever is cut and whenever", () => {
    const cuts = fc.array(fc.tuple(fc.nat(400), fc.constantFrom("partition", "up", "down", "heal", "crash")), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(cuts, fc.nat(300), (plan, cancelAt) => {
        const { kernel, network, client, server, log, start } = setup({
          rules: [{ from: "*", to: "*", latencyMicros: { min: 0, max: 25 } }],
          detectMicros: 60,
        });
        const cancel = start("/stream");
        client.clock.after(cancelAt, cancel);
        const driver = kernel.process("driver");
        for (const [at, what] of plan) {
          driver.clock.after(at, () => {
            if (what === "partition") network.partition("client", "apiserver");
            else if (what === "up") network.cut("client", "apiserver");
            else if (what === "down") network.cut("apiserver", "client");
            else if (what === "heal") network.heal("client", "apiserver");
            else server.crash();
          });
        }
        kernel.run();
        const frames = log.filter((line) => line.startsWith("client: frame")).map((line) => Number(line.split(" ")[2]));
        expect(frames).toEqual(frames.map((_, index) => index));
        expect(log.filter((line) => /client: (disconnected|refused)/.test(line)).length).toBeLessThanOrEqual(1);
        expect(log.filter((line) => line.startsWith("server: client gone")).length).toBeLessThanOrEqual(1);
        expect(network.link("client", "apiserver").users.size).toBe(0);
        expect(network.link("apiserver", "client").users.size).toBe(0);
      }),
      { seed: 18, numRuns: 300 },
    );
  });
});
