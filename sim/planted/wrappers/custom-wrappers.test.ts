import { expect, it } from "vitest";
import { Cluster, definition, widgets } from "../../apiserver/widget-cluster.fixture.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import type { ServerBugName } from "../server-bugs.ts";

const text = { type: "string" };
const parts = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "side"],
  items: { type: "object", properties: { name: text, side: text }, required: ["name", "side"] },
};
const tags = { type: "array", "x-kubernetes-list-type": "set", items: text };
const schemaOf = (more: object) => ({
  openAPIV3Schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { parts, tags, ...more } } },
  },
});

const partsOf = (cluster: Cluster): unknown => cluster.get(`${widgets}/a`).at("spec.parts");

/** For each bug something that a client sees, with what is right. */
const symptoms: Partial<Record<ServerBugName, readonly [right: unknown, see: (cluster: Cluster) => unknown]>> = {
  "pruning-stops-at-lists": [
    [{ name: "p", side: "left" }],
    (cluster) => {
      cluster.widget("a", { parts: [{ name: "p", side: "left", junk: "j" }] });
      return partsOf(cluster);
    },
  ],
  "map-list-by-first-key": [
    [
      { name: "p", side: "left" },
      { name: "p", side: "right" },
    ],
    (cluster) => {
      for (const side of ["left", "right"]) {
        const body = { apiVersion: "shop.example.com/v1", kind: "Widget", metadata: { name: "a" }, spec: {} };
        const headers = { "content-type": "application/apply-patch+yaml" };
        const spec = { parts: [{ name: "p", side }] };
        cluster.bed.ask(`PATCH ${widgets}/a?fieldManager=${side}`, { headers, body: { ...body, spec } });
      }
      return partsOf(cluster);
    },
  ],
  "set-doubles-on-update": [
    [422, 422],
    (cluster) => {
      const doubled = { tags: ["x", "x"] };
      cluster.widget("a");
      return [cluster.widget("b", doubled).status, cluster.bed.merge(`${widgets}/a`, { spec: doubled }).status];
    },
  ],
  "older-objects-get-no-defaults": [
    "blue",
    (cluster) => {
      cluster.widget("a");
      const versions = [
        { name: "v1", served: true, storage: true, schema: schemaOf({ colour: { ...text, default: "blue" } }) },
      ];
      cluster.bed.merge(`${cluster.definitions}/${definition}`, { spec: { versions } });
      cluster.pass(1_000);
      return cluster.get(`${widgets}/a`).at("spec.colour");
    },
  ],
};

for (const [bug, [right, see]] of Object.entries(symptoms) as [
  ServerBugName,
  [unknown, (cluster: Cluster) => unknown],
][]) {
  it(`${bug} shows, and nothing does without it`, () => {
    const clusterWith = (...bugs: ServerBugName[]): Cluster =>
      new Cluster(kubernetesProfile, { bugs }).establish({}, [{ name: "v1", schema: schemaOf({}) }]);
    expect(see(clusterWith())).toEqual(right);
    expect(see(clusterWith(bug))).not.toEqual(right);
  });
}
