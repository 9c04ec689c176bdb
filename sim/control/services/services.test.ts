import { describe, expect, it } from "vitest";
import { apps, ClusterBed, core, deploymentOf } from "../cluster-bed.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";

const slices = (bed: ClusterBed) =>
  bed
    .list<JsonObject>("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")
    .filter(({ metadata }) => String((metadata as JsonObject)["name"]).startsWith("shop"));
const endpoints = (bed: ClusterBed) => slices(bed).flatMap((slice) => (slice["endpoints"] ?? []) as JsonObject[]);
const service = (more: object = {}) => ({
  metadata: { name: "shop" },
  spec: { selector: { app: "shop" }, ports: [{ name: "web", port: 80, targetPort: 8080 }], ...more },
});

describe("a Service", () => {
  it("has its pods in Endpoints and in slices, ready or not", () => {
    const bed = new ClusterBed();
    bed.make(`${core}/services`, service());
    bed.advance(1);
    expect(slices(bed)).toMatchObject([
      { addressType: "IPv4", endpoints: [], metadata: { ownerReferences: [{ kind: "Service", name: "shop" }] } },
    ]);
    bed.make(`${apps}/deployments`, deploymentOf("shop", 3));
    bed.advance(5);
    expect(endpoints(bed)).toHaveLength(3);
    expect(endpoints(bed)[0]).toMatchObject({
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: "Pod" },
    });
    expect(slices(bed)[0]).toMatchObject({
      ports: [{ name: "web", port: 8080, protocol: "TCP" }],
      metadata: { labels: { "kubernetes.io/service-name": "shop" } },
    });
    const [pod] = bed.pods();
    bed.merge(`${core}/pods/${pod?.metadata.name}/status`, {
      status: { conditions: [{ type: "Ready", status: "False" }] },
    });
    bed.advance(1);
    const [subset] = bed.get(`${core}/endpoints/shop`)["subsets"] as unknown as {
      addresses: unknown[];
      notReadyAddresses: unknown[];
    }[];
    expect([subset?.addresses.length, subset?.notReadyAddresses.length]).toEqual([2, 1]);
    bed.remove(`${core}/services/shop`);
    bed.advance(2);
    expect([slices(bed), bed.bed.ask(`GET ${core}/endpoints/shop`, { as: "admin" }).status]).toEqual([[], 404]);
  });

  it("fills slices of a hundred and keeps those that are there", () => {
    const bed = new ClusterBed();
    bed.make(`${core}/services`, service());
    bed.make(`${apps}/deployments`, deploymentOf("shop", 250));
    bed.advance(15);
    const lengths = slices(bed).map((slice) => (slice["endpoints"] as unknown[]).length);
    expect([lengths.length, lengths.reduce((sum, one) => sum + one, 0)]).toEqual([3, 250]);
    const names = slices(bed).map(({ metadata }) => (metadata as JsonObject)["name"]);
    bed.merge(`${apps}/deployments/shop`, { spec: { replicas: 240 } });
    bed.advance(5);
    expect(endpoints(bed)).toHaveLength(240);
    expect(slices(bed).map(({ metadata }) => (metadata as JsonObject)["name"])).toEqual(names);
  });
});

it("every namespace gets the account of its pods, and gets it again", () => {
  const bed = new ClusterBed();
  bed.make("/api/v1/namespaces", { metadata: { name: "new" } });
  bed.advance(1);
  const account = "/api/v1/namespaces/new/serviceaccounts/default";
  expect(bed.remove(account)).toBe(200);
  bed.advance(1);
  expect(bed.get(account)["metadata"]).toMatchObject({ name: "default" });
});
