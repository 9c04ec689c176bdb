import { describe, expect, it } from "vitest";
import { Client, LostAnswer } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.ts";
import { watchfulTransport } from "./watchful-transport.ts";

function clientOf(hangs: (method: string) => boolean) {
  const clock = jumpingClock();
  const transport = scriptedTransport(({ method }) => (hangs(method) ? () => {} : { status: 200, json: {} }));
  const client = new Client(watchfulTransport(transport, clock), clock, new Recorder(clock), "test/1");
  return { clock, transport, client };
}

describe("a target that hangs", () => {
  it("is waited for a few times and then no longer", async () => {
    const { clock, transport, client } = clientOf(() => true);
    for (let count = 0; count < 40; count += 1) expect(await client.attempt("POST", "/a")).toBeInstanceOf(LostAnswer);
    expect(clock.nowMillis()).toBeLessThan(4 * 6000 + 5 * 2000 + 1000);
    expect(transport.requests.length).toBeLessThan(15);
  });

  it("may hang for writes alone", async () => {
    const { client } = clientOf((method) => method === "POST");
    for (let count = 0; count < 15; count += 1) await client.attempt("POST", "/a");
    expect(await client.attempt("GET", "/a")).not.toBeInstanceOf(LostAnswer);
  });

  it("is believed again once it answers", async () => {
    let isHanging = true;
    const { clock, client } = clientOf(() => isHanging);
    for (let count = 0; count < 15; count += 1) await client.attempt("POST", "/a");
    isHanging = false;
    await clock.sleep(11_000);
    expect(await client.attempt("POST", "/a")).not.toBeInstanceOf(LostAnswer);
    expect(await client.attempt("POST", "/a")).not.toBeInstanceOf(LostAnswer);
  });
});
