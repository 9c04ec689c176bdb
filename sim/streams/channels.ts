/**
 * One command or terminal between a client and a session: what goes over which channel, and how it ends. The same for
 * WebSocket, where a channel is a number before each message, and for SPDY, where it is a stream of its own.
 * Source: the published protocols of remote commands, versions 1 to 5.
 */
import type { LiveSession, LiveSink, Opened, SessionEnd } from "../runtime/live-sessions.ts";

export type ChannelName = "stdin" | "stdout" | "stderr" | "error" | "resize";

/** The client's side of a command. */
export interface ChannelPeer {
  send(channel: "stdout" | "stderr" | "error", bytes: Uint8Array): void;
  isFull(): boolean;
  /** Reads no more, or again. */
  pause(isPaused: boolean): void;
  /** Everything has been sent. */
  finish(): void;
}

export interface Command {
  receive(channel: ChannelName, bytes: Uint8Array): void;
  endInput(): void;
  /** The client has taken what there was. */
  drained(): void;
  gone(): void;
}

/** `tellsStatus`: an end is told as an object, from version 4 on; before that, as text, and only when it is bad. */
export function runCommand(
  open: (sink: LiveSink) => Opened,
  peer: ChannelPeer,
  tellsStatus: boolean,
  turn: (work: () => void) => void,
): Command {
  let session: LiveSession | undefined;
  let isOver = false;
  const end = (outcome: SessionEnd): void => {
    if (isOver) return;
    isOver = true;
    const told = tellsStatus ? JSON.stringify(statusOf(outcome)) : failureText(outcome);
    if (told !== "") peer.send("error", Buffer.from(told));
    peer.finish();
  };
  turn(() => {
    const opened = open({
      output: (stream, bytes) => peer.send(stream === 1 ? "stdout" : "stderr", bytes),
      isFull: () => peer.isFull(),
      wantsInput: () => peer.pause(false),
      ended: end,
    });
    if ("error" in opened) end(opened);
    else session = opened;
  });
  const within = (work: (session: LiveSession) => void): void => {
    if (session !== undefined && !isOver) turn(() => work(session as LiveSession));
  };
  return {
    receive(channel, bytes) {
      if (channel === "resize") resize(bytes, within);
      if (channel === "stdin" && bytes.length > 0) {
        within((to) => {
          if (!to.input(bytes)) peer.pause(true);
        });
      }
    },
    endInput: () => within((to) => to.endInput()),
    drained: () => within((to) => to.resume()),
    gone() {
      within((to) => to.close());
      isOver = true;
    },
  };
}

function resize(bytes: Uint8Array, within: (work: (session: LiveSession) => void) => void): void {
  try {
    const { Width: columns, Height: rows } = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
    if (typeof columns === "number" && typeof rows === "number") within((to) => to.resize(columns, rows));
  } catch {
    // Not a size: the window stays as it is.
  }
}

function failureText(end: SessionEnd): string {
  if ("error" in end) return end.error;
  return end.exitCode === 0 ? "" : `command terminated with non-zero exit code: ${end.exitCode}`;
}

function statusOf(end: SessionEnd): object {
  const text = failureText(end);
  if (text === "") return { metadata: {}, status: "Success" };
  if ("error" in end) {
    return {
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${text}`,
      reason: "InternalError",
      details: { causes: [{ message: text }] },
      code: 500,
    };
  }
  const causes = [{ reason: "ExitCode", message: String(end.exitCode) }];
  return { metadata: {}, status: "Failure", message: text, reason: "NonZeroExitCode", details: { causes } };
}
