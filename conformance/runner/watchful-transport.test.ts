import { describe, expect, it } from "vitest";
import type { Transport } from "../../wire/ports.ts";
import { Client, LostAnswer } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
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

describe("watches that never say a word", () => {
  function watching(says: () => boolean) {
    const clock = jumpingClock();
    const bytes = new TextEncoder().encode('{"type":"BOOKMARK","object":{}}\n');
    const silent: Transport = {
      close: async () => {},
      open(_request, sink) {
        queueMicrotask(() => {
          sink.head(200, { "content-type": "application/json" });
          if (says()) sink.chunk(bytes);
        });
        return () => {};
      },
    };
    const client = new Client(watchfulTransport(silent, clock), clock, new Recorder(clock), "test/1");
    const listen = async (millis = 10_000) => {
      const watch = client.watch("/a", {});
      await watch.until(() => watch.events.length > 0, millis);
      watch.close();
      return watch;
    };
    return { clock, listen };
  }

  it("are given up after a moment once some were listened to in vain", async () => {
    const { clock, listen } = watching(() => false);
    for (let count = 0; count < 24; count += 1) await listen();
    expect(clock.nowMillis()).toBeLessThan(4 * 10_000 + 20 * 1500);
    expect((await listen()).exchange.lost).toContain("watches are silent");
  });

  it("are believed again when one says a word, and may be silent for a while", async () => {
    let isSpeaking = false;
    const { clock, listen } = watching(() => isSpeaking);
    for (let count = 0; count < 6; count += 1) await listen();
    isSpeaking = true;
    expect((await listen()).events).toHaveLength(1);
    isSpeaking = false;
    const before = clock.nowMillis();
    await listen();
    expect(clock.nowMillis() - before).toBeGreaterThanOrEqual(10_000);
    const short = watching(() => false);
    for (let count = 0; count < 9; count += 1) await short.listen(5000);
    expect(short.clock.nowMillis()).toBeGreaterThanOrEqual(45_000);
  });
});
