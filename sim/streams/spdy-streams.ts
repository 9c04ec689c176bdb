/** Commands over SPDY: a stream for each channel, which the client opens before anything begins. */
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { LiveSink, Opened } from "../runtime/live-sessions.ts";
import { type ChannelName, type Command, runCommand } from "./channels.ts";
import { SpdyConnection, type SpdyStream } from "./spdy-connection.ts";
import { portStreams } from "./web-socket-streams.ts";

type Turn = (work: () => void) => void;

/** How long the client may take to open its streams. Source: the published server. */
const openMillisMax = 30_000;

/** `wanted` are the streams without which nothing begins. `version`: 1 to 5. */
export function commandOverSpdy(
  socket: Socket,
  wanted: readonly ChannelName[],
  version: number,
  open: (sink: LiveSink) => Opened,
  turn: Turn,
): void {
  const streams = new Map<string, SpdyStream>();
  let command: Command | undefined;
  const late = setTimeout(() => connection.close(), openMillisMax);
  const connection = new SpdyConnection(carrierOf(socket), (stream) => {
    streams.set(stream.headers.get("streamtype") ?? "", stream);
    if (command !== undefined || !wanted.every((name) => streams.has(name))) return;
    clearTimeout(late);
    command = begin();
  });
  const begin = (): Command => {
    const peer = {
      send: (channel: ChannelName, bytes: Uint8Array) => streams.get(channel)?.write(bytes),
      isFull: () => socket.writableNeedDrain,
      pause: (isPaused: boolean) => void (isPaused ? socket.pause() : socket.resume()),
      finish: () => {
        for (const stream of streams.values()) stream.end();
        // The client reads to the ends of its streams, and then hangs up.
        setTimeout(() => connection.close(), openMillisMax).unref();
      },
    };
    const begun = runCommand(open, peer, version >= 4, turn);
    for (const name of ["stdin", "resize"] as const) {
      const stream = streams.get(name);
      if (stream !== undefined) stream.onData = (bytes) => begun.receive(name, bytes);
    }
    const input = streams.get("stdin");
    if (input !== undefined) input.onEnd = () => begun.endInput();
    return begun;
  };
  carry(socket, connection, () => {
    clearTimeout(late);
    command?.gone();
  });
  socket.on("drain", () => command?.drained());
}

export function portsOverSpdy(socket: Socket, open: (port: number, sink: LiveSink) => Opened, turn: Turn): void {
  const connection = new SpdyConnection(
    carrierOf(socket),
    portStreams(open, turn, () => socket.writableNeedDrain),
  );
  carry(socket, connection, () => {});
}

function carry(socket: Socket, connection: SpdyConnection, gone: () => void): void {
  socket.on("data", (bytes: Buffer) => connection.receive(bytes));
  socket.on("end", () => connection.close());
  socket.on("error", () => connection.close());
  socket.on("close", () => {
    connection.close();
    gone();
  });
}

const carrierOf = (socket: Socket) => ({
  write: (bytes: Uint8Array) => socket.write(bytes),
  end: () => void socket.end(),
});
