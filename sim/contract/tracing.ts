/** Spans of requests, as the parts of the server that work on a request know them. Nothing here costs where nobody traces. */

export type SpanKind = "server" | "client" | "internal";

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span that is over. Ids are lower-case hexadecimal, of 32 and 16 digits; times are microseconds of 1970. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** As it came; empty for none. */
  readonly traceState: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startUnixMicros: number;
  readonly endUnixMicros: number;
  readonly attributes: SpanAttributes;
  /** Why it failed; undefined when it did not. */
  readonly error: string | undefined;
}

export interface Span {
  /** For whoever is called in its name: `traceparent`, and `tracestate` where there is one. Source: W3C Trace Context, 3. */
  readonly headers: Readonly<Record<string, string>>;
  /** One within it, which begins now. */
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): Span;
  /** Does the work with this as the span that storage operations are within. */
  during(work: () => void): void;
  /** The first time ends it. `name` replaces the one that it began with. */
  end(attributes?: SpanAttributes, error?: string, name?: string): void;
}

/** Hands spans on to a collector. Calls `done` once, never before it returns and never after the returned cancel. */
export type SpanSender = (spans: readonly FinishedSpan[], done: (error: string | undefined) => void) => () => void;
