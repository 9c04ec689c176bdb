import { describe, expect, it } from "vitest";
import type { ManagedFieldsEntry } from "../contract/objects.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { type Answer, TestBed } from "./test-bed.fixture.ts";

const schema = (listType: "set" | "atomic") => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "integer" },
          color: { type: "string" },
          tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": listType },
          groups: {
            type: "object",
            additionalProperties: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": listType },
          },
        },
      },
    },
  },
});

const group = "shop.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const bedWithVersions = (): TestBed => {
  const bed = new TestBed({ profile: kubernetesProfile });
  const made = bed.ask(`POST ${definitions}`, {
    body: {
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [
          { name: "v1", served: true, storage: true, schema: schema("set") },
          { name: "v2", served: true, storage: false, schema: schema("atomic") },
        ],
      },
    },
  });
  expect(made.status).toBe(201);
  bed.advance(1);
  return bed;
};

const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/widgets/a`;
const apply = (bed: TestBed, version: string, manager: string, spec: object, query = ""): Answer =>
  bed.ask(`PATCH ${path(version)}?fieldManager=${manager}${query}`, {
    headers: { "content-type": "application/apply-patch+yaml" },
    body: { apiVersion: `${group}/${version}`, kind: "Widget", metadata: { name: "a" }, spec },
  });

const owners = (answer: Answer): Record<string, unknown> =>
  Object.fromEntries(
    (answer.at("metadata.managedFields") as readonly ManagedFieldsEntry[]).map((entry) => [
      `${entry.manager} ${entry.apiVersion?.split("/")[1]}`,
      (entry.fieldsV1 as Record<string, unknown>)["f:spec"],
    ]),
  );

describe("who wrote through another version", () => {
  it("is in the way of an applier of this one, and loses what is taken by force", () => {
    const bed = bedWithVersions();
    expect(apply(bed, "v1", "alpha", { size: 1, color: "red" }).status).toBe(201);
    const refused = apply(bed, "v2", "beta", { size: 2 });
    expect([refused.status, refused.at("message")]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "alpha": .spec.size',
    ]);
    expect(owners(apply(bed, "v2", "beta", { size: 2 }, "&force=true"))).toEqual({
      "alpha v1": { "f:color": {} },
      "beta v2": { "f:size": {} },
    });
  });

  it("loses to an update what that changes, path by path in the version of each", () => {
    const bed = bedWithVersions();
    apply(bed, "v1", "alpha", { size: 1, tags: ["a", "b"] });
    apply(bed, "v2", "beta", { size: 1, tags: ["a", "b"] });
    const patched = bed.merge(`${path("v1")}?fieldManager=gamma`, { spec: { tags: ["a", "c"] } });
    expect(owners(patched)).toEqual({
      "alpha v1": { "f:size": {}, "f:tags": { 'v:"a"': {} } },
      "beta v2": { "f:size": {} },
      "gamma v1": { "f:tags": { 'v:"c"': {} } },
    });
  });

  it("is the same applier in the next version", () => {
    const bed = bedWithVersions();
    apply(bed, "v1", "alpha", { size: 1, color: "red" });
    const again = apply(bed, "v2", "alpha", { size: 2 });
    expect(owners(again)).toEqual({ "alpha v2": { "f:size": {} } });
    expect(again.at("spec")).toEqual({ size: 2 });
  });

  it("is forgotten with the version", () => {
    const bed = bedWithVersions();
    apply(bed, "v1", "alpha", { size: 1 });
    const managedFields = (apply(bed, "v2", "beta", { color: "red" }).at("metadata.managedFields") as object[]).map(
      (entry) => ({ ...entry, apiVersion: (entry as ManagedFieldsEntry).apiVersion?.replace("v2", "v0") }),
    );
    const edited = bed.merge(path("v1"), { metadata: { managedFields } });
    expect(Object.keys(owners(edited))).toEqual(["alpha v1", "beta v0"]);
    const after = bed.merge(`${path("v1")}?fieldManager=gamma`, { spec: { size: 3 } });
    expect(Object.keys(owners(after))).toEqual(["gamma v1"]);
  });
});

it("values of a map are of the kinds that their schema says", () => {
  const bed = bedWithVersions();
  expect(apply(bed, "v1", "alpha", { groups: { m: ["x"] } }).status).toBe(201);
  const both = apply(bed, "v1", "beta", { groups: { m: ["y"] } });
  expect([both.status, both.at("spec.groups.m")]).toEqual([200, ["x", "y"]]);
  const own = (value: string): object => ({ "f:groups": { "f:m": { ".": {}, [`v:"${value}"`]: {} } } });
  expect(owners(both)).toEqual({ "alpha v1": own("x"), "beta v1": own("y") });
});
