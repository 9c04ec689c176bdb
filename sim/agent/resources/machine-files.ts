/** Small files that an agent keeps on its machine. */
import { grpcCode } from "../../../wire/cri.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { Micros } from "../../kernel/types.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { sleep, type Task } from "../task.ts";

const againMicros: Micros = 1_000_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Undefined: there is none. A runtime that cannot be reached is asked again. */
export function* readFile(cri: CriCaller, path: string): Task<string | undefined> {
  for (;;) {
    const read = yield* cri.ask("ReadPath", { path });
    if (read.ok) return decoder.decode(read.message.content);
    if (read.code !== grpcCode.unavailable && read.code !== grpcCode.deadlineExceeded) return undefined;
    yield* sleep(cri.process.clock, againMicros);
  }
}

/** What a file says that is to be one JSON object; undefined: it says something else, or nothing. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** With the folders that it lies in; whether it is there. */
export function* writeFile(cri: CriCaller, path: string, text: string): Task<boolean> {
  yield* cri.ask("MakePath", { path: path.slice(0, path.lastIndexOf("/")) });
  const written = yield* cri.ask("WritePath", { path, content: encoder.encode(text) });
  return written.ok;
}
