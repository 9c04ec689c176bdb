/**
 * Control groups of programs beside pods that flags name: what the summary tells of each, as the machine's own files have
 * it. A group that the machine does not have is left out.
 * Source: document 3, --nodeagent-cgroups, --runtime-cgroups, --system-cgroups; the published layout of control groups of
 * version 2, and of the summary.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import type { Task } from "../task.ts";

export interface SystemGroup {
  /** As the summary calls it. */
  readonly name: string;
  /** From the root of control groups. */
  readonly path: string;
}

export const groupFolder = (path: string): string =>
  `/sys/fs/cgroup/${path
    .split("/")
    .filter((part) => part !== "")
    .join("/")}`;

export function* groupParts(
  cri: CriCaller,
  groups: readonly SystemGroup[],
  times: { readonly time: string; readonly startTime: string },
): Task<readonly JsonObject[]> {
  const parts: JsonObject[] = [];
  for (const { name, path } of groups) {
    const folder = groupFolder(path);
    const usageBytes = countOf(yield* textAt(cri, `${folder}/memory.current`));
    if (usageBytes === undefined) continue;
    const memory = rowsOf(yield* textAt(cri, `${folder}/memory.stat`));
    const usageMicros = rowsOf(yield* textAt(cri, `${folder}/cpu.stat`)).get("usage_usec");
    const { time, startTime } = times;
    parts.push({
      name,
      startTime,
      ...(usageMicros === undefined ? {} : { cpu: { time, usageCoreNanoSeconds: usageMicros * 1000 } }),
      memory: {
        time,
        usageBytes,
        workingSetBytes: Math.max(0, usageBytes - (memory.get("inactive_file") ?? 0)),
        rssBytes: memory.get("anon") ?? 0,
        pageFaults: memory.get("pgfault") ?? 0,
        majorPageFaults: memory.get("pgmajfault") ?? 0,
      },
    });
  }
  return parts;
}

const decoder = new TextDecoder();

/** Undefined: there is none, or the runtime cannot say. */
function* textAt(cri: CriCaller, path: string): Task<string | undefined> {
  const read = yield* cri.ask("ReadPath", { path });
  return read.ok ? decoder.decode(read.message.content) : undefined;
}

function countOf(text: string | undefined): number | undefined {
  const digits = text?.trim() ?? "";
  return /^\d+$/.test(digits) ? Number(digits) : undefined;
}

/** `name count` on each line. */
function rowsOf(text: string | undefined): ReadonlyMap<string, number> {
  const pairs = (text ?? "").split("\n").flatMap((line) => {
    const [name = "", count] = line.split(" ");
    const value = countOf(count);
    return value === undefined ? [] : [[name, value] as const];
  });
  return new Map(pairs);
}
