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

  it("are told of every field in order: names first there, then of a form; columns and scales by their paths", () => {
    const names = { plural: "Widgets", singular: "widget", kind: "", listKind: "W_" };
    const columns = [{ name: "", type: "text", format: "int32", jsonPath: "[" }];
    const scale = { specReplicasPath: ".status.size", statusReplicasPath: ".status.size[0]" };
    const version = { name: "v1", additionalPrinterColumns: columns, subresources: { scale } };
    const asked = { group: "one", scope: undefined, names };
    const { body } = new Cluster(kubernetesProfile).define(asked, [version as Version]);
    const { causes } = body["details"] as { causes: { field: string; message: string }[] };
    expect(causes.map(({ field, message }) => `${field}: ${message}`)).toMatchInlineSnapshot(`
      [
        "metadata.name: Invalid value: "widgets.shop.example.com": must be spec.names.plural+"."+spec.group",
        "spec.group: Invalid value: "one": should be a domain with at least one dot",
        "spec.scope: Required value",
        "spec.names.kind: Required value",
        "spec.names.plural: Invalid value: "Widgets": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.names.listKind: Invalid value: "W_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.subresources.scale.specReplicasPath: Invalid value: ".status.size": should be a json path under .spec",
        "spec.subresources.scale.statusReplicasPath: Invalid value: ".status.size[0]": should be a simple json path of fields",
        "spec.additionalPrinterColumns[0].name: Required value",
        "spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string",
        "spec.additionalPrinterColumns[0].JSONPath: Invalid value: "[": is an invalid json path",
      ]
    `);
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
