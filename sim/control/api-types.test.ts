import { describe, expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../contract/profile.ts";
import { TestBed } from "../apiserver/test-bed.fixture.ts";
import { ApiTypes, pathOf } from "./api-types.ts";
import { ControlClient } from "../client/control-client.ts";
import { noControllers } from "./controllers.ts";
import { Reflectors } from "../client/reflectors.ts";

describe("the types of a server", () => {
  it.each([svcProfile, kubernetesProfile])("are what it says itself ($name)", (profile) => {
    const bed = new TestBed({ profile, controllers: noControllers });
    const { types } = known(bed, profile.dialect);
    const deployment = types.ofKind("apps/v1", "Deployment");
    expect(deployment).toMatchObject({ resource: "deployments", group: "apps", namespaced: true, hasScale: true });
    expect(types.ofKind("v1", "Node")).toMatchObject({ namespaced: false, hasScale: false });
    expect(types.ofKind("apps/v2", "Deployment")).toBeUndefined();
  });

  it("come and go with definitions", () => {
    const { dialect } = kubernetesProfile;
    const bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers });
    const { types, changes } = known(bed, dialect);
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const version = { served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } };
    const versions = [
      { ...version, name: "v1beta1" },
      { ...version, name: "v1", storage: true },
    ];
    const spec = { group: "example.com", scope: "Cluster", names: { plural: "lamps", kind: "Lamp" }, versions };
    bed.ask(`POST ${definitions}`, { as: "admin", body: { metadata: { name: "lamps.example.com" }, spec } });
    bed.advance(1);
    expect(types.ofKind("example.com/v1", "Lamp")).toMatchObject({ resource: "lamps", namespaced: false });
    expect(types.ofKind("example.com/v1beta1", "Lamp")).toBeDefined();
    const lamps = types.preferred().filter(({ resource }) => resource === "lamps");
    expect(lamps.map(({ apiVersion }) => apiVersion)).toEqual(["example.com/v1"]);
    expect(changes.count).toBe(1);
    bed.ask(`DELETE ${definitions}/lamps.example.com`, { as: "admin" });
    bed.advance(5);
    expect(types.ofKind("example.com/v1", "Lamp")).toBeUndefined();
  });

  it("have paths", () => {
    const map = {
      group: "",
      apiVersion: "v1",
      kind: "C",
      resource: "cs",
      namespaced: true,
      verbs: [],
      hasScale: false,
    };
    const role = { ...map, group: "g", apiVersion: "g/v1", namespaced: false };
    expect([pathOf(map, "n", "a"), pathOf(map, "n", ""), pathOf(map, "", "")]).toEqual([
      "/api/v1/namespaces/n/cs/a",
      "/api/v1/namespaces/n/cs",
      "/api/v1/cs",
    ]);
    expect(pathOf(role, "ignored", "a")).toBe("/apis/g/v1/cs/a");
  });
});

function known(bed: TestBed, dialect: typeof kubernetesProfile.dialect) {
  const process = bed.kernel.process("controllers");
  const client = new ControlClient({ process, server: bed.server, dialect, account: "test" });
  const reflectors = new Reflectors(client);
  const types = new ApiTypes(client, reflectors, dialect);
  const changes = { count: 0 };
  types.onChange(() => changes.count++);
  types.start(() => reflectors.start());
  return { types, changes };
}
