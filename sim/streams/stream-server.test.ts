import { connect, type Socket } from "node:net";
import { constants, createDeflate } from "node:zlib";
import { afterAll, describe, expect, it, vi } from "vitest";
import { RuntimeBench } from "../runtime/runtime.fixture.ts";
import { spdyDictionary } from "./spdy-dictionary.ts";
import { StreamServer } from "./stream-server.ts";

const paced: Socket[] = [];
const streams = await StreamServer.listen((socket) => paced.push(socket));
const web = { name: "web", present: true, sizeBytes: 1, runs: { ports: [{ port: 80, body: "hi" }] } };
const box = { name: "local/box:1", present: true, sizeBytes: 1 };
const bench = new RuntimeBench({ streams, images: [box, web] });
const { state } = bench.runtime;
streams.serve({
  state,
  turn: (work) => {
    bench.kernel.enter(state.process, work);
    bench.pass(1);
  },
});
const sandbox = bench.sandbox("a");
const container = bench.run(sandbox, ["sh", "-c", "while true; do sleep 1; done"]);
bench.run(sandbox, [], { metadata: { name: "w" }, image: { image: "web" } });

afterAll(() => streams.close());

const exec = (cmd: readonly string[], more: object = {}): string =>
  bench.ask("Exec", { containerId: container, cmd, stdin: true, stdout: true, stderr: true, ...more }).url;

it("shows each socket of a stream, which may be read a little at a time", async () => {
  const before = paced.length;
  await webSocket(exec(["echo", "a"]), "v4.channel.k8s.io", () => {});
  expect(paced.length).toBe(before + 1);
});

/** Node's own WebSocket, until the other end closes. */
function webSocket(url: string, protocol: string, say: (socket: WebSocket) => void): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws"), protocol);
    socket.binaryType = "arraybuffer";
    const messages: Buffer[] = [];
    socket.onopen = () => say(socket);
    socket.onmessage = ({ data }) => void messages.push(Buffer.from(data as ArrayBuffer));
    socket.onerror = () => reject(new Error("no WebSocket"));
    socket.onclose = () => resolve(messages);
  });
}

const texts = (messages: readonly Buffer[], channel: number): string =>
  messages
    .filter(([first]) => first === channel)
    .map((message) => message.toString("utf8", 1))
    .join("");

describe("commands over WebSocket", () => {
  it.each(["v4.channel.k8s.io", "v5.channel.k8s.io", "v5.channel.svc.io"])("%s", async (protocol) => {
    const messages = await webSocket(
      exec(["sh", "-c", "read a; echo got $a; echo oh >&2; exit 5"]),
      protocol,
      (socket) => socket.send(Buffer.from("\0word\n")),
    );
    expect([texts(messages, 1), texts(messages, 2)]).toEqual(["got word\n", "oh\n"]);
    expect(JSON.parse(texts(messages, 3))).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "5" }] },
    });
  });

  it("ends its input by the signal of version 5", async () => {
    const messages = await webSocket(exec(["cat"]), "v5.channel.k8s.io", (socket) => {
      socket.send(Buffer.from("\0abc"));
      socket.send(Buffer.from([255, 0]));
    });
    expect(texts(messages, 1)).toBe("abc");
    expect(JSON.parse(texts(messages, 3))).toMatchObject({ status: "Success" });
  });

  it("is good once", async () => {
    const url = exec(["true"]);
    await webSocket(url, "v4.channel.k8s.io", () => {});
    await expect(webSocket(url, "v4.channel.k8s.io", () => {})).rejects.toThrow();
    await expect(webSocket(exec(["true"]), "v9.channel.k8s.io", () => {})).rejects.toThrow();
    expect((await fetch(exec(["true"]))).status).toBe(400);
  });
});

describe("a port over WebSocket", () => {
  it("begins with its number, and carries bytes", async () => {
    const { url } = bench.ask("PortForward", { podSandboxId: sandbox, port: [80] });
    const messages = await new Promise<readonly Buffer[]>((resolve) => {
      const got: Buffer[] = [];
      const socket = new WebSocket(url.replace("http", "ws"), "v4.channel.k8s.io");
      socket.binaryType = "arraybuffer";
      socket.onopen = () => socket.send(Buffer.from("\0GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
      socket.onmessage = ({ data }) => {
        got.push(Buffer.from(data as ArrayBuffer));
        if (got.length === 3) {
          socket.close();
          resolve(got);
        }
      };
    });
    expect(messages.slice(0, 2)).toEqual([Buffer.from([0, 80, 0]), Buffer.from([1, 80, 0])]);
    expect(texts(messages, 0)).toContain("HTTP/1.1 200 OK");
  });
});

/** The client's side of SPDY, with its headers compressed as the published clients do. */
class SpdyClient {
  readonly data = new Map<number, string>();
  private readonly deflate = createDeflate({ dictionary: spdyDictionary });
  private readonly socket: Socket;
  private unread = Buffer.alloc(0);
  private next = 1;
  readonly closed: Promise<void>;

  constructor(url: string, protocol: string) {
    const { port, pathname } = new URL(url);
    this.socket = connect(Number(port), "127.0.0.1");
    this.socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    let isHead = true;
    this.socket.on("data", (bytes: Buffer) => {
      this.unread = Buffer.concat([this.unread, bytes]);
      const end = this.unread.indexOf("\r\n\r\n");
      if (isHead && end >= 0) {
        if (!this.unread.toString("latin1", 0, end).includes("101 Switching Protocols")) throw new Error("no SPDY");
        this.unread = this.unread.subarray(end + 4);
        isHead = false;
      }
      if (!isHead) this.read();
    });
    this.closed = new Promise((resolve) => void this.socket.on("close", () => resolve()));
  }

  async open(headers: Record<string, string>): Promise<number> {
    const id = this.next;
    this.next += 2;
    const parts = [Buffer.alloc(4)];
    (parts[0] as Buffer).writeUInt32BE(Object.keys(headers).length);
    for (const text of Object.entries(headers).flat()) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      parts.push(length, Buffer.from(text));
    }
    const packed: Buffer[] = [];
    const take = (chunk: Buffer): void => void packed.push(chunk);
    this.deflate.on("data", take);
    this.deflate.write(Buffer.concat(parts));
    await new Promise<void>((resolve) => this.deflate.flush(constants.Z_SYNC_FLUSH, () => setImmediate(resolve)));
    this.deflate.off("data", take);
    const head = Buffer.alloc(10);
    head.writeUInt32BE(id);
    this.frame(Buffer.from([0x80, 3, 0, 1, 0]), Buffer.concat([head, ...packed]));
    return id;
  }

  send(id: number, text: string, isLast = false): void {
    this.frame(Buffer.from([0, 0, 0, id, isLast ? 1 : 0]), Buffer.from(text));
  }

  end = (): void => void this.socket.end();

  private frame(head: Buffer, body: Buffer): void {
    const length = Buffer.alloc(3);
    length.writeUIntBE(body.length, 0, 3);
    this.socket.write(Buffer.concat([head, length, body]));
  }

  private read(): void {
    while (this.unread.length >= 8) {
      const length = this.unread.readUIntBE(5, 3);
      if (this.unread.length < 8 + length) return;
      const id = this.unread.readUInt32BE(0);
      if (id < 0x80000000) this.data.set(id, (this.data.get(id) ?? "") + this.unread.toString("utf8", 8, 8 + length));
      this.unread = this.unread.subarray(8 + length);
    }
  }

  async until(id: number, isThere: (text: string) => boolean): Promise<string> {
    await vi.waitUntil(() => isThere(this.data.get(id) ?? ""), { timeout: 30_000, interval: 5 });
    return this.data.get(id) ?? "";
  }
}

describe("SPDY", () => {
  it("carries a command: a stream for each of its channels", async () => {
    const client = new SpdyClient(exec(["sh", "-c", "cat; exit 6"]), "v4.channel.k8s.io");
    const error = await client.open({ streamtype: "error" });
    const stdin = await client.open({ streamtype: "stdin" });
    const stdout = await client.open({ streamtype: "stdout" });
    await client.open({ streamtype: "stderr" });
    client.send(stdin, "some words");
    client.send(stdin, "", true);
    expect(await client.until(error, (text) => text !== "")).toContain('"message":"6"');
    expect(client.data.get(stdout)).toBe("some words");
    client.end();
    await client.closed;
  });

  it("carries connections to ports, and says which nobody listens at", async () => {
    const { url } = bench.ask("PortForward", { podSandboxId: sandbox, port: [80] });
    const client = new SpdyClient(url, "portforward.k8s.io");
    const pair = async (port: string, requestID: string) => {
      const error = await client.open({ streamtype: "error", port, requestID });
      return [error, await client.open({ streamtype: "data", port, requestID })] as const;
    };
    const [, data] = await pair("80", "0");
    client.send(data, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.until(data, (text) => text.includes("hi"))).toContain("200 OK");
    const [refused] = await pair("81", "1");
    expect(await client.until(refused, (text) => text !== "")).toContain("connection refused");
    client.end();
    await client.closed;
  });

  it("ends at what is no SPDY", async () => {
    const client = new SpdyClient(exec(["cat"]), "v4.channel.k8s.io");
    client.send(1, "x".repeat(10));
    (client as unknown as { socket: Socket }).socket.write(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]));
    await client.closed;
  });
});

it("the dictionary is the protocol's: its checksum is known", () => {
  let [low, high] = [1, 0];
  for (const byte of spdyDictionary) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  expect((high * 65_536 + low).toString(16)).toBe("e3c6a7c2");
});
