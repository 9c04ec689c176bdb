import { describe, expect, it } from "vitest";
import type { JsonObject } from "../http-message.ts";
import { type Answer, TestBed } from "../test-bed.ts";

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
    expect(post(bed, "one-more").at("message")).toBe("failed to allocate a serviceIP: range is full");
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
