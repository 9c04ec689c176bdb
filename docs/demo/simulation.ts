/** The simulator as the demo has it: a run that goes on bit by bit, in a worker or in the page itself. No DOM. */
import type { TraceDocument, TraceEntry, TraceFault, TraceMessage } from "../../reports/schema/trace-document.ts";
import { type FaultVerb, faultVerbs } from "../../scenarios/fault-rows.ts";
import { parseScenario } from "../../scenarios/load.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { bugsOf } from "../../sim/experiments/bugs.ts";
import { beginScenario, type LiveRun } from "../../sim/experiments/play.ts";
import { Recorder } from "../../sim/experiments/recorder.ts";

/** What a run follows from. */
export interface Choice {
  /** The scenario's text. */
  readonly text: string;
  readonly name: string;
  readonly seed: number;
  /** `scenario`: as the scenario says. */
  readonly mode: Scenario["mode"] | "scenario";
  /** Names of planted bugs. */
  readonly bugs: readonly string[];
}

/** What is new since the last look. */
export interface Frame {
  readonly nowMicros: number;
  readonly isOver: boolean;
  readonly lanes: TraceDocument["lanes"];
  readonly entries: readonly TraceEntry[];
  readonly messages: readonly TraceMessage[];
  /** All of them: those that last change. */
  readonly faults: readonly TraceFault[];
  readonly failure: TraceDocument["failure"] | undefined;
  readonly traceHash: string;
  readonly traceRecords: number;
}

export class Simulation {
  readonly untilMicros: number;
  /** From here on everything is healed, and nothing can be broken. */
  readonly safetyMicros: number | undefined;
  readonly drawn: readonly string[];
  private readonly run: LiveRun;
  private readonly recorder: Recorder;
  private entriesSeen = 0;
  private messagesSeen = 0;

  /** Throws what `parseScenario` throws. */
  constructor({ text, name, seed, mode, bugs }: Choice) {
    const scenario = parseScenario(text, name);
    this.recorder = new Recorder(scenario);
    const watcher = this.recorder;
    this.run = beginScenario(scenario, {
      seed,
      bugs: bugsOf(bugs),
      watcher,
      ...(mode === "scenario" ? {} : { mode }),
    });
    this.untilMicros = scenario.until;
    this.safetyMicros = scenario.safety;
    this.drawn = this.run.plan.drawn;
  }

  advance(toMicros: number): Frame {
    this.run.advance(toMicros);
    const report = this.run.report();
    const { lanes, entries, messages, faults, failure } = this.recorder.document(report);
    const frame: Frame = {
      nowMicros: this.run.nowMicros,
      isOver: this.run.isOver,
      lanes,
      entries: entries.slice(this.entriesSeen),
      messages: messages.slice(this.messagesSeen),
      faults,
      failure,
      traceHash: report.traceHash,
      traceRecords: report.traceRecords,
    };
    this.entriesSeen = entries.length;
    this.messagesSeen = messages.length;
    return frame;
  }

  /** By hand, now. False when nothing can be broken any more. */
  inject(verb: FaultVerb, places: readonly string[]): boolean {
    if (!Object.hasOwn(faultVerbs, verb)) return false;
    return this.run.inject({ atMicros: this.run.nowMicros, verb, places });
  }
}

/** The hash of a whole run. */
export function hashOf(choice: Choice): { readonly hash: string; readonly records: number } {
  const simulation = new Simulation(choice);
  const { traceHash, traceRecords } = simulation.advance(simulation.untilMicros);
  return { hash: traceHash, records: traceRecords };
}
