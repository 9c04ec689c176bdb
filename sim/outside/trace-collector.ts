/** A collector of traces on virtual time, which can be slow or down. Source: OpenTelemetry Protocol, Export. */
import type { FinishedSpan, SpanSender } from "../contract/tracing.ts";
import type { Micros, Process } from "../kernel/types.ts";

export interface TraceCollectorBehaviour {
  /** From a batch to its answer. */
  readonly delayMicros: Micros;
  /** `down`: nobody answers. `refused`: nobody listens. */
  readonly mood: "well" | "down" | "refused";
}

export class TraceCollector {
  behaviour: TraceCollectorBehaviour = { delayMicros: 1_000, mood: "well" };
  /** Spans that it has taken, in order. */
  readonly spans: FinishedSpan[] = [];
  private readonly process: Process;

  constructor(process: Process) {
    this.process = process;
  }

  readonly send: SpanSender = (spans, done) => this.sendFrom(this.process)(spans, done);

  /** As a server in another process sends to it: what is under way ends with that. */
  sendFrom(sender: Process): SpanSender {
    return (spans, done) => {
      const { delayMicros, mood } = this.behaviour;
      if (mood === "down") return () => {};
      return sender.clock.after(delayMicros, () => {
        if (mood === "refused") {
          done("connect: connection refused");
          return;
        }
        sender.trace("collector.took", this.process.name, spans.length);
        for (const span of spans) this.spans.push(span);
        done(undefined);
      });
    };
  }
}
