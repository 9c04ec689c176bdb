/** Calls that are not complete yet, or that wait for their turn, of all callers together: who never ends one fills no memory. */
import { constants, type ServerHttp2Stream } from "node:http2";
import { ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import { grpcCode } from "../../wire/cri.ts";
import { invariant } from "../kernel/invariant.ts";
import type { PacedSessions } from "../kernel/paced-sessions.ts";
import { type Holder, Room } from "../kernel/room.ts";

/** What a call takes that has brought nothing yet: its stream, and all that stands around it. */
export const callBytes = 8 * 1024;

const arrivingText = "the runtime has no room for more calls that are not complete: ask again";

/** The innermost call of the library. It tells of whole messages alone, so what comes is counted at its stream. */
interface OnStream {
  readonly stream?: ServerHttp2Stream;
  readonly incomingEncoding?: string;
}

const encodingCharactersMax = 64;

export class ArrivingCalls {
  readonly #room: Room;
  readonly #sessions: PacedSessions;
  /** By the message, once it is complete. */
  readonly #complete = new WeakMap<object, Holder>();

  /** `sessions`: they are read in turns. */
  constructor(bytesMax: number, sessions: PacedSessions) {
    this.#room = new Room(bytesMax);
    this.#sessions = sessions;
  }

  get bytes(): number {
    return this.#room.bytes;
  }

  readonly interceptor: ServerInterceptor = (_, call) => {
    const { stream, incomingEncoding = "identity" } = call as OnStream;
    invariant(stream !== undefined, "a call has its stream", {});
    const { session } = stream;
    if (session !== undefined) this.#sessions.opened(session, session.socket);
    let isOver = false;
    let bytes = 0;
    const holder: Holder = {
      evicted: () => {
        isOver = true;
        call.sendStatus({ code: grpcCode.resourceExhausted, details: arrivingText });
        // What came of it is held by its stream, which its caller need not end.
        stream.close(constants.NGHTTP2_NO_ERROR);
      },
    };
    const count = (more: number): void => {
      if (isOver) return;
      bytes += more;
      this.#room.hold(holder, more);
    };
    // A packed message is unpacked before anybody can count it, and no agent packs any: none is taken.
    if (incomingEncoding !== "identity") {
      isOver = true;
      const shown = JSON.stringify(incomingEncoding.slice(0, encodingCharactersMax));
      call.sendStatus({
        code: grpcCode.unimplemented,
        details: `grpc: Decompressor is not installed for grpc-encoding ${shown}`,
      });
      stream.close(constants.NGHTTP2_NO_ERROR);
    }
    count(callBytes);
    stream.on("data", ({ length }: Uint8Array) => count(length));
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMessage: (message: Uint8Array, forward) => {
            count(message.length + callBytes - bytes);
            this.#complete.set(message, holder);
            forward(message);
          },
          onCancel: () => {
            isOver = true;
            this.#room.release(holder);
          },
        }),
    });
  };

  /** The call with this message is carried out. */
  begins(message: object): void {
    const holder = this.#complete.get(message);
    if (holder !== undefined) this.#room.release(holder);
  }
}
