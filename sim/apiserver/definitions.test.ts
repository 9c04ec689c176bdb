import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import { Cluster, definition, type Version } from "./widget-cluster.fixture.ts";

describe("definitions", () => {
  const causesOf = (spec: Record<string, unknown>, versions?: readonly Version[]): readonly unknown[] => {
    const answer = new Cluster(kubernetesProfile).define(spec, versions);
    return ((answer.body["details"] as { causes?: { field: string }[] })?.causes ?? []).map(({ field }) => field);
  };
  const schema = (openAPIV3Schema: unknown): readonly Version[] => [{ name: "v1", schema: { openAPIV3Schema } }];
  const root = "spec.validation.openAPIV3Schema";

  it("are refused for schemas that are not structural", () => {
    expect(causesOf({}, schema({ type: "object", properties: { spec: { properties: {} } } }))).toEqual([
      `${root}.properties[spec].type`,
    ]);
    expect(causesOf({}, schema({ type: "string" }))).toEqual([`${root}.type`]);
    expect(causesOf({}, schema({ type: "object", properties: { a: { type: "array" } } }))).toEqual([
      `${root}.properties[a].items`,
    ]);
    const wrongDefault = { type: "object", properties: { a: { type: "integer", default: "x" } } };
    expect(causesOf({}, schema(wrongDefault))).toEqual([`${root}.properties[a].default`]);
  });

  it("are refused for junctions that speak of what the schema does not name", () => {
    const spec = { type: "object", properties: { a: { type: "string" } } };
    const junction = { oneOf: [{ required: ["a"], properties: { a: { minLength: 1 } } }, { properties: { b: {} } }] };
    expect(causesOf({}, schema({ type: "object", properties: { spec: { ...spec, ...junction } } }))).toEqual([
      `${root}.properties[spec].properties[b]`,
    ]);
    const anyKey = { type: "object", additionalProperties: { type: "string" }, not: { properties: { b: {} } } };
    expect(causesOf({}, schema({ type: "object", properties: { spec: anyKey } }))).toEqual([]);
  });

  it("are refused for unknown fields to be kept everywhere, and for warnings that fit no header", () => {
    expect(causesOf({ preserveUnknownFields: true })).toEqual(["spec.preserveUnknownFields"]);
    const warn = (deprecationWarning: string): readonly unknown[] =>
      causesOf({}, [{ name: "v1", deprecated: true, deprecationWarning }]);
    expect(warn("moves to v2, ünd ganz 全部")).toEqual([]);
    for (const text of ["", "two\nlines", "x".repeat(257)]) {
      expect(warn(text), text).toEqual(["spec.versions[0].deprecationWarning"]);
    }
  });

  it("are refused for selectable fields that are none, or that no text can be compared with", () => {
    const select = (jsonPath: string): readonly unknown[] =>
      causesOf({}, [{ name: "v1", selectableFields: [{ jsonPath }] }]);
    expect(select(".spec.size")).toEqual([]);
    for (const path of [".spec.absent", ".spec.tags", ".spec"]) {
      expect(select(path), path).toEqual(["spec.selectableFields[0].jsonPath"]);
    }
  });

  it("are refused for conversion webhooks, several storage versions and names of the brand", () => {
    expect(causesOf({ conversion: { strategy: "Webhook" } })).toEqual(["spec.conversion.strategy"]);
    expect(causesOf({}, [{ name: "v1" }, { name: "v2", storage: true }])).toEqual(["spec.versions"]);
    const branded = causesOf({ group: "shop.k8s.io" });
    expect(branded).toContain("metadata.annotations[api-approved.kubernetes.io]");
  });

  it("share no names in a group", () => {
    const cluster = new Cluster(kubernetesProfile).establish();
    const names = { plural: "gadgets", kind: "Widget" };
    const gadgets = `${cluster.definitions}/gadgets.shop.example.com`;
    cluster.post(cluster.definitions, {
      metadata: { name: "gadgets.shop.example.com" },
      spec: {
        group: "shop.example.com",
        scope: "Cluster",
        names,
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    cluster.pass(1_000);
    expect(cluster.get(gadgets).at("status.conditions.0.reason")).toBe("ListKindConflict");
    cluster.bed.ask(`DELETE ${cluster.definitions}/${definition}`, { as: "admin" });
    cluster.pass(5_000);
    expect(cluster.get(gadgets).at("status.conditions.1.status")).toBe("True");
  });
});
