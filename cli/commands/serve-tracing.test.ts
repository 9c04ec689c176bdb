/** `serve` with a TracingConfiguration, and a real collector on this machine that reads OTLP with messages of its own. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, scratchFile, start } from "../spawned-command.fixture.ts";
import { type RunningCollector, startCollector } from "./trace-collector.fixture.ts";

let collector: RunningCollector;

beforeAll(async () => {
  collector = await startCollector();
});

afterAll(() => {
  collector.close();
  cleanUp();
});

const file = (name: string, fields: object): string =>
  scratchFile(
    name,
    JSON.stringify({ apiVersion: "apiserver.svc.io/v1beta1", kind: "TracingConfiguration", ...fields }),
  );

test("spans reach the collector, in the caller's trace where it has one, the last when the server ends", async () => {
  const config = file("tracing.json", { endpoint: `127.0.0.1:${collector.port}` });
  const serve = start("serve", "--port", "0", "--anonymous-auth=true", "--tracing-config-file", config);
  const url = (await serve.firstLine).replace("serving on ", "");
  const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  const ask = (headers: Record<string, string> = {}) => fetch(`${url}/api/v1/namespaces/default`, { headers });
  await ask({ traceparent: `00-${traceId}-${spanId}-01` });
  await ask();
  const before = Date.now();
  serve.child.kill("SIGTERM");
  expect((await serve.ended).code).toBe(0);
  const { received, services } = collector;
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
