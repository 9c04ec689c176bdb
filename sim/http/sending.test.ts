import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AnswerFlush } from "./answer-flush.ts";
import { Sending } from "./sending.ts";

/** A connection with nobody reading in between: what has arrived once it has ended. */
let near: Socket;
let far: Socket;
const server = createServer();

beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  near = connect((server.address() as { port: number }).port, "127.0.0.1");
  [far] = (await once(server, "connection")) as [Socket];
});

afterEach(async () => {
  near.destroy();
  far.destroy();
  server.close();
  await once(server, "close");
});

async function received(): Promise<string> {
  let text = "";
  for await (const chunk of far) text += (chunk as Buffer).toString("latin1");
  return text;
}

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

it("keeps everything in order, whatever is held", async () => {
  const sending = new Sending(near, new AnswerFlush());
  sending.hold("a\xe9");
  sending.hold("b");
  expect([sending.length, near.bytesWritten]).toEqual([3, 0]);
  sending.write("c");
  expect(near.bytesWritten).toBe(4);
  sending.hold("d");
  sending.writeBytes(bytes("e"));
  sending.hold("f");
  sending.writeGathered("g", [bytes("h"), bytes(""), bytes("i")]);
  sending.hold("j");
  sending.end();
  expect(await received()).toBe("a\xe9bcdefghij");
});

it("sends by itself what it was given last", async () => {
  const sending = new Sending(near, new AnswerFlush());
  sending.hold("a");
  const [chunk] = (await once(far, "data")) as [Buffer];
  expect(chunk.toString()).toBe("a");
  expect(sending.length).toBe(0);
});

it("holds no more of one connection than 64 KiB before it looks whether anybody reads", () => {
  const sending = new Sending(near, new AnswerFlush());
  sending.hold("x".repeat(60_000));
  expect([sending.needsDrain(), near.bytesWritten]).toEqual([false, 0]);
  sending.hold("x".repeat(60_000));
  expect([sending.needsDrain(), near.bytesWritten]).toEqual([near.writableNeedDrain, 120_000]);
});
