/** Calls to the runtime out of a task. */
import { type CriAnswer, type CriMethod, type CriRequestOf, grpcCode } from "../../../wire/cri.ts";
import { callRuntime, type CriRuntime } from "../../cri/cri-port.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { Task } from "../task.ts";

export class CriCaller {
  readonly process: Process;
  readonly runtime: CriRuntime;
  /** Of ordinary calls. */
  readonly timeoutMicros: Micros;

  constructor(process: Process, runtime: CriRuntime, timeoutMicros: Micros) {
    this.process = process;
    this.runtime = runtime;
    this.timeoutMicros = timeoutMicros;
  }

  *ask<M extends CriMethod>(
    method: M,
    message: CriRequestOf<M>,
    deadlineMicros: Micros = this.timeoutMicros,
  ): Task<CriAnswer<M>> {
    // As `wait` does it, without a generator of its own: a pod that starts asks some twenty times.
    return (yield (resume) =>
      callRuntime(this.process, this.runtime, method, message, deadlineMicros, resume)) as CriAnswer<M>;
  }
}

export type CriFailure = Extract<CriAnswer, { ok: false }>;

const codeNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(grpcCode).map(([name, code]) => [code, name.charAt(0).toUpperCase() + name.slice(1)]),
);

/** A failure as the published clients write it out. */
export const failureWords = ({ code, text }: CriFailure): string =>
  `rpc error: code = ${codeNames[code] ?? code} desc = ${text}`;

/** As `failureWords`, without a code that says nothing. Source: the recorded pulls. */
export const pullFailureWords = (failure: CriFailure): string =>
  failure.code === grpcCode.unknown ? failure.text : failureWords(failure);

export const isNotFound = (answer: CriAnswer): boolean => !answer.ok && answer.code === grpcCode.notFound;
