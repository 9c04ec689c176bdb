import { expect, it } from "vitest";
import type { JsonObject } from "../client/types.ts";
import { currentVersions, judgeSameServed, servedByAggregate, servedByList } from "./discovery-law.ts";

const verbs = ["list", "get"];
const list: JsonObject = {
  kind: "APIResourceList",
  groupVersion: "batch/v1",
  resources: [
    { name: "jobs", singularName: "job", namespaced: true, kind: "Job", verbs, categories: ["all"] },
    { name: "jobs/status", singularName: "", namespaced: true, kind: "Job", verbs: ["get"] },
  ],
};
const status = { subresource: "status", responseKind: { group: "", version: "", kind: "Job" }, verbs: ["get"] };
const jobs: JsonObject = {
  resource: "jobs",
  responseKind: { group: "", version: "", kind: "Job" },
  scope: "Namespaced",
  singularResource: "job",
  verbs: ["get", "list"],
  categories: ["all"],
  subresources: [status],
};
const judge = (...resources: JsonObject[]) =>
  judgeSameServed("batch/v1", servedByList(list), servedByAggregate({ version: "v1", resources }));

it("the same in both forms is the same", () => {
  expect(judge(jobs)).toBeUndefined();
  expect(judge(jobs, { resource: "others", scope: "Cluster" })).toBeUndefined(); // without verbs it is not served
});

it.each<[string, JsonObject]>([
  ["no subresource", { ...jobs, subresources: [] }],
  ["another scope", { ...jobs, scope: "Cluster" }],
  ["another kind", { ...jobs, responseKind: { kind: "Work" } }],
  ["other verbs", { ...jobs, verbs: ["get"] }],
  ["no categories", { ...jobs, categories: [] }],
  ["other verbs of a subresource", { ...jobs, subresources: [{ ...status, verbs: ["get", "update"] }] }],
])("rejects %s", (_what, type) => {
  expect(judge(type)).toBeDefined();
});

it("rejects a type that only one of them names", () => {
  expect(judge()).toBeDefined();
  expect(judge(jobs, { ...jobs, resource: "more" })).toBeDefined();
});

it("versions are named with their group, and those that are stale left out", () => {
  const items = [
    { metadata: {}, versions: [{ version: "v1", resources: [], freshness: "Current" }] },
    { metadata: { name: "batch" }, versions: [{ version: "v1" }, { version: "v2", freshness: "Stale" }] },
  ];
  expect([...currentVersions({ items }).keys()]).toEqual(["v1", "batch/v1"]);
});
