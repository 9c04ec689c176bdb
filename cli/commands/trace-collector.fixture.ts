/** A real collector of traces on this machine, which reads OTLP with messages of its own. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import protobuf from "protobufjs";

/** Of opentelemetry/proto/collector/trace/v1, what is looked at. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { string string_value = 1; int64 int_value = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  }
`);
const requestType = root.lookupType("Request");

/** A batch, with bytes in base64. */
interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
}

export interface RunningCollector {
  readonly port: number;
  /** In the order in which they came. */
  readonly received: readonly ReceivedSpan[];
  /** Who sent each batch. */
  readonly services: readonly string[];
  close(): void;
}

export async function startCollector(): Promise<RunningCollector> {
  const received: ReceivedSpan[] = [];
  const services: string[] = [];
  const take = (bytes: Buffer): void => {
    const decoded = requestType.toObject(requestType.decode(bytes), { bytes: String, longs: String });
    const document = decoded as unknown as Batch;
    const hex = (text = ""): string => Buffer.from(text, "base64").toString("hex");
    for (const { resource, scopeSpans } of document.resourceSpans) {
      for (const { key, value } of resource.attributes) if (key === "service.name") services.push(value.stringValue);
      for (const { spans } of scopeSpans) {
        for (const span of spans) {
          received.push({ ...span, traceId: hex(span.traceId), parentSpanId: hex(span.parentSpanId) });
        }
      }
    }
  };
  const collector = new Server();
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const plain = { serialize: () => Buffer.alloc(0), deserialize: (bytes: Buffer) => bytes };
  collector.addService(
    {
      export: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: plain.deserialize,
        requestDeserialize: plain.deserialize,
        responseSerialize: plain.serialize,
        responseDeserialize: plain.deserialize,
      },
    },
    {
      export: (call: { request: Buffer }, done: (error: null, answer: object) => void) => {
        take(call.request);
        done(null, {});
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    collector.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { port, received, services, close: () => collector.forceShutdown() };
}
