/** The log of a stream that was open before the first write, against what the writers know. */
import type { Violation } from "../client/findings.ts";
import { acknowledged, describeEvent, describeEvents, type LogEvent, sameContent, type Write } from "./history.ts";

/** Every acknowledged write is in the log, as the writer was told it. */
export function judgeNothingMissing(log: readonly LogEvent[], writes: readonly Write[]): Violation | undefined {
  for (const write of writes) {
    if (!acknowledged(write)) continue;
    const event = eventOf(log, write);
    if (event === undefined) {
      return {
        expected: `an event for the acknowledged ${describeWrite(write)}`,
        actual: describeEvents(log.filter((other) => other.key === write.key)),
      };
    }
    if (write.object !== undefined && write.verb !== "delete" && !sameContent(event.object, write.object)) {
      return {
        expected: `${describeWrite(write)} shows what was answered: ${JSON.stringify(write.object).slice(0, 600)}`,
        actual: JSON.stringify(event.object).slice(0, 600),
      };
    }
  }
  return undefined;
}

/** Every event in the log is some write's effect: no refused write is seen, and nothing that nobody wrote. */
export function judgeNothingExtra(log: readonly LogEvent[], writes: readonly Write[]): Violation | undefined {
  const explained = new Set(writes.map((write) => (acknowledged(write) ? eventOf(log, write) : undefined)));
  const unknown = new Map<string, number>();
  for (const write of writes) {
    if (write.status === undefined) unknown.set(write.key, (unknown.get(write.key) ?? 0) + 1);
  }
  for (const event of log) {
    if (explained.has(event)) continue;
    const left = unknown.get(event.key) ?? 0;
    if (left > 0) {
      unknown.set(event.key, left - 1); // a write whose answer was lost may be this one
      continue;
    }
    const refusals = writes.filter((write) => write.key === event.key && !acknowledged(write));
    return {
      expected: "only events of writes that were acknowledged or whose answer was lost",
      actual: `${describeEvent(event)}; not acknowledged on ${event.key}: ${refusals.map(describeWrite).join("; ") || "nothing"}`,
    };
  }
  return undefined;
}

/** A write that was answered before another was sent comes first in the log. */
export function judgeRealTimeOrder(log: readonly LogEvent[], writes: readonly Write[]): Violation | undefined {
  const firstOf = new Map<LogEvent, Write>(); // of several that share an event, all but the first changed nothing
  for (const write of writes) {
    const event = acknowledged(write) ? eventOf(log, write) : undefined;
    const known = event === undefined ? undefined : firstOf.get(event);
    if (event !== undefined && (known === undefined || write.began < known.began)) firstOf.set(event, write);
  }
  const placed = [...firstOf].map(([event, write]) => ({ write, place: log.indexOf(event) }));
  placed.sort((a, b) => a.place - b.place);
  let latestBegun: (typeof placed)[number] | undefined;
  for (const current of placed) {
    const { ended } = current.write;
    if (latestBegun !== undefined && ended !== undefined && ended < latestBegun.write.began) {
      return {
        expected: `${describeWrite(current.write)} was answered before ${describeWrite(latestBegun.write)} was sent, so its event comes first`,
        actual: describeEvents(log, current.place),
      };
    }
    if (latestBegun === undefined || current.write.began > latestBegun.write.began) latestBegun = current;
  }
  return undefined;
}

/** The event of an acknowledged write, or undefined when the log has none. */
export function eventOf(log: readonly LogEvent[], write: Write): LogEvent | undefined {
  if (write.verb === "delete") return log.find((event) => event.key === write.key && isDeletionOf(event, write));
  const version = write.object?.metadata.resourceVersion;
  return log.find((event) => event.key === write.key && event.version === version && event.type !== "DELETED");
}

function isDeletionOf(event: LogEvent, write: Write): boolean {
  const removed = event.type === "DELETED" || event.object.metadata.deletionTimestamp != null;
  return removed && (write.uid === undefined || event.uid === write.uid);
}

export function describeWrite(write: Write): string {
  const outcome = write.status === undefined ? "unanswered" : String(write.status);
  const version = write.object?.metadata.resourceVersion;
  const demanded = write.demanded === undefined ? "" : ` from ${write.demanded}`;
  return `${write.verb} of ${write.key}${demanded} (${outcome}${version === undefined ? "" : `, version ${version}`})`;
}
