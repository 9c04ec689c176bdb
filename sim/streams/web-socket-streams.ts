/** Commands and ports over a WebSocket: a channel's number before each message, or SPDY inside of messages. */
import { clearTimeout, setTimeout } from "node:timers";
import type { RawData, WebSocket } from "ws";
import type { LiveSink, Opened } from "../runtime/live-sessions.ts";
import { type ChannelName, runCommand } from "./channels.ts";
import { type Carrier, SpdyConnection, type SpdyStream } from "./spdy-connection.ts";

type Turn = (work: () => void) => void;

/** Protocols by their names without the last part, best first. */
const commandNames = ["v5.channel", "v4.channel", "v4.base64.channel", "channel", "base64.channel"];
const portNames = ["SPDY/3.1+portforward", "v4.channel", "v4.base64.channel"];
const suffixes = ["k8s.io", "svc.io"];

/** What is spoken with a client that offers these; undefined: nothing in common. An empty name is the oldest protocol. */
export function chosenProtocol(offered: Iterable<string>, kind: "command" | "ports"): string | undefined {
  const theirs = new Set(offered);
  const names = kind === "command" ? commandNames : portNames;
  return names.flatMap((name) => suffixes.map((suffix) => `${name}.${suffix}`)).find((name) => theirs.has(name));
}

/** So much may wait for the client before programs have to. */
const waitingBytesMax = 1 << 20;

const channelNumbers: Readonly<Record<ChannelName, number>> = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 };
const channelNames = Object.keys(channelNumbers) as ChannelName[];
const closeSignal = 255;
/** What a runtime takes to start a process. */
const startMillis = 50;

interface Messages {
  send(channel: number, bytes: Uint8Array): void;
  /** Undefined: no message of this protocol. */
  read(data: RawData, isBinary: boolean): { readonly channel: number; readonly bytes: Buffer } | undefined;
}

/** In base64 the channel is a digit. */
function messagesOf(socket: WebSocket, isBase64: boolean, sent: () => void): Messages {
  const whenSent = (): void => sent();
  return {
    send(channel, bytes) {
      if (isBase64) socket.send(`${channel}${Buffer.from(bytes).toString("base64")}`, whenSent);
      else socket.send(Buffer.concat([Buffer.from([channel]), bytes]), { binary: true }, whenSent);
    },
    read(data) {
      const whole = bytesOf(data);
      const first = whole[0];
      if (first === undefined) return undefined;
      if (!isBase64) return { channel: first, bytes: whole.subarray(1) };
      return { channel: first - 48, bytes: Buffer.from(whole.toString("latin1", 1), "base64") };
    },
  };
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data;

export function commandOverWebSocket(socket: WebSocket, open: (sink: LiveSink) => Opened, turn: Turn): void {
  const { protocol } = socket;
  const messages = messagesOf(socket, protocol.includes("base64"), () => {
    if (socket.bufferedAmount < waitingBytesMax) command?.drained();
  });
  const peer = {
    send: (channel: ChannelName, bytes: Uint8Array) => messages.send(channelNumbers[channel], bytes),
    isFull: () => socket.bufferedAmount >= waitingBytesMax,
    pause: (isPaused: boolean) => (isPaused ? socket.pause() : socket.resume()),
    finish: () => socket.close(1000),
  };
  // The client learns by an empty message that there is somebody.
  messages.send(channelNumbers.stdout, new Uint8Array(0));
  let command: ReturnType<typeof runCommand> | undefined;
  // kubectl drops what arrives before it has made its streams, which it does once the connection is there.
  socket.pause();
  const starting = setTimeout(() => {
    command = runCommand(open, peer, /^v[45]\./.test(protocol), turn);
    socket.resume();
  }, startMillis);
  socket.on("message", (data, isBinary) => {
    const message = messages.read(data, isBinary);
    if (message === undefined) return;
    if (message.channel === closeSignal && message.bytes[0] === channelNumbers.stdin) command?.endInput();
    const name = channelNames[message.channel];
    if (name !== undefined) command?.receive(name, message.bytes);
  });
  socket.on("close", () => {
    clearTimeout(starting);
    command?.gone();
  });
  socket.on("error", () => socket.terminate());
}

/** Version 4: of each port a channel for its bytes and one for what went wrong, and first the port's number on both. */
export function portsOverWebSocket(
  socket: WebSocket,
  ports: readonly number[],
  open: (port: number, sink: LiveSink) => Opened,
  turn: Turn,
): void {
  socket.on("error", () => socket.terminate());
  if (socket.protocol.startsWith("SPDY/")) {
    const connection = new SpdyConnection(carrierOf(socket), (stream) => pair(stream));
    const pair = portStreams(open, turn);
    socket.on("message", (data) => connection.receive(bytesOf(data)));
    socket.on("close", () => connection.close());
    return;
  }
  const messages = messagesOf(socket, socket.protocol.includes("base64"), () => {});
  const receivers = new Map<number, ReturnType<typeof runCommand>>();
  for (const [index, port] of ports.entries()) {
    const [data, error] = [2 * index, 2 * index + 1];
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    messages.send(data, number);
    messages.send(error, number);
    const peer = {
      send: (channel: ChannelName, bytes: Uint8Array) => messages.send(channel === "error" ? error : data, bytes),
      isFull: () => socket.bufferedAmount >= waitingBytesMax,
      pause: () => {},
      finish: () => void receivers.delete(data),
    };
    receivers.set(
      data,
      runCommand((sink) => open(port, sink), peer, false, turn),
    );
  }
  socket.on("message", (data, isBinary) => {
    const message = messages.read(data, isBinary);
    if (message !== undefined) receivers.get(message.channel)?.receive("stdin", message.bytes);
  });
  socket.on("close", () => {
    for (const receiver of receivers.values()) receiver.gone();
  });
}

const carrierOf = (socket: WebSocket): Carrier => ({
  write(bytes) {
    socket.send(bytes, { binary: true });
    return socket.bufferedAmount < waitingBytesMax;
  },
  end: () => socket.close(1000),
});

/** Connections to ports over SPDY: two streams each, for bytes and for what went wrong, with one number. */
export function portStreams(
  open: (port: number, sink: LiveSink) => Opened,
  turn: Turn,
  isFull: () => boolean = () => false,
): (stream: SpdyStream) => void {
  const waiting = new Map<string, SpdyStream>();
  return (stream) => {
    const id = stream.headers.get("requestid") ?? stream.headers.get("port") ?? "";
    const other = waiting.get(id);
    if (other === undefined) {
      waiting.set(id, stream);
      stream.onEnd = () => {};
      return;
    }
    waiting.delete(id);
    const isError = stream.headers.get("streamtype") === "error";
    const [error, data] = isError ? [stream, other] : [other, stream];
    const port = Number(data.headers.get("port"));
    const peer = {
      send: (channel: ChannelName, bytes: Uint8Array) => (channel === "error" ? error : data).write(bytes),
      isFull,
      pause: () => {},
      finish: () => {
        error.end();
        data.end();
      },
    };
    const command = runCommand((sink) => open(port, sink), peer, false, turn);
    data.onData = (bytes) => command.receive("stdin", bytes);
    data.onEnd = () => command.endInput();
  };
}
