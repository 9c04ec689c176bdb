/** Traces in simulation: whose requests, which spans, and a collector that is slow or down. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { noControllers } from "../../control/controllers.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { TraceCollector, type TraceCollectorBehaviour } from "../../outside/trace-collector.ts";
import { TestBed } from "../test-bed.fixture.ts";
import { traceHeaders, traceParentOf } from "./trace-context.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const from = (flags: "00" | "01") => ({ traceparent: `00-${parent.traceId}-${parent.spanId}-${flags}` });

function world(samplesPerMillion: number | undefined, behaviour?: TraceCollectorBehaviour, seed = "traces") {
  const kernel = new Kernel({ seed });
  const process = kernel.process("apiserver");
  const collector = new TraceCollector(kernel.process("collector"));
  if (behaviour !== undefined) collector.behaviour = behaviour;
  const calls: Readonly<Record<string, string>>[] = [];
  const lines: string[] = [];
  const bed = new TestBed(
    {
      process,
      profile: kubernetesProfile,
      controllers: noControllers,
      customResources: false,
      tracing: { samplesPerMillion, send: collector.send },
      log: (line) => lines.push(line),
      webhooks: ({ headers = {}, body }, done) => {
        calls.push(headers);
        const { uid } = body["request"] as { uid: string };
        const response = { uid, allowed: true };
        return process.clock.after(2_000, () => done({ status: 200, body: { ...body, response } }));
      },
    },
    kernel,
  );
  return {
    kernel,
    bed,
    collector,
    calls,
    lines,
    seconds: (count: number) => kernel.run(kernel.nowMicros() + count * 1e6),
  };
}

describe("the context of a trace", () => {
  it.each([
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", false],
    ["cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes", true],
  ])("is read from %s", (traceparent, isSampled) => {
    expect(traceParentOf({ traceparent, tracestate: "a=1" })).toEqual({ ...parent, isSampled, traceState: "a=1" });
  });

  it.each([
    "",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  ])("is none in %j", (traceparent) => expect(traceParentOf({ traceparent })).toBeUndefined());

  it("is none in any other text, and reads what it writes", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, isSampled) => {
        const context = { ...parent, isSampled, traceState: "" };
        expect(traceParentOf(traceHeaders(context))).toEqual(context);
        const found = traceParentOf({ traceparent: text });
        if (found !== undefined) expect(text.trim()).toMatch(/^[0-9a-f]{2}-/);
      }),
    );
  });
});

describe("a traced server", () => {
  it("tells of a write, its admission, its webhook and what it stores, each within the other, in the caller's trace", () => {
    const { bed, collector, calls, seconds } = world(undefined);
    const hook = {
      name: "look.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url: "https://hooks.test/look" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    };
    const apiVersion = "admissionregistration.k8s.io/v1";
    const kind = "ValidatingWebhookConfiguration";
    const path = `/apis/${apiVersion}/validatingwebhookconfigurations`;
    bed.ask(`POST ${path}`, { as: "admin", body: { apiVersion, kind, metadata: { name: "look" }, webhooks: [hook] } });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    const answer = bed.ask(`POST ${configMaps}`, { as: "admin", body, headers: { ...from("01"), tracestate: "v=1" } });
    seconds(10);
    expect(answer.status).toBe(201);
    const named = (name: string) => collector.spans.find((span) => span.name === name);
    const request = named("POST /api/v1/namespaces/{namespace}/configmaps");
    expect(request).toMatchObject({
      traceId: parent.traceId,
      parentSpanId: parent.spanId,
      traceState: "v=1",
      kind: "server",
      attributes: { "http.request.method": "POST", "url.path": configMaps, "http.response.status_code": 201 },
      error: undefined,
    });
    const admission = named("admission");
    const webhook = named("webhook look.example.com");
    const put = named("storage put");
    expect(admission?.parentSpanId).toBe(request?.spanId);
    expect(webhook?.parentSpanId).toBe(admission?.spanId);
    expect(put?.parentSpanId).toBe(request?.spanId);
    expect(calls).toEqual([{ traceparent: `00-${parent.traceId}-${webhook?.spanId}-01`, tracestate: "v=1" }]);
    expect((webhook?.endUnixMicros ?? 0) - (webhook?.startUnixMicros ?? 0)).toBe(2_000);
    const within = collector.spans.every(
      ({ startUnixMicros, endUnixMicros }) =>
        startUnixMicros >= (request?.startUnixMicros ?? 0) && endUnixMicros <= (request?.endUnixMicros ?? 0),
    );
    expect(within).toBe(true);
  });

  it("follows its caller, and without one samples so many of a million", () => {
    const spansOf = (rate: number | undefined, headers: Readonly<Record<string, string>>, requests: number): number => {
      const { bed, collector, seconds } = world(rate);
      for (let request = 0; request < requests; request++) {
        bed.ask("GET /version", { headers });
        if (request % 100 === 99) seconds(1);
      }
      seconds(40);
      return collector.spans.length;
    };
    expect([spansOf(undefined, from("01"), 10), spansOf(1_000_000, from("00"), 10)]).toEqual([10, 0]);
    expect([spansOf(undefined, {}, 10), spansOf(0, {}, 10), spansOf(1_000_000, {}, 10)]).toEqual([0, 0, 10]);
    const some = spansOf(250_000, {}, 2_000);
    expect(some).toBeGreaterThan(420);
    expect(some).toBeLessThan(580);
  });

  it("draws the same ids in every run of a seed, and others in another", () => {
    const ids = (seed: string): readonly string[] => {
      const { bed, collector, seconds } = world(1_000_000, undefined, seed);
      for (let request = 0; request < 5; request++) bed.ask(`GET ${configMaps}`, { as: "admin" });
      seconds(10);
      return collector.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`);
    };
    expect(ids("1")).toEqual(ids("1"));
    expect(new Set([...ids("1"), ...ids("2")]).size).toBe(2 * ids("1").length);
  });

  it.each(["down", "refused"] as const)(
    "answers as ever while its collector is %s, and loses what has no room",
    (mood) => {
      const { bed, collector, lines, seconds } = world(1_000_000, { delayMicros: 1_000, mood });
      for (let request = 0; request < 5_000; request++) {
        expect(bed.ask("GET /version", { as: "admin" }).status).toBe(200);
      }
      seconds(1);
      expect(collector.spans).toEqual([]);
      collector.behaviour = { delayMicros: 1_000, mood: "well" };
      seconds(200);
      expect(lines.filter((line) => line.includes("does not take them"))).toHaveLength(1);
      expect(collector.spans.length).toBeLessThanOrEqual(2_048);
      const before = collector.spans.length;
      bed.ask("GET /version", { as: "admin" });
      seconds(10);
      expect(collector.spans.length).toBe(before + 1);
    },
  );
});
