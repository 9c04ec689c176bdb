/**
 * Keeps logs of running containers small: looks at them again and again, moves away those that have grown to their
 * size, has the runtime open new ones, and removes the oldest of those that were moved away. All of these but the newest are
 * compressed, a part at a time.
 * Where a runtime in the same process says that no file has changed since a look that found nothing, there is nothing to look at.
 * Source: the published behaviour of the 1.33 agent.
 */
import type { PodOptions } from "../ports.ts";
import { turns } from "../piece.ts";
import { all, apart, run, type Task } from "../task.ts";
import type { CriCaller } from "./cri-caller.ts";
import { gzipSync } from "fflate";
import { compressedSuffix, filesOfLog, rotatedName, unfinishedSuffix } from "./log-files.ts";
import type { RuntimePod } from "./runtime-pod.ts";

export interface LogRotationOptions {
  readonly cri: CriCaller;
  readonly limits: Pick<PodOptions, "logBytesMax" | "logFilesMax" | "logCheckMicros" | "logWorkersMax">;
  readonly pods: () => Iterable<RuntimePod>;
  /** Grows when what `pods` tells has changed. */
  readonly podsVersion: () => number;
  readonly warn?: (line: string) => void;
}

interface Log {
  readonly id: string;
  readonly path: string;
}

export class LogRotation {
  private readonly options: LogRotationOptions;
  /** When a look found nothing to do: of files and pods as they were before it. */
  private idleFiles: number | undefined;
  private idlePods = -1;

  constructor(options: LogRotationOptions) {
    this.options = options;
  }

  /** Does nothing where logs have no bound. */
  start(): void {
    const { cri, limits } = this.options;
    if (limits.logBytesMax < 0) return;
    const { logCheckMicros } = limits;
    turns(cri.process, "log-rotation", "a look at logs", logCheckMicros, (next) => {
      if (this.isIdle()) next(logCheckMicros);
      else run(this.look(), () => next(logCheckMicros));
    });
  }

  private isIdle(): boolean {
    const { cri, podsVersion } = this.options;
    return (
      this.idleFiles !== undefined && this.idleFiles === cri.runtime.filesVersion?.() && this.idlePods === podsVersion()
    );
  }

  private *look(): Task<void> {
    const { cri, podsVersion } = this.options;
    this.idleFiles = undefined; // until it is known that nothing is to be done
    const files = cri.runtime.filesVersion?.();
    this.idlePods = podsVersion();
    const queue = yield* this.grown();
    if (queue === undefined) return;
    this.idleFiles = files;
    const { logWorkersMax } = this.options.limits;
    const rest = queue.values();
    yield* all(Array.from({ length: Math.min(logWorkersMax, queue.length) }, () => this.work(rest)));
  }

  private *work(queue: Iterator<Log>): Task<void> {
    const { process } = this.options.cri;
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const { path } = next.value;
      yield* apart(process, "log-rotation", () => `rotation of ${path}`, this.rotate(next.value));
    }
  }

  /** Asks for all of them at once; a file's blocks are no less than its bytes. Undefined: nothing could be known. */
  private *grown(): Task<readonly Log[] | undefined> {
    const { cri, limits, pods } = this.options;
    const logs: Log[] = [];
    for (const { containers } of pods()) {
      for (const { id, state, logPath } of containers)
        if (state === "CONTAINER_RUNNING" && logPath !== "") logs.push({ id, path: logPath });
    }
    if (logs.length === 0) return [];
    const answer = yield* cri.ask("PathUsage", { paths: logs.map(({ path }) => path) });
    if (!answer.ok) return undefined;
    const { usages } = answer.message;
    return logs.filter((_, at) => usages[at]?.found === true && usages[at].usedBytes >= limits.logBytesMax);
  }

  private *rotate({ id, path }: Log): Task<void> {
    const { cri, limits, warn = () => {} } = this.options;
    const read = yield* cri.ask("ReadPath", { path, offset: 0, limit: 1 });
    if (read.ok && read.message.size < limits.logBytesMax) return;
    this.idleFiles = undefined;
    if (!read.ok) return;
    const old = yield* this.tidied(path);
    // Besides the one that is moved away now and the new one there are two fewer than there may be.
    const excess = Math.max(0, old.length - (limits.logFilesMax - 2));
    for (const each of old.slice(0, excess)) yield* cri.ask("RemovePath", { path: each });
    for (const each of old.slice(excess)) {
      if (each.endsWith(compressedSuffix)) continue;
      const failure = yield* this.compress(each);
      if (failure === undefined) continue;
      warn(`failed to rotate log "${path}": failed to compress log "${each}": ${failure}`);
      return;
    }
    const { clock } = cri.process;
    const to = rotatedName(path, Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1000) / 1000));
    const moved = yield* cri.ask("RenamePath", { from: path, to });
    if (!moved.ok) {
      warn(`failed to rotate log "${path}": ${moved.text}`);
      return;
    }
    const opened = yield* cri.ask("ReopenContainerLog", { containerId: id });
    if (opened.ok) return;
    warn(`failed to rotate log "${path}": failed to reopen container log "${id}": ${opened.text}`);
    // The log is where it was, unless its container has begun a new one meanwhile.
    const written = yield* cri.ask("ReadPath", { path, offset: 0, limit: 1 });
    if (!written.ok) yield* cri.ask("RenamePath", { from: to, to: path });
  }

  /** What was moved away; what an agent that died has left half done is removed. */
  private *tidied(path: string): Task<readonly string[]> {
    const { cri } = this.options;
    const all = yield* filesOfLog(cri, path);
    const names = new Set(all);
    const kept: string[] = [];
    for (const each of all) {
      if (each.endsWith(unfinishedSuffix) || names.has(each + compressedSuffix))
        yield* cri.ask("RemovePath", { path: each });
      else kept.push(each);
    }
    return kept;
  }

  /** Why it could not be done; the file is then as it was. */
  private *compress(path: string): Task<string | undefined> {
    const { cri } = this.options;
    const unfinished = path + unfinishedSuffix;
    for (let offset = 0; ; ) {
      const read = yield* cri.ask("ReadPath", { path, offset, limit: partBytes });
      if (!read.ok) return read.text;
      const { content, size } = read.message;
      const written = yield* cri.ask("WritePath", {
        path: unfinished,
        content: gzipSync(content, { mtime: 0 }),
        append: offset > 0,
      });
      if (!written.ok) {
        yield* cri.ask("RemovePath", { path: unfinished });
        return written.text;
      }
      offset += content.length;
      if (content.length === 0 || offset >= size) break;
    }
    const named = yield* cri.ask("RenamePath", { from: unfinished, to: path + compressedSuffix });
    if (!named.ok) return named.text;
    yield* cri.ask("RemovePath", { path });
    return undefined;
  }
}

/** Each is a member of its own, so that none takes long. */
const partBytes = 262_144;
