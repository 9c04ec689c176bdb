import { describe, expect, it } from "vitest";
import type { Endpoint, Process } from "../kernel/types.ts";
import { Kernel } from "../kernel/kernel.ts";
import { linkedEndpoint } from "./linked-endpoint.ts";
import type { Disturbance } from "./link.ts";
import { Address, Network } from "./network.ts";

type Echo = Endpoint<string, string>;

/** Asks `count` times, one request every 10 ms over a link of 1 ms, and tells when each answer came. */
function asked(
  what: Disturbance | undefined,
  count = 200,
  seed = "1",
): { at: number[]; failures: string[]; lost: number } {
  const kernel = new Kernel({ seed });
  const network = new Network(kernel.process("network"), {
    rules: [{ from: "*", to: "*", latencyMicros: 1000 }],
    detectMicros: 500_000,
  });
  const [client, server]: Process[] = [kernel.process("client"), kernel.process("server")];
  const address = new Address<Echo>("server");
  address.listen(server as Process, { start: (request, done) => (done(request), () => {}) });
  const endpoint = linkedEndpoint(network, client as Process, address);
  const found = { at: [] as number[], failures: [] as string[], lost: 0 };
  network.witness = { message: () => {}, mark: (name) => void (name === "message.lost" && found.lost++) };
  if (what !== undefined) network.disturb("client", "*", what);
  for (let index = 0; index < count; index++) {
    client?.clock.after(index * 10_000, () => {
      const began = kernel.nowMicros();
      client.call(endpoint, String(index), { deadlineMicros: 60_000_000 }, (result) => {
        if (result.ok) found.at.push(kernel.nowMicros() - began);
        else found.failures.push(result.failure);
      });
    });
  }
  kernel.run();
  return found;
}

const tenth = { numerator: 1, denominator: 10 };

describe("a link that is made worse", () => {
  it("is as it was without", () => expect(new Set(asked(undefined).at)).toEqual(new Set([2000])));

  it("loses a share of messages, and sends them again 200 ms later, 400 ms after that", () => {
    const { at, lost, failures } = asked({ kind: "lose", rate: tenth });
    expect(failures).toEqual([]);
    expect(lost).toBeGreaterThan(8);
    expect(lost).toBeLessThan(40);
    expect(at.filter((micros) => micros === 202_000).length).toBeGreaterThan(5);
    expect(at.every((micros) => [2000, 202_000, 602_000, 1_402_000].includes(micros))).toBe(true);
  });

  it("breaks a connection whose message is lost for ever, and both ends notice", () => {
    const { at, failures } = asked({ kind: "lose", rate: { numerator: 1, denominator: 1 } }, 5);
    expect(at).toEqual([]);
    expect(failures).toEqual(Array(5).fill("disconnected"));
  });

  it("is slower by what is said, and holds back only a share when it reorders", () => {
    expect(new Set(asked({ kind: "slow", by: 7000 }).at)).toEqual(new Set([9000]));
    const { at } = asked({ kind: "reorder", rate: tenth, by: 50_000 });
    expect(at.filter((micros) => micros === 52_000).length).toBeGreaterThan(5);
    expect(at.filter((micros) => micros === 2000).length).toBeGreaterThan(150);
  });

  it("passes so many bytes a second: what comes faster waits its turn", () => {
    // A plain message weighs 200 bytes: at 10,000 bytes a second each takes 20 ms, and one comes every 10 ms.
    const { at } = asked({ kind: "narrow", bytesPerSecond: 10_000 }, 10);
    expect(at).toEqual(Array.from({ length: 10 }, (_, index) => 22_000 + index * 10_000));
  });

  it("is silent without anybody noticing, until the deadline", () => {
    expect(asked({ kind: "silence" }, 3).failures).toEqual(["deadline", "deadline", "deadline"]);
    expect(asked({ kind: "cut" }, 3).failures).toEqual(["disconnected", "disconnected", "disconnected"]);
  });

  it("draws a table of percentiles as it says", () => {
    const { at } = asked(
      {
        kind: "slow",
        by: [
          { percent: 90, span: { min: 0, max: 0 } },
          { percent: 100, span: { min: 5000, max: 6000 } },
        ],
      },
      1000,
    );
    const late = at.filter((micros) => micros > 2000);
    expect(late.length).toBeGreaterThan(60);
    expect(late.length).toBeLessThan(140);
    expect(late.every((micros) => micros >= 7000 && micros <= 8000)).toBe(true);
  });
});
