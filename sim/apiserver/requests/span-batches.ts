/**
 * Spans on their way to a collector: gathered into batches, of which one is under way at a time. A collector that is slow or
 * down costs memory up to a bound, and spans; requests never wait for it.
 * Source: OpenTelemetry, Trace SDK, Batching processor, whose default figures these are.
 */
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import type { FinishedSpan, SpanSender } from "../../contract/tracing.ts";

const queueMax = 2_048;
const batchMax = 512;
const delayMicros: Micros = 5_000_000;
const sendMicrosMax: Micros = 30_000_000;

export class SpanBatches {
  sentCount = 0;
  /** For want of room, or because the collector did not take them. */
  droppedCount = 0;
  private readonly clock: Clock;
  private readonly send: SpanSender;
  private readonly log: (line: string) => void;
  private queue: FinishedSpan[] = [];
  private waiting: Cancel | undefined;
  private isSending = false;
  private hasFailed = false;

  constructor(clock: Clock, send: SpanSender, log: (line: string) => void) {
    this.clock = clock;
    this.send = send;
    this.log = log;
  }

  add(span: FinishedSpan): void {
    if (this.queue.length >= queueMax) {
      this.droppedCount++;
      return;
    }
    this.queue.push(span);
    if (this.queue.length >= batchMax) this.flush();
    else this.waiting ??= this.clock.after(delayMicros, () => this.flush());
  }

  /** Sends what there is; what is more than a batch follows when that has been taken. */
  flush(): void {
    this.waiting?.();
    this.waiting = undefined;
    if (this.isSending || this.queue.length === 0) return;
    const batch = this.queue.splice(0, batchMax);
    this.isSending = true;
    let isOver = false;
    const end = (error: string | undefined): void => {
      if (isOver) return;
      isOver = true;
      late();
      this.isSending = false;
      this.told(batch.length, error);
      if (this.queue.length > 0) this.flush();
    };
    const late = this.clock.after(sendMicrosMax, () => {
      cancel();
      end(`no answer within ${sendMicrosMax / 1_000_000} s`);
    });
    const cancel = this.send(batch, end);
  }

  /** The log hears when it begins to fail, and not of every batch. */
  private told(spans: number, error: string | undefined): void {
    if (error === undefined) this.sentCount += spans;
    else this.droppedCount += spans;
    if (error !== undefined && !this.hasFailed) this.log(`the collector of traces does not take them: ${error}`);
    this.hasFailed = error !== undefined;
  }
}
