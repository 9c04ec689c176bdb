import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";

const services = "/api/v1/namespaces/default/services";

function post(bed: TestBed, name: string, spec: JsonObject = {}, query = ""): Answer {
  return bed.ask(`POST ${services}${query}`, {
    body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
  });
}

describe("addresses of services", () => {
  it("are given out from the upper part of the range, the same ones in every run of a seed", () => {
    const given = (): unknown[] => {
      const bed = new TestBed();
      return ["a", "b", "c"].map((name) => post(bed, name).at("spec.clusterIP"));
    };
    const first = given();
    expect(new Set(first).size).toBe(3);
    for (const address of first) expect(Number(/^10\.0\.0\.(\d+)$/.exec(address as string)?.[1])).toBeGreaterThan(16);
    expect(given()).toEqual(first);
  });

  it("are taken by nobody in a dry run", () => {
    const bed = new TestBed();
    const dry = post(bed, "a", { type: "NodePort" }, "?dryRun=All");
    expect(dry.at("spec.clusterIPs")).toEqual(["10.0.0.0"]);
    expect(dry.at("spec.ports.0.nodePort")).toBe(32_769);
    const after = post(bed, "a", { type: "NodePort" });
    const untouched = post(new TestBed(), "a", { type: "NodePort" });
    expect(after.at("spec")).toEqual(untouched.at("spec"));
  });

  it("are refused when another service has them or they are nobody's, and free after a deletion", () => {
    const bed = new TestBed();
    expect(post(bed, "a", { clusterIP: "10.0.0.9" }).status).toBe(201);
    const taken = post(bed, "b", { clusterIP: "10.0.0.9" });
    expect(taken.status).toBe(422);
    expect(taken.at("details.causes.0")).toEqual({
      reason: "FieldValueInvalid",
      message: 'Invalid value: []string{"10.0.0.9"}: failed to allocate IP 10.0.0.9: provided IP is already allocated',
      field: "spec.clusterIPs",
    });
    for (const address of ["10.0.1.9", "10.0.0.09", "10.0.0.255"]) {
      expect(post(bed, "b", { clusterIP: address }).at("message")).toContain("not in the valid range");
    }
    bed.ask(`DELETE ${services}/a`);
    expect(post(bed, "b", { clusterIP: "10.0.0.9" }).status).toBe(201);
  });

  it("are not looked at when the name is taken", () => {
    const bed = new TestBed();
    expect(post(bed, "a", { clusterIP: "10.0.0.9" }).status).toBe(201);
    expect(post(bed, "a", { clusterIP: "10.0.0.9" }).status).toBe(409);
  });

  it("run out, and say so", () => {
    const bed = new TestBed();
    for (let count = 0; count < 254; count++) expect(post(bed, `s${count}`).status).toBe(201);
    expect(post(bed, "one-more").at("message")).toBe(
      "Internal error occurred: failed to allocate a serviceIP: range is full",
    );
    expect(post(bed, "headless", { clusterIP: "None" }).status).toBe(201);
  });

  it("stay through updates that do not name them, and cannot be changed by one", () => {
    const bed = new TestBed();
    const { spec, metadata } = post(bed, "a", { type: "NodePort" }).body as Record<string, JsonObject>;
    const put = (changes: JsonObject): Answer =>
      bed.ask(`PUT ${services}/a`, { body: { metadata: { name: "a" }, spec: { ports: [{ port: 80 }], ...changes } } });
    expect(metadata?.["name"]).toBe("a");
    expect(put({ type: "NodePort" }).at("spec")).toEqual(spec);
    expect(put({ type: "NodePort", clusterIP: "10.0.0.3" }).at("details.causes.0.field")).toBe("spec.clusterIPs[0]");
    const plain = put({ type: "ClusterIP" });
    expect(plain.at("spec.clusterIP")).toBe(spec?.["clusterIP"]);
    expect(plain.at("spec.ports.0.nodePort")).toBeUndefined();
    const elsewhere = put({ type: "ExternalName", externalName: "x.example" });
    expect(elsewhere.status).toBe(200);
    expect(elsewhere.at("spec.clusterIP")).toBeUndefined();
    expect(put({ type: "ClusterIP" }).at("spec.clusterIP")).toMatch(/^10\.0\.0\./);
  });
});

describe("types that change", () => {
  const patched = (bed: TestBed, spec: JsonObject): Answer =>
    bed.ask(`PATCH ${services}/a`, { body: { spec }, headers: { "content-type": "application/merge-patch+json" } });
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };

  it("take with them what the new type does not have", () => {
    const bed = new TestBed();
    const made = post(bed, "a", { ...local, loadBalancerClass: "a.b/c" });
    expect(made.at("spec.healthCheckNodePort")).toBeGreaterThanOrEqual(30_000);
    const plain = patched(bed, { type: "ClusterIP" });
    expect(plain.status).toBe(200);
    expect(plain.at("spec.clusterIP")).toBe(made.at("spec.clusterIP"));
    const gone = ["allocateLoadBalancerNodePorts", "externalTrafficPolicy", "healthCheckNodePort", "loadBalancerClass"];
    for (const field of gone) expect(plain.at(`spec.${field}`), field).toBeUndefined();
    expect(plain.at("spec.ports.0.nodePort")).toBeUndefined();
    const elsewhere = patched(bed, { type: "ExternalName", externalName: "x.example" });
    expect(elsewhere.at("spec")).toMatchObject({ type: "ExternalName", externalName: "x.example" });
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      expect(elsewhere.at(`spec.${field}`), field).toBeUndefined();
    }
  });

  it("keep the port of health checks, which is the service's own", () => {
    const bed = new TestBed();
    const port = post(bed, "a", local).at("spec.healthCheckNodePort") as number;
    expect(patched(bed, { ports: [{ port: 81 }] }).at("spec.healthCheckNodePort")).toBe(port);
    expect(patched(bed, { healthCheckNodePort: 30_500 }).at("message")).toContain(
      "spec.healthCheckNodePort: Forbidden: field is immutable",
    );
    expect(post(bed, "b", { ...local, healthCheckNodePort: port }).at("message")).toBe(
      `Internal error occurred: failed to allocate requested HealthCheck NodePort ${port}: provided port is already allocated`,
    );
    expect(post(bed, "c", { type: "NodePort", ports: [{ port: 80, nodePort: port }] }).status).toBe(422);
  });

  it("of a balancer without node ports still judge those that are named", () => {
    const bed = new TestBed();
    const bare = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false };
    expect(post(bed, "a", bare).at("spec.ports.0.nodePort")).toBeUndefined();
    expect(post(bed, "b", { ...bare, ports: [{ port: 80, nodePort: 80 }] }).status).toBe(422);
  });
});

describe("families of addresses", () => {
  const refused = (spec: JsonObject): unknown => post(new TestBed(), "a", spec).at("message");

  it("are those that the cluster has", () => {
    expect(refused({ ipFamilyPolicy: "RequireDualStack" })).toContain(
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    );
    expect(refused({ ipFamilies: ["IPv6"] })).toContain(
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    );
    const preferred = post(new TestBed(), "a", { ipFamilyPolicy: "PreferDualStack" });
    expect(preferred.at("spec.ipFamilies")).toEqual(["IPv4"]);
    expect(preferred.at("spec.ipFamilyPolicy")).toBe("PreferDualStack");
  });

  it("of a headless service without a selector are any", () => {
    const bed = new TestBed();
    const open = post(bed, "a", { clusterIP: "None" });
    expect(open.at("spec.ipFamilies")).toEqual(["IPv4", "IPv6"]);
    expect(
      post(bed, "b", { clusterIP: "None", ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" }).at("spec.ipFamilies"),
    ).toEqual(["IPv6"]);
  });
});

describe("node ports", () => {
  const ports = (...list: JsonObject[]): JsonObject => ({ type: "NodePort", ports: list });

  it("are each service's own, but for one number in two protocols", () => {
    const bed = new TestBed();
    const both = ports(
      { name: "t", port: 53, nodePort: 30_053 },
      { name: "u", port: 53, protocol: "UDP", nodePort: 30_053 },
    );
    expect(post(bed, "dns", both).status).toBe(201);
    const other = post(bed, "other", ports({ port: 80, nodePort: 30_053 }));
    expect(other.at("details.causes.0")).toEqual({
      reason: "FieldValueInvalid",
      message: "Invalid value: 30053: provided port is already allocated",
      field: "spec.ports[0].nodePort",
    });
    expect(post(bed, "low", ports({ port: 80, nodePort: 80 })).at("message")).toContain(
      "provided port is not in the valid range. The range of valid ports is 30000-32767",
    );
  });

  it("of one port by two protocols are one number in a new service", () => {
    const made = post(
      new TestBed(),
      "dns",
      ports({ name: "t", port: 53 }, { name: "u", port: 53, protocol: "UDP" }, { name: "h", port: 80 }),
    );
    expect(made.at("spec.ports.1.nodePort")).toBe(made.at("spec.ports.0.nodePort"));
    expect(made.at("spec.ports.2.nodePort")).not.toBe(made.at("spec.ports.0.nodePort"));
  });

  it("are refused on a service without any", () => {
    const answer = post(new TestBed(), "a", { ports: [{ port: 80, nodePort: 30_001 }] });
    expect(answer.at("details.causes.0")).toMatchObject({
      reason: "FieldValueForbidden",
      field: "spec.ports[0].nodePort",
    });
  });

  it("and ports are judged one by one", () => {
    const list = [
      { name: "a", port: 80 },
      { name: "a", port: 80, targetPort: "Not-A-Name--" },
      { name: "B", port: 0, protocol: "ICMP" },
    ];
    const causes = post(new TestBed(), "a", { ports: list }).at("details.causes") as { field: string }[];
    expect(causes.map(({ field }) => field)).toEqual([
      "spec.ports[1].name",
      "spec.ports[1].targetPort",
      "spec.ports[1].targetPort",
      "spec.ports[1].targetPort",
      "spec.ports[2].name",
      "spec.ports[2].port",
      "spec.ports[2].protocol",
      "spec.ports[2].targetPort",
      "spec.ports[1]",
    ]);
  });
});
