import { describe, expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { TestBed } from "../test-bed.fixture.ts";

describe.each([
  [kubernetesProfile, "kube-apiserver-1.33"],
  [svcProfile, "svc-apiserver-1.33"],
])("what a cluster begins with ($name)", (profile, manager) => {
  it("is owned by the server: an applier who wants it otherwise meets that, and nobody without a name", () => {
    const bed = new TestBed({ profile });
    const path = "/api/v1/namespaces/default";
    const label = `${profile.dialect.labelSuffix}/metadata.name`;
    expect(bed.ask(`GET ${path}`).at("metadata.managedFields.0")).toMatchObject({
      manager,
      operation: "Update",
      fieldsV1: { "f:metadata": { "f:labels": { ".": {}, [`f:${label}`]: {} } } },
    });
    const applied = bed.ask(`PATCH ${path}?fieldManager=me`, {
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { [label]: "other" } } },
    });
    expect(applied.at("message")).toBe(
      `Apply failed with 1 conflict: conflict with "${manager}" using v1: .metadata.labels.${label}`,
    );
  });
});

describe("the service by which the server is reached", () => {
  const objectsOf = (bed: TestBed): readonly unknown[] =>
    ["/api/v1/namespaces/default/services", "/api/v1/namespaces/default/endpoints", slices].flatMap(
      (path) => bed.ask(`GET ${path}`).at("items") as readonly unknown[],
    );
  const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

  it("is there, with its endpoints, where the profile has it", () => {
    const ports = [{ name: "https", port: 6443, protocol: "TCP" }];
    expect(objectsOf(new TestBed({ profile: kubernetesProfile }))).toMatchObject([
      {
        metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
        spec: { clusterIP: "10.0.0.1", ports: [{ name: "https", port: 443, targetPort: 6443 }], type: "ClusterIP" },
        status: { loadBalancer: {} },
      },
      {
        metadata: { name: "kubernetes", labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
        subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports }],
      },
      {
        metadata: { name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
        addressType: "IPv4",
        endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
        ports,
      },
    ]);
    expect(objectsOf(new TestBed({ profile: kubernetesProfile, bootstrap: false }))).toEqual([]);
    const documents = new TestBed().ask("GET /api/v1/services");
    expect(documents.at("items")).toEqual([]);
  });

  it("leads to where the server listens, once that is known and if it is an address", () => {
    const bed = new TestBed({ profile: kubernetesProfile, advertisedUrl: () => "https://[2001:db8::1]:8443" });
    expect(objectsOf(bed)).toEqual([]);
    bed.server.advertise("https://[2001:db8::1]:8443");
    expect(objectsOf(bed)).toMatchObject([
      { spec: { ports: [{ port: 443, targetPort: 8443 }] } },
      { subsets: [{ addresses: [{ ip: "2001:db8::1" }], ports: [{ port: 8443 }] }] },
      { addressType: "IPv6", endpoints: [{ addresses: ["2001:db8::1"] }] },
    ]);
    const named = new TestBed({ profile: kubernetesProfile, advertisedUrl: () => "https://example.org" });
    named.server.advertise("https://example.org");
    expect(objectsOf(named)).toMatchObject([{ spec: { ports: [{ targetPort: 443 }] } }]);
  });
});
