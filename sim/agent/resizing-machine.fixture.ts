/** For tests: around a scripted runtime, a machine that keeps the agent's file of resources, and gives containers what it is told. */
import { type CriAnswer, grpcCode } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Process } from "../kernel/types.ts";

export class ResizingMachine {
  /** Containers keep what they have. */
  refuses = false;
  private readonly files = new Map<string, Uint8Array>();

  /** Somebody else writes over the agent's file. */
  overwrite(text: string): void {
    for (const path of this.files.keys()) this.files.set(path, new TextEncoder().encode(text));
  }

  around(inner: CriRuntime, machine: Process): CriRuntime {
    return {
      events: (reader, sink) => inner.events(reader, sink),
      start: (request, done, fail) => {
        const answer = this.answer(request.method, request.message as { path?: string; content?: Uint8Array });
        if (answer === undefined) return inner.start(request, done, fail);
        // So that the call is remembered.
        if (request.method === "UpdateContainerResources") inner.start(request, () => {}, fail);
        return machine.clock.after(0, () => done(answer as CriAnswer));
      },
    };
  }

  private answer(method: string, { path = "", content }: { path?: string; content?: Uint8Array }): object | undefined {
    if (method === "UpdateContainerResources")
      return this.refuses ? { ok: false, code: grpcCode.unknown, text: "no" } : { ok: true, message: {} };
    if (!path.endsWith("allocated_pods_state")) return undefined;
    if (method === "WritePath") this.files.set(path, content as Uint8Array);
    const found = this.files.get(path);
    if (method === "ReadPath" && found === undefined) return { ok: false, code: grpcCode.notFound, text: "" };
    return { ok: true, message: { content: found } };
  }
}
