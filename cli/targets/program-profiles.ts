/** What an agent as a program tells of itself at `/debug/pprof/`. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import type { ProgramProfiles } from "../../sim/agent/listener/profiles.ts";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";

const resolutionMillis = 10;

/** `close` ends what is measured. */
export function programProfiles(settings: AgentSettings): ProgramProfiles & { close(): void } {
  const isOn = settings.flag("enableProfilingHandler");
  const delays =
    isOn && settings.flag("contention-profiling") ? monitorEventLoopDelay({ resolution: resolutionMillis }) : undefined;
  delays?.enable();
  return {
    isOn,
    texts: {
      block: () => blockText(delays),
      cmdline: () => process.argv.join("\0"),
      heap: () => linesOf(process.memoryUsage()),
      cpu: () => linesOf(process.cpuUsage()),
    },
    close: () => delays?.disable(),
  };
}

export interface Delays {
  readonly count: number;
  /** Nanoseconds. */
  readonly mean: number;
  readonly max: number;
}

/** Of a program with one thread that is what its loop of events was late; nothing where nobody asked for it. */
export function blockText(delays: Delays | undefined): string {
  const head = "--- contention:\ncycles/second=1000000000\n";
  if (delays === undefined) return head;
  const { count, mean, max } = delays;
  const nanos = count === 0 ? 0 : Math.round(mean * count);
  return `${head}${nanos} ${count} @ event loop, at most ${count === 0 ? 0 : max}\n`;
}

const linesOf = (figures: object): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
