import { expect, it, vi } from "vitest";
import { Gathered } from "../../wire/gathered.ts";
import type { StreamSink } from "../../wire/ports.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client, LostAnswer } from "./client.ts";
import type { Answer } from "./exchange.ts";
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

function clientOf(script = endless()): Client {
  const clock = jumpingClock();
  return new Client(
    scriptedTransport(() => script),
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

it("cuts off an answer to a write sooner: it is one object", async () => {
  for (const method of ["POST", "PUT", "PATCH"]) {
    const lost = await clientOf().attempt(method, "/api/v1/configmaps");
    expect((lost as LostAnswer).exchange.lost).toBe("its body goes on beyond 16 MiB");
  }
});

it("cuts off a watch that brings more than any program can have written", async () => {
  const watch = clientOf().watch("/api/v1/configmaps", {});
  await watch.untilEnded(1000);
  expect([watch.ended, watch.exchange.lost]).toEqual(["broken", "its body goes on beyond 64 MiB"]);
});

/** Sends a text in pieces of this size, and ends. */
function whole(text: string, pieceBytes = text.length) {
  const bytes = new TextEncoder().encode(text);
  return (sink: StreamSink): void => {
    sink.head(200, { "content-type": "application/json" });
    for (let at = 0; at < bytes.length; at += pieceBytes) sink.chunk(bytes.subarray(at, at + pieceBytes));
    sink.end();
  };
}

const unread: readonly (readonly [text: string, why: string])[] = [
  [`{"items":[${"{},".repeat(3_000_000)}{}]}`, "its body has more than 3,000,000 values"],
  [`{"items":${"[".repeat(1000)}${"]".repeat(1000)}}`, "its body is nested more than 1,000 deep"],
];

it.each(unread)("does not read %#: what would take far more memory than its bytes", async (text, why) => {
  const parsed = vi.spyOn(JSON, "parse");
  try {
    const lost = await clientOf(whole(text)).attempt("GET", "/api/v1/configmaps");
    expect(parsed).not.toHaveBeenCalled();
    expect((lost as LostAnswer).exchange.lost).toBe(why);
    expect((lost as LostAnswer).message).toBe(`no answer to GET /api/v1/configmaps: ${why}`);
  } finally {
    parsed.mockRestore();
  }
});

it("cuts off what comes in single bytes, a watch as well", async () => {
  const why = "its body comes in more than 200,000 pieces";
  const script = whole(`{"a":"${"a".repeat(200_000)}"}`, 1);
  const lost = await clientOf(script).attempt("GET", "/api/v1");
  expect((lost as LostAnswer).exchange.lost).toBe(why);
  const watch = clientOf(script).watch("/api/v1/configmaps", {});
  await watch.untilEnded(1000);
  expect([watch.ended, watch.exchange.lost]).toEqual(["broken", why]);
});

it("reads what is at the limits", async () => {
  const text = `[${"{},".repeat(2_999_999)}{}]`;
  expect(((await clientOf(whole(text)).attempt("GET", "/")) as Answer).json).toHaveLength(3_000_000);
  const deep = `${"[".repeat(1000)}${"]".repeat(1000)}`;
  expect(((await clientOf(whole(deep)).attempt("GET", "/")) as Answer).text).toBe(deep);
});

it("cuts off a watch whose events have too many values in all, or one of them too deep ones", async () => {
  const event = (object: string): string => `{"type":"ADDED","object":${object}}\n`;
  const many = event(`{"a":[${"0,".repeat(700_000)}0]}`);
  for (const [script, why, told] of [
    [whole(many.repeat(5)), "its body has more than 3,000,000 values", 4],
    [whole(event(`{"a":${"[".repeat(1000)}${"]".repeat(1000)}}`)), "its body is nested more than 1,000 deep", 0],
  ] as const) {
    const watch = clientOf(script).watch("/api/v1/configmaps", {});
    await watch.untilEnded(1000);
    expect([watch.ended, watch.exchange.lost, watch.events.length]).toEqual(["broken", why, told]);
  }
});

it("cuts off a watch that tells more events than anybody makes", async () => {
  const event = '{"type":"ADDED","object":{}}\n';
  const watch = clientOf(whole(event.repeat(50_001))).watch("/api/v1/configmaps", {});
  await watch.untilEnded(1000);
  expect([watch.ended, watch.exchange.lost]).toEqual(["broken", "it tells more than 50,000 events"]);
  expect(watch.events).toHaveLength(50_000);
});

it("sends nothing that a server's own words have made very long", async () => {
  const clock = jumpingClock();
  const transport = scriptedTransport(() => ({ status: 200, json: {} }));
  const client = new Client(transport, clock, new Recorder(clock), "test/1");
  const long = "n".repeat(128 * 1024);
  const lost = [
    await client.attempt("GET", `/api/v1/namespaces/${long}`),
    await client.attempt("PUT", "/a", { body: { a: "a".repeat(8 * 1024 * 1024) } }),
  ] as LostAnswer[];
  const watch = client.watch("/api/v1/pods", { resourceVersion: long });
  await watch.untilEnded(1000);
  expect([...lost.map(({ exchange }) => exchange.lost), watch.exchange.lost]).toEqual([
    "not sent, for its path would be longer than 128 KiB",
    "not sent, for its body would be longer than 8 MiB",
    "not sent, for its path would be longer than 128 KiB",
  ]);
  expect(watch.ended).toBe("broken");
  expect(transport.requests).toEqual([]);
  for (const { request } of client.recorder.all()) expect(JSON.stringify(request).length).toBeLessThan(300);
});

it("reads nothing of a watch behind what is no event", async () => {
  for (const text of ["{}\n".repeat(100_000), "1\n".repeat(100_000), '{"type":}\n'.repeat(1000)]) {
    const watch = clientOf(whole(text, 7)).watch("/api/v1/configmaps", {});
    await watch.untilEnded(1000);
    expect([watch.ended, watch.events.map(({ type }) => type)]).toEqual(["closed by the server", ["malformed"]]);
  }
});

it("holds an answer that comes in pieces of one byte in few buffers, and so its evidence", async () => {
  const added = vi.spyOn(Gathered.prototype, "add");
  const text = `"${"a".repeat(150_000)}"`;
  const answer = (await clientOf(whole(text, 1)).attempt("GET", "/")) as Answer;
  const gathered = [...new Set(added.mock.contexts as Gathered[])];
  added.mockRestore();
  expect(answer.json).toHaveLength(150_000);
  expect(answer.exchange.text()).toMatch(/^"a+…\(84466 more bytes\)$/);
  expect(gathered).toHaveLength(2);
  for (const each of gathered) expect(each.pieces().length).toBeLessThan(20);
});
