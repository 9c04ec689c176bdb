import { describe, expect, it } from "vitest";
import {
  findResource,
  findResourceOfKind,
  groupRows,
  joinGroupVersion,
  resourceRows,
  resourcesOf,
  splitGroupVersion,
} from "./resources.ts";
import { structOfKind } from "./schema.ts";

describe("resource table", () => {
  it("finds every row under its own group, version and plural, and nothing else", () => {
    for (const row of resourceRows) expect(findResource(row.group, row.version, row.resource)).toBe(row);
    expect(findResource("", "v1", "pods/status")).toBeUndefined();
    expect(findResource("apps", "v2", "deployments")).toBeUndefined();
    expect(findResource("core", "v1", "pods")).toBeUndefined();
    expect(findResource("__proto__", "constructor", "toString")).toBeUndefined();
  });

  it("keeps scope, verbs, short names and categories as discovery shows them", () => {
    const pods = findResource("", "v1", "pods");
    expect(pods).toMatchObject({ kind: "Pod", namespaced: true, shortNames: ["po"], categories: ["all"] });
    expect(pods?.type?.name).toBe("core.v1.Pod");
    expect(pods?.subresources.map((row) => row.subresource)).toEqual([
      "attach",
      "binding",
      "ephemeralcontainers",
      "eviction",
      "exec",
      "log",
      "portforward",
      "proxy",
      "resize",
      "status",
    ]);
    const namespaces = findResource("", "v1", "namespaces");
    expect(namespaces?.namespaced).toBe(false);
    expect(namespaces?.verbs).toEqual(["create", "delete", "get", "list", "patch", "update", "watch"]); // no deletecollection
  });

  it("gives subresources of another group their own group and version", () => {
    const foreign = resourceRows.flatMap((row) =>
      row.subresources
        .filter((sub) => sub.foreign)
        .map((sub) => `${row.resource}/${sub.subresource} ${sub.group}/${sub.version} ${sub.kind}`),
    );
    expect(foreign).toEqual([
      "deployments/scale autoscaling/v1 Scale",
      "replicasets/scale autoscaling/v1 Scale",
      "statefulsets/scale autoscaling/v1 Scale",
      "pods/eviction policy/v1 Eviction",
      "replicationcontrollers/scale autoscaling/v1 Scale",
      "serviceaccounts/token authentication.svc.io/v1 TokenRequest",
    ]);
  });

  it("has a type for every resource", () => {
    expect(resourceRows.filter((row) => row.type === undefined)).toEqual([]);
  });

  it("has a List kind for every resource that can be listed", () => {
    const listed = resourceRows.filter((row) => row.verbs.includes("list"));
    expect(listed.filter((row) => structOfKind(row.groupVersion, `${row.kind}List`) === undefined)).toEqual([]);
  });

  it("lists groups in discovery order, each with versions that exist, and misses none", () => {
    expect(groupRows.slice(0, 4).map((row) => row.group)).toEqual([
      "apiregistration.svc.io",
      "apps",
      "events.svc.io",
      "authentication.svc.io",
    ]);
    const served = new Set(resourceRows.filter((row) => row.group !== "").map((row) => row.group));
    expect(new Set(groupRows.map((row) => row.group))).toEqual(served);
    for (const { group, versions, preferredVersion } of groupRows) {
      expect(versions).toContain(preferredVersion);
      for (const version of versions) expect(resourcesOf(group, version).length).toBeGreaterThan(0);
    }
  });

  it("finds a resource by kind", () => {
    expect(findResourceOfKind("coordination.svc.io", "v1", "Lease")?.resource).toBe("leases");
    expect(findResourceOfKind("", "v1", "Lease")).toBeUndefined();
  });

  it("splits and joins group versions", () => {
    expect(splitGroupVersion("v1")).toEqual(["", "v1"]);
    expect(splitGroupVersion("apps/v1")).toEqual(["apps", "v1"]);
    for (const row of resourceRows)
      expect(joinGroupVersion(...splitGroupVersion(row.groupVersion))).toBe(row.groupVersion);
  });
});
