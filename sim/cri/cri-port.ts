/**
 * How a node agent reaches its container runtime: calls with deadlines and a stream of events. In process a simulated
 * runtime is on the other side, or a link to one; in a process of its own, a gRPC client.
 */
import {
  type CriAnswer,
  type CriEventSink,
  type CriMethod,
  type CriRequest,
  type CriRequestOf,
  grpcCode,
} from "../../wire/cri.ts";
import type { CallFailure, Cancel, Endpoint, Micros, Process } from "../kernel/types.ts";

export interface CriRuntime extends Endpoint<CriRequest, CriAnswer> {
  /** `GetContainerEvents`: what happens from now on, each in an event of `reader`, until the cancel or its crash. */
  events(reader: Process, sink: CriEventSink): Cancel;
  /**
   * Lets a caller in the same process leave off asking. Until `woken` is called, once, `Status` and lists of everything are
   * answered at once and as they are answered now. Undefined: that cannot be promised. Absent where nothing can be.
   */
  quiet?(woken: () => void): Cancel | undefined;
  /**
   * Lets a caller in the same process leave off looking at files: while this is the same number, `PathUsage` and
   * `ReadPath` answer for the same paths as they did. Undefined: that cannot be promised now. Absent where it never can be.
   */
  filesVersion?(): number | undefined;
  /**
   * The same for usage: while this is the same number, `MachineReading` and `ImageFsInfo` tell of memory, processes and file
   * systems what they told, but for their times.
   */
  usageVersion?(): number | undefined;
  /** The same for images: while this is the same value, a list of all of them is the same. */
  imagesVersion?(): unknown;
}

/** For calls that the agent waits for as long as they take, such as pulls: ten years. */
export const noDeadlineMicros: Micros = 315_360_000_000_000;

/**
 * One call of `process`. `done` fires once, in a later event of the process, unless it is cancelled. A call that got no
 * answer is told as gRPC clients tell it: code 4 after the deadline (microseconds, > 0), 14 without a connection.
 */
export function callRuntime<M extends CriMethod>(
  process: Process,
  runtime: Endpoint<CriRequest, CriAnswer>,
  method: M,
  message: CriRequestOf<M>,
  deadlineMicros: Micros,
  done: (answer: CriAnswer<M>) => void,
): Cancel {
  return process.call(runtime, { method, message }, { deadlineMicros }, (result) =>
    // A runtime answers a method with its own message: the tables pair them.
    done(result.ok ? (result.response as CriAnswer<M>) : { ok: false, ...unanswered[result.failure] }),
  );
}

const unanswered: Readonly<Record<CallFailure, { readonly code: number; readonly text: string }>> = {
  deadline: { code: grpcCode.deadlineExceeded, text: "context deadline exceeded" },
  disconnected: { code: grpcCode.unavailable, text: "error reading from server: EOF" },
  refused: { code: grpcCode.unavailable, text: "connection error: the runtime does not listen" },
};
