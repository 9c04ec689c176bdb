/**
 * Spans to a collector by OTLP over gRPC, with OpenTelemetry's own exporter: in the clear, as the configuration has it.
 * Source: document 2, TracingConfiguration, endpoint; OpenTelemetry Protocol 1.
 */
import { credentials } from "@grpc/grpc-js";
import { SpanKind, SpanStatusCode, createTraceState, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { FinishedSpan, SpanSender } from "../contract/tracing.ts";

interface TraceExporter {
  readonly send: SpanSender;
  /** Resolves when what is under way has been answered, or was given up. */
  close(): Promise<void>;
}

type SdkSpan = Parameters<OTLPTraceExporter["export"]>[0][number];

const timeoutMillis = 10_000;

/** `turn` runs what comes from outside as an event of the server. `endpoint`: not one of the scheme `unix-abstract`. */
export function traceExporter(endpoint: string, serviceName: string, turn: (work: () => void) => void): TraceExporter {
  const exporter = new OTLPTraceExporter({
    url: urlOf(endpoint),
    credentials: credentials.createInsecure(),
    timeoutMillis,
  });
  const shared = {
    resource: resourceFromAttributes({ "service.name": serviceName }),
    instrumentationScope: { name: "touchstone" },
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  return {
    send(spans, done) {
      let isOver = false;
      const rows = spans.map((span): SdkSpan => ({ ...shared, ...sdkSpan(span) }));
      // It may answer at once, where the caller does not expect it yet.
      queueMicrotask(() =>
        exporter.export(rows, ({ code, error }) => {
          if (isOver) return;
          isOver = true;
          turn(() => done(code === 0 ? undefined : (error?.message ?? "it was not taken")));
        }),
      );
      return () => {
        isOver = true;
      };
    },
    close: () => exporter.shutdown(),
  };
}

/** As the exporter takes it: it knows no scheme of gRPC's names but `unix`. */
function urlOf(endpoint: string): string {
  if (endpoint.startsWith("unix:")) return endpoint;
  return `http://${endpoint.replace(/^dns:\/*/, "")}`;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

type Own =
  | "name"
  | "kind"
  | "spanContext"
  | "parentSpanContext"
  | "startTime"
  | "endTime"
  | "duration"
  | "status"
  | "attributes";

function sdkSpan(span: FinishedSpan): Pick<SdkSpan, Own> {
  const { traceId, spanId, parentSpanId, traceState, startUnixMicros, endUnixMicros, error } = span;
  const traceFlags = TraceFlags.SAMPLED;
  const state = traceState === "" ? {} : { traceState: createTraceState(traceState) };
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => ({ traceId, spanId, traceFlags, ...state }),
    ...(parentSpanId === undefined
      ? {}
      : { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags, isRemote: span.kind === "server" } }),
    startTime: timeOf(startUnixMicros),
    endTime: timeOf(endUnixMicros),
    duration: timeOf(endUnixMicros - startUnixMicros),
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: span.attributes,
  };
}

/** Seconds, and nanoseconds beyond them. */
const timeOf = (micros: number): [number, number] => [
  Math.floor(micros / 1_000_000),
  Math.round(micros % 1_000_000) * 1000,
];
