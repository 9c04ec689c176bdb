/**
 * Traces of requests: which are sampled, what their spans are, and the collector that hears of them.
 * Source: document 2, TracingConfiguration; the published component's sampler, which follows a parent and else the rate.
 *
 * Simplification: within one event no time passes on the server's clock, so that what the server does by itself takes none;
 * what it waits for (webhooks, seats, authorizers) takes as long as it does. The observed server takes a caller's sampling
 * from some callers alone; here, as the documents have it, from all.
 */
import type { ApiRequest } from "../../contract/http-message.ts";
import type { FinishedSpan, Span, SpanAttributes, SpanKind } from "../../contract/tracing.ts";
import type { Clock, Prng } from "../../kernel/types.ts";
import { type TraceParent, traceHeaders, traceParentOf } from "./trace-context.ts";

export interface TracerPorts {
  readonly clock: Clock;
  /** A stream of its own: ids, and the draws of sampling. */
  readonly prng: Prng;
  /** Of requests without a parent, as many of a million; undefined: none of them. */
  readonly samplesPerMillion: number | undefined;
  readonly finished: (span: FinishedSpan) => void;
}

const million = 1_000_000;

export class Tracer {
  /** The span in whose name the server works in this moment. */
  current: Span | undefined;
  private readonly ports: TracerPorts;

  constructor(ports: TracerPorts) {
    this.ports = ports;
  }

  /** A request has arrived. */
  arrived({ method, path, headers }: ApiRequest): Span {
    const parent = traceParentOf(headers);
    const isSampled = parent === undefined ? this.draws() : parent.isSampled;
    const context: TraceParent = {
      traceId: parent?.traceId ?? this.id(4),
      spanId: this.id(2),
      isSampled,
      traceState: parent?.traceState ?? "",
    };
    if (!isSampled) return new UnsampledSpan(context);
    const agent = headers["user-agent"];
    return this.begun(context, parent?.spanId, method, "server", {
      "http.request.method": method,
      "url.path": path,
      ...(agent === undefined ? {} : { "user_agent.original": agent }),
    });
  }

  begun(
    context: TraceParent,
    parentSpanId: string | undefined,
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
  ): Span {
    return new RecordedSpan(this, context, { parentSpanId, name, kind, attributes, startUnixMicros: this.nowMicros() });
  }

  finished(span: FinishedSpan): void {
    this.ports.finished(span);
  }

  nowMicros(): number {
    const { clock } = this.ports;
    return clock.epochUnixMillis * 1000 + clock.nowMicros();
  }

  /** Hexadecimal, eight digits a word, never all zero. */
  id(words: number): string {
    let text = "";
    for (let word = 0; word < words; word++) text += this.ports.prng.uint32().toString(16).padStart(8, "0");
    return /^0+$/.test(text) ? `${text.slice(0, -1)}1` : text;
  }

  private draws(): boolean {
    const { samplesPerMillion: rate = 0, prng } = this.ports;
    return rate >= million || (rate > 0 && prng.intInclusive(0, million - 1) < rate);
  }
}

type Beginning = Pick<FinishedSpan, "parentSpanId" | "name" | "kind" | "startUnixMicros" | "attributes">;

class RecordedSpan implements Span {
  private readonly tracer: Tracer;
  private readonly context: TraceParent;
  private readonly beginning: Beginning;
  private isOver = false;

  constructor(tracer: Tracer, context: TraceParent, beginning: Beginning) {
    this.tracer = tracer;
    this.context = context;
    this.beginning = beginning;
  }

  get headers(): Readonly<Record<string, string>> {
    return traceHeaders(this.context);
  }

  child(name: string, kind: SpanKind, attributes: SpanAttributes = {}): Span {
    const { tracer, context } = this;
    return tracer.begun({ ...context, spanId: tracer.id(2) }, context.spanId, name, kind, attributes);
  }

  during(work: () => void): void {
    const { tracer } = this;
    const before = tracer.current;
    tracer.current = this;
    try {
      work();
    } finally {
      tracer.current = before;
    }
  }

  end(attributes: SpanAttributes = {}, error?: string, name?: string): void {
    if (this.isOver) return;
    this.isOver = true;
    const { tracer, context, beginning } = this;
    tracer.finished({
      ...beginning,
      traceId: context.traceId,
      spanId: context.spanId,
      traceState: context.traceState,
      name: name ?? beginning.name,
      endUnixMicros: tracer.nowMicros(),
      attributes: { ...beginning.attributes, ...attributes },
      error,
    });
  }
}

/** Whoever is called still hears of the trace, and that it is not sampled. */
class UnsampledSpan implements Span {
  readonly headers: Readonly<Record<string, string>>;

  constructor(context: TraceParent) {
    this.headers = traceHeaders(context);
  }

  child(): Span {
    return this;
  }

  during(work: () => void): void {
    work();
  }

  end(): void {}
}
