/** A container's output as lines of its log file, in the format that agents read: time, stream, `F` or `P`, text. */
import { logTime } from "./processes/date-format.ts";
import type { Piece } from "./file-tree.ts";
import type { ContainerRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";

/** Lines longer than this are split, and all parts but the last marked as partial. */
const LINE_BYTES_MAX = 16_384;

export function writeLog(state: RuntimeState, container: ContainerRecord, stream: 1 | 2, piece: Piece): void {
  if (container.logPath === "") return;
  const text = typeof piece === "string" ? piece : "\0".repeat(Math.min(piece, LINE_BYTES_MAX));
  const stamp = logTime(state.process.clock.epochUnixMillis, state.nowMicros);
  const name = stream === 1 ? "stdout" : "stderr";
  const lines = (container.logRest[stream] + text).split("\n");
  let rest = lines.pop() as string;
  const logged: string[] = [];
  const partial = (line: string): string => {
    let left = line;
    for (; left.length > LINE_BYTES_MAX; left = left.slice(LINE_BYTES_MAX))
      logged.push(stamp, " ", name, " P ", left.slice(0, LINE_BYTES_MAX), "\n");
    return left;
  };
  for (const line of lines) {
    const last = partial(line);
    logged.push(stamp, " ", name, " F ", last, "\n");
  }
  rest = partial(rest);
  container.logRest[stream] = rest;
  if (logged.length > 0) appendLog(state, container.logPath, logged.join(""));
}

/** What has no end of line yet is written when the container has ended. */
export function flushLog(state: RuntimeState, container: ContainerRecord): void {
  for (const stream of [1, 2] as const) {
    const rest = container.logRest[stream];
    if (rest === "" || container.logPath === "") continue;
    container.logRest[stream] = "";
    const stamp = logTime(state.process.clock.epochUnixMillis, state.nowMicros);
    appendLog(state, container.logPath, `${stamp} ${stream === 1 ? "stdout" : "stderr"} F ${rest}\n`);
  }
}

/** A log that finds no room is lost, as it is on a full disk. */
function appendLog(state: RuntimeState, path: string, text: string): void {
  const { host } = state.machine;
  const file = openLog(state, path);
  if (file !== undefined) host.append(path, file, text, state.nowMicros);
}

export function openLog(state: RuntimeState, path: string) {
  const { host } = state.machine;
  const known = host.find(path);
  if (known?.is === "file") return known;
  host.makeDirectories(path.replace(/\/[^/]*$/, ""), state.nowMicros);
  const file = host.open(path, true, state.nowMicros);
  return typeof file === "string" ? undefined : file;
}
