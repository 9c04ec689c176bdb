/** A trace for a person: one line a change, its sign in the column of whoever it happens to, and a legend above. */
import { type TraceDocument, type TraceEntry, traceLegend } from "../schema/trace-document.ts";

/** Ends in a newline. */
export function renderTraceText(trace: TraceDocument): string {
  const lanes = trace.lanes.filter(({ kind }) => kind !== "pod").map(({ name }) => name);
  const column = new Map(lanes.map((name, index) => [name, index]));
  const nameWidth = Math.max(...trace.lanes.map(({ name }) => name.length), 1);
  const planted = trace.bugs.length === 0 ? "" : `, with ${trace.bugs.join(", ")}`;
  return [
    `# ${trace.scenario}, profile ${trace.profile}, seed ${trace.seed}, mode ${trace.mode}${planted}: trace ${trace.traceHash}`,
    "#",
    ...Object.entries(traceLegend).map(([sign, meaning]) => `# ${sign}  ${meaning}`),
    "#",
    ...lanes.map((name, index) => `# ${"|".repeat(index)}${name}`),
    ...trace.entries.map((entry) => line(entry, column, nameWidth)),
    "",
  ].join("\n");
}

/** `   2.005000  |?|    informer-1  asks …  @12`. */
function line(
  { atMicros, lane, sign, text, revision }: TraceEntry,
  column: ReadonlyMap<string, number>,
  nameWidth: number,
): string {
  const own = column.get(lane);
  const signs = Array.from({ length: column.size }, (_, index) =>
    index === own ? sign : own === undefined ? sign : "|",
  ).join("");
  const all = own === undefined && lane !== "" ? "|".repeat(column.size) : signs;
  const version = revision === undefined ? "" : ` @${revision}`;
  return `${time(atMicros)} ${all} ${(lane === "" ? "everybody" : lane).padEnd(nameWidth)} ${sign} ${text}${version}`;
}

/** Seconds with six decimals, to the width of a day. */
const time = (micros: number): string =>
  `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, "0")}`.padStart(12);
