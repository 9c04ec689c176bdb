/** `serve` with a TracingConfiguration, and a real collector on this machine that reads OTLP with messages of its own. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import protobuf from "protobufjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, scratchFile, start } from "../spawned-command.fixture.ts";

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

interface Received {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
}

const received: Received[] = [];
const services: string[] = [];
const collector = new Server();
let port = 0;

function take(bytes: Buffer): void {
  const document: any = requestType.toObject(requestType.decode(bytes), { bytes: String, longs: String });
  const hex = (text = ""): string => Buffer.from(text, "base64").toString("hex");
  for (const { resource, scopeSpans } of document.resourceSpans) {
    for (const { key, value } of resource.attributes) if (key === "service.name") services.push(value.stringValue);
    for (const { spans } of scopeSpans) {
      for (const span of spans) {
        received.push({ ...span, traceId: hex(span.traceId), parentSpanId: hex(span.parentSpanId) });
      }
    }
  }
}

beforeAll(async () => {
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
  port = await new Promise<number>((resolve, reject) =>
    collector.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
});

afterAll(() => {
  collector.forceShutdown();
  cleanUp();
});

const file = (name: string, fields: object): string =>
  scratchFile(
    name,
    JSON.stringify({ apiVersion: "apiserver.svc.io/v1beta1", kind: "TracingConfiguration", ...fields }),
  );

test("spans reach the collector, in the caller's trace where it has one, the last when the server ends", async () => {
  const config = file("tracing.json", { endpoint: `127.0.0.1:${port}` });
  const serve = start("serve", "--port", "0", "--anonymous-auth=true", "--tracing-config-file", config);
  const url = (await serve.firstLine).replace("serving on ", "");
  const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  const ask = (headers: Record<string, string> = {}) => fetch(`${url}/api/v1/namespaces/default`, { headers });
  await ask({ traceparent: `00-${traceId}-${spanId}-01` });
  await ask();
  const before = Date.now();
  serve.child.kill("SIGTERM");
  expect((await serve.ended).code).toBe(0);
  expect(Date.now() - before).toBeLessThan(5_000);
  const requests = received.filter(({ name }) => name.startsWith("GET "));
  expect(requests).toMatchObject([{ traceId, parentSpanId: spanId, name: "GET /api/v1/namespaces/{name}" }]);
  expect(received.every((span) => span.traceId === traceId)).toBe(true);
  expect(Math.abs(Number(requests[0]?.startTimeUnixNano) / 1e6 - before)).toBeLessThan(60_000);
  expect(new Set(services)).toEqual(new Set(["svc-apiserver"]));
});

test("a collector that is not there keeps nobody waiting", async () => {
  const config = file("nowhere.json", { endpoint: "127.0.0.1:1", samplingRatePerMillion: 1_000_000 });
  const serve = start("serve", "--port", "0", "--anonymous-auth=true", "--tracing-config-file", config);
  const url = (await serve.firstLine).replace("serving on ", "");
  expect((await fetch(`${url}/version`)).status).toBe(200);
  serve.child.kill("SIGTERM");
  expect((await serve.ended).code).toBe(0);
});

test("a file that is not valid, or names what cannot be reached, ends the command", async () => {
  const ended = (config: string) => start("serve", "--port", "0", "--tracing-config-file", config).ended;
  const [wrong, abstract] = await Promise.all([
    ended(file("wrong.json", { samplingRatePerMillion: -1 })),
    ended(file("abstract.json", { endpoint: "unix-abstract:///x" })),
  ]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("samplingRatePerMillion") });
  expect(abstract).toMatchObject({ code: 2, stderr: expect.stringContaining("unix-abstract") });
});
