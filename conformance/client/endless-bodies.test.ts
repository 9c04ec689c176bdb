import { expect, it } from "vitest";
import type { StreamSink } from "../../wire/ports.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client, LostAnswer } from "./client.ts";
import { Recorder } from "./recorder.ts";

const mebibyte = new TextEncoder().encode("a".repeat(1024 * 1024));

function endless() {
  return (sink: StreamSink): void => {
    sink.head(200, { "content-type": "application/json" });
    sink.chunk(new TextEncoder().encode('{"items":["'));
    for (let count = 0; count < 100; count += 1) {
      sink.chunk(mebibyte);
    }
  };
}

function clientOf(): Client {
  const clock = jumpingClock();
  return new Client(
    scriptedTransport(() => endless()),
    clock,
    new Recorder(clock),
    "test/1",
  );
}

it("cuts off an answer without an end", async () => {
  const lost = await clientOf().attempt("GET", "/api/v1");
  expect(lost).toBeInstanceOf(LostAnswer);
  expect((lost as LostAnswer).exchange.lost).toBe("its body goes on beyond 64 MiB");
});

it("cuts off a watch that brings more than any program can have written", async () => {
  const watch = clientOf().watch("/api/v1/configmaps", {});
  await watch.untilEnded(1000);
  expect([watch.ended, watch.exchange.lost]).toEqual(["broken", "its body goes on beyond 64 MiB"]);
});
