/** A target in a few lines, for tests of the suite itself: what it answers is a function, and its time only jumps. */
import type { StreamSink, SuiteClock, Transport, WireRequest } from "../../wire/ports.ts";

/** An answer, or a function that plays with the sink itself (streams, losses). */
export type Script = (request: WireRequest) => ScriptedAnswer | ((sink: StreamSink) => void);

export interface ScriptedAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal as every lawful server says it. */
export function refusal(code: number, reason: string): ScriptedAnswer {
  const json = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: `refused: ${reason}` };
  return { status: code, json: { ...json, reason, code } };
}

/** Answers on a later turn, so that requests overlap; nothing follows a cancel. */
export function scriptedTransport(script: Script): Transport & { readonly requests: readonly WireRequest[] } {
  const requests: WireRequest[] = [];
  return {
    requests,
    open(request, sink) {
      requests.push(request);
      let cut = false;
      const open: StreamSink = {
        head: (status, headers) => void (cut || sink.head(status, headers)),
        chunk: (bytes) => void (cut || sink.chunk(bytes)),
        end: () => void (cut || sink.end()),
        failed: (cause) => void (cut || sink.failed(cause)),
      };
      queueMicrotask(() => {
        const answer = script(request);
        if (typeof answer === "function") answer(open);
        else play(answer, open);
      });
      return () => {
        cut = true;
      };
    },
    async close() {},
  };
}

function play(answer: ScriptedAnswer, sink: StreamSink): void {
  sink.head(answer.status, { "content-type": "application/json", ...answer.headers });
  if (answer.json !== undefined) sink.chunk(new TextEncoder().encode(JSON.stringify(answer.json)));
  sink.end();
}

/** Time that stands still until somebody waits, then jumps to the first that is due. */
export function jumpingClock(): SuiteClock {
  let nowMillis = 0;
  const timers = new Map<object, { readonly atMillis: number; readonly fire: () => void }>();
  let jumping = false;
  const jump = () => {
    jumping = false;
    const [due] = [...timers].sort(([, a], [, b]) => a.atMillis - b.atMillis);
    if (due === undefined) return;
    timers.delete(due[0]);
    nowMillis = Math.max(nowMillis, due[1].atMillis);
    due[1].fire();
    schedule();
  };
  const schedule = () => {
    if (jumping || timers.size === 0) return;
    jumping = true;
    setImmediate(() => setImmediate(jump)); // once everything that was ready, and what it made ready, has run
  };
  const after = (millis: number, fire: () => void) => {
    const handle = {};
    timers.set(handle, { atMillis: nowMillis + millis, fire });
    schedule();
    return () => void timers.delete(handle);
  };
  return {
    nowMillis: () => nowMillis,
    after,
    sleep: (millis) => new Promise((resolve) => void after(millis, resolve)),
  };
}
