/** One run of an experiment, as it is sent to a thread or through a queue, and what came of it. */
import { ExperimentFile, type Changes } from "../../scenarios/capacity/load.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { ExperimentError } from "../../sim/capacity/fleet.ts";
import { NothingMeasured, playExperiment } from "../../sim/capacity/play-experiment.ts";
import type { ReplayedRequest } from "../../sim/capacity/stage.ts";

export interface CapacityPart {
  /** The experiment's file, word for word, and how errors call it. */
  readonly text: string;
  readonly fileName: string;
  readonly arm: string;
  readonly changes: Changes;
  readonly repetition: number;
  readonly seed?: number;
  readonly logs: readonly (readonly [name: string, requests: readonly ReplayedRequest[]])[];
  readonly metricsAtMicros?: number;
  readonly wantsMetrics: boolean;
  /** Shared with whoever waits: `[0]` set to 1 asks to stop; `[slot]` is how much is done, in thousandths. Not over a queue. */
  readonly shared?: { readonly numbers: Int32Array; readonly slot: number };
}

export interface PlayedPart {
  readonly run?: CapacityRun;
  /** A scrape of the server's metrics, if one was asked for. */
  readonly metrics?: string;
  /** It was told to stop before its measured time began: there is no run to tell of. */
  readonly unmeasured?: { readonly arm: string; readonly repetition: number };
  /** The experiment asks for what cannot be done. */
  readonly mistake?: string;
}

function playPart(part: CapacityPart): PlayedPart {
  const { text, fileName, arm, changes, repetition, seed, logs, metricsAtMicros, wantsMetrics, shared } = part;
  const beganMillis = performance.now();
  let metrics: string | undefined;
  const file = new ExperimentFile(text, fileName);
  const who = `arm ${arm}`;
  const mistakeOf = ({ path, message }: ExperimentError): PlayedPart => ({
    mistake: `${file.placeOf(path, changes, who)}: ${path}: ${message}`,
  });
  try {
    const experiment = file.with(changes, who);
    const run = playExperiment(experiment, {
      arm,
      repetition,
      logs: new Map(logs),
      ...(seed === undefined ? {} : { seed }),
      ...(metricsAtMicros === undefined ? {} : { metricsAtMicros }),
      ...(wantsMetrics ? { onMetrics: (scraped: string) => void (metrics = scraped) } : {}),
      onProgress(done) {
        if (shared === undefined) return false;
        Atomics.store(shared.numbers, shared.slot, Math.round(done * 1000));
        return Atomics.load(shared.numbers, 0) === 1;
      },
    });
    const measured = {
      ...run.measured,
      wallMillis: Math.round(performance.now() - beganMillis),
      heapBytes: process.memoryUsage().heapUsed,
    };
    return { run: { ...run, measured }, ...(metrics === undefined ? {} : { metrics }) };
  } catch (error) {
    if (error instanceof NothingMeasured) return { unmeasured: { arm, repetition } };
    const cause = error instanceof Error ? error.cause : undefined;
    for (const mistake of [error, cause]) if (mistake instanceof ExperimentError) return mistakeOf(mistake);
    throw error;
  }
}

/** The body of a thread. */
export default playPart;
