/** Files of one container's log: the one that is written, and those that were moved away from it, named by their time. */
import { formatTime } from "../../../wire/time.ts";
import { type Task, all } from "../task.ts";
import type { CriCaller } from "./cri-caller.ts";

/** Paths of files that were moved away and lie there as they were written, the oldest first. */
export function* rotatedLogs(cri: CriCaller, path: string): Task<readonly string[]> {
  const files = yield* filesOfLog(cri, path);
  return files.filter((each) => !each.endsWith(compressedSuffix) && !each.endsWith(unfinishedSuffix));
}

export const compressedSuffix = ".gz";
/** Of a file that was being compressed when the agent ended. */
export const unfinishedSuffix = ".tmp";

/** Paths of all that was made of a log beside the file that is written: by their names, the oldest first. */
export function* filesOfLog(cri: CriCaller, path: string): Task<readonly string[]> {
  const at = path.lastIndexOf("/");
  const listed = yield* cri.ask("ListPath", { path: path.slice(0, at) });
  if (!listed.ok) return [];
  const beginning = `${path.slice(at + 1)}.`;
  return listed.message.entries
    .filter(({ name, directory }) => !directory && name.startsWith(beginning))
    .map(({ name }) => `${path.slice(0, at)}/${name}`)
    .sort();
}

/** How a log is named that is moved away now: `PATH.YYYYMMDD-HHMMSS`, in UTC. */
export function rotatedName(path: string, unixSeconds: number): string {
  return `${path}.${formatTime(unixSeconds).replaceAll(/[-:Z]/g, "").replace("T", "-")}`;
}

/** The log and all that was moved away from it. */
export function* removeLogs(cri: CriCaller, path: string): Task<void> {
  const moved = yield* filesOfLog(cri, path);
  yield* all([path, ...moved].map((each) => cri.ask("RemovePath", { path: each })));
}
