/** Counts of a real cluster beside those of the same workload here. */
import { type CapacityReport, isInterrupted } from "../schema/capacity-report.ts";

export interface Beside {
  readonly text: string;
  readonly real: number;
  readonly here: number;
  readonly within: string;
  readonly agrees: boolean;
}

/** By the first run of the first arm that came to its end. `controllers` stands for all accounts but the scheduler's and the experiment's own. */
export function besideReality({
  reality,
  realityEvents,
  runs,
}: Pick<CapacityReport, "reality" | "realityEvents" | "runs">): readonly Beside[] {
  const run = runs.find((each) => !isInterrupted(each));
  if (run === undefined) return [];
  const requests = reality.map(({ who, verb, resource, code, count, within }): Beside => {
    const here = run.requests
      .filter(
        (row) =>
          isWho(row.who, who) &&
          row.verb === verb &&
          row.resource === resource &&
          (code === undefined || row.code === code),
      )
      .reduce((sum, row) => sum + row.count, 0);
    const text = `${who} ${verb} ${resource}${code === undefined ? "" : ` ${code}`}`;
    return { text, real: count, here, within, agrees: isWithin(here, count, within) };
  });
  const events = realityEvents.map(({ resource, count, within }): Beside => {
    const here = run.watches.filter((row) => row.resource === resource).reduce((sum, row) => sum + row.events, 0);
    return { text: `watch events of ${resource}`, real: count, here, within, agrees: isWithin(here, count, within) };
  });
  return [...requests, ...events];
}

const isOwn = (who: string): boolean =>
  who === "driver" || who === "setup" || who === "agents" || who.startsWith("workload");

const isWho = (found: string, asked: string): boolean =>
  asked === "controllers" ? !isOwn(found) && found !== "scheduler" && found !== "apiserver" : found === asked;

function isWithin(here: number, real: number, within: string): boolean {
  const part = within === "tenth" ? 1.1 : 2;
  return here >= Math.floor(real / part) && here <= Math.ceil(real * part);
}
