import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { TestBed } from "../test-bed.fixture.ts";
import { autoscalerForms } from "./autoscaler-views.ts";

const { toView, toStored } = autoscalerForms(kubernetesDialect);
const first = (stored: JsonObject): JsonObject => toView(stored, "autoscaling/v1");

const share = fc
  .integer({ min: 1, max: 500 })
  .map((averageUtilization) => ({ type: "Utilization", averageUtilization }));
const average = fc.constantFrom("1", "500m", "2Gi").map((averageValue) => ({ type: "AverageValue", averageValue }));
const value = fc.constantFrom("1", "100").map((amount) => ({ type: "Value", value: amount }));
const metric = fc.record(
  { name: fc.constantFrom("packets", "hits"), selector: fc.constant({ matchLabels: { a: "b" } }) },
  { requiredKeys: ["name"] },
);
const reference = { kind: "Ingress", name: "i", apiVersion: "networking.k8s.io/v1" };
const metrics = fc.array(
  fc.oneof(
    fc
      .record({ name: fc.constant("memory"), target: fc.oneof(share, average) })
      .map((resource) => ({ type: "Resource", resource })),
    fc
      .record({ container: fc.constant("c"), name: fc.constant("cpu"), target: share })
      .map((containerResource) => ({ type: "ContainerResource", containerResource })),
    fc.record({ metric, target: average }).map((pods) => ({ type: "Pods", pods })),
    fc
      .record({ describedObject: fc.constant(reference), target: value, metric })
      .map((object) => ({ type: "Object", object })),
    fc.record({ metric, target: fc.oneof(value, average) }).map((external) => ({ type: "External", external })),
  ),
  { maxLength: 4 },
);
const ofProcessors = share.map((target) => ({ type: "Resource", resource: { name: "cpu", target } }));
const behavior = {
  scaleDown: {
    stabilizationWindowSeconds: 60,
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 1, periodSeconds: 9 }],
  },
};

describe("autoscalers", () => {
  it("come back as they were stored from being shown in version 1", () => {
    fc.assert(
      fc.property(fc.option(ofProcessors, { nil: undefined }), metrics, fc.boolean(), (own, others, behaves) => {
        const all = [...(own === undefined ? [] : [own]), ...others];
        const stored = {
          kind: "HorizontalPodAutoscaler",
          apiVersion: "autoscaling/v2",
          metadata: { name: "h", annotations: { mine: "kept" } },
          spec: {
            maxReplicas: 3,
            ...(all.length > 0 ? { metrics: all } : {}),
            ...(behaves ? { behavior } : {}),
          },
          status: { desiredReplicas: 2, currentMetrics: null },
        } as unknown as JsonObject;
        expect(toStored(first(stored))).toEqual(stored);
      }),
    );
  });

  it("show version 1 its share of processors, and all else in annotations", () => {
    const stored = {
      metadata: { name: "h" },
      spec: {
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
          { type: "Pods", pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "1k" } } },
        ],
      },
      status: { desiredReplicas: 1, currentMetrics: null, conditions: [{ type: "AbleToScale", status: "True" }] },
    } as unknown as JsonObject;
    expect(first(stored)).toEqual({
      kind: "HorizontalPodAutoscaler",
      apiVersion: "autoscaling/v1",
      metadata: {
        name: "h",
        annotations: {
          "autoscaling.alpha.kubernetes.io/conditions": '[{"type":"AbleToScale","status":"True"}]',
          "autoscaling.alpha.kubernetes.io/metrics":
            '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"1k"}}]',
        },
      },
      spec: { targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 0, desiredReplicas: 1 },
    });
  });

  it("take from annotations only what has their form", () => {
    const name = "autoscaling.alpha.kubernetes.io/metrics";
    const texts = ["", "{", "null", "[1]", '[{"type":"constructor"}]', '[{"type":"Pods","pods":7}]', '{"a":[]}'];
    for (const text of texts) {
      const object = { metadata: { name: "h", annotations: { [name]: text } }, spec: { maxReplicas: 1 } };
      expect(toStored(object)).toMatchObject({ metadata: { name: "h" }, spec: { maxReplicas: 1 } });
      expect(toStored(object)["spec"]).toEqual({ maxReplicas: 1 });
    }
    fc.assert(
      fc.property(fc.json(), (text) => {
        toStored({ metadata: { name: "h", annotations: { [name]: text } }, spec: {} });
      }),
    );
  });
});

it("Both versions are one object to whoever reads, writes and watches it", () => {
  const bed = new TestBed();
  const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const headers = { "content-type": "application/json" };
  const spec = { maxReplicas: 4, scaleTargetRef: { kind: "Deployment", name: "d" } };
  bed.ask("POST /api/v1/namespaces", { headers, body: { metadata: { name: "default" } } });
  const watch = bed.ask(`GET ${path("v1")}?watch=1`);
  const made = bed.ask(`POST ${path("v2")}`, { headers, body: { metadata: { name: "h" }, spec } });
  expect([made.status, made.at("spec.metrics.0.resource.target.averageUtilization")]).toEqual([201, 80]);
  expect(bed.ask(`GET ${path("v1")}/h`).at("spec")).toEqual({
    scaleTargetRef: spec.scaleTargetRef,
    minReplicas: 1,
    maxReplicas: 4,
    targetCPUUtilizationPercentage: 80,
  });
  const patched = bed.ask(`PATCH ${path("v1")}/h`, {
    headers: { "content-type": "application/merge-patch+json" },
    body: { spec: { targetCPUUtilizationPercentage: 33 } },
  });
  expect(patched.status).toBe(200);
  expect(bed.ask(`GET ${path("v2")}/h`).at("spec.metrics.0.resource.target.averageUtilization")).toBe(33);
  bed.advance(1);
  expect(watch.events.map(({ type, object }) => [type, object["apiVersion"]])).toEqual([
    ["ADDED", "autoscaling/v1"],
    ["MODIFIED", "autoscaling/v1"],
  ]);
  expect(bed.ask(`DELETE ${path("v1")}/h`).status).toBe(200);
  expect(bed.ask(`GET ${path("v2")}/h`).status).toBe(404);
});
