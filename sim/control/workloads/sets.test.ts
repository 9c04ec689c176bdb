import { describe, expect, it } from "vitest";
import { apps, ClusterBed, templateOf } from "../cluster-bed.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Pod } from "../shared/stored.ts";

const selector = { matchLabels: { app: "db" } };
const names = (bed: ClusterBed): readonly string[] => bed.pods().map(({ metadata }) => metadata.name);
const tiers = (bed: ClusterBed): object =>
  Object.fromEntries(bed.pods().map(({ metadata }) => [metadata.name, metadata.labels?.["tier"] ?? "old"]));
const roll = (bed: ClusterBed, resource: string): void => {
  bed.merge(`${apps}/${resource}/db`, { spec: { template: { metadata: { labels: { tier: "new" } } } } });
};

describe("a StatefulSet", () => {
  const make = (bed: ClusterBed, spec: object = {}) =>
    bed.make(`${apps}/statefulsets`, {
      metadata: { name: "db" },
      spec: { replicas: 3, serviceName: "db", selector, template: templateOf("db"), ...spec },
    });
  const status = (bed: ClusterBed) => bed.get(`${apps}/statefulsets/db`)["status"];

  it("makes its pods one after another with claims of their own, and takes them away from the end", () => {
    const bed = new ClusterBed();
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    make(bed, { volumeClaimTemplates: [claim] });
    const seen: string[] = [];
    for (let step = 0; step < 60; step++) {
      bed.advance(0.1);
      for (const name of names(bed)) if (!seen.includes(name)) seen.push(name);
    }
    expect(seen).toEqual(["db-0", "db-1", "db-2"]);
    expect(status(bed)).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
    });
    const claims = bed
      .list<Pod>("/api/v1/namespaces/default/persistentvolumeclaims")
      .map(({ metadata }) => metadata.name);
    expect(claims).toEqual(["data-db-0", "data-db-1", "data-db-2"]);
    expect(bed.pods()[1]?.spec).toMatchObject({
      hostname: "db-1",
      subdomain: "db",
      volumes: expect.arrayContaining([{ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } }]),
    });
    bed.merge(`${apps}/statefulsets/db`, { spec: { replicas: 1 } });
    bed.advance(5);
    expect(names(bed)).toEqual(["db-0"]);
    expect(bed.list("/api/v1/namespaces/default/persistentvolumeclaims")).toHaveLength(3);
  });

  it("waits for the one before, unless it is to make all at once", () => {
    const bed = new ClusterBed();
    bed.isBroken = ({ metadata }) => metadata.name === "db-1";
    make(bed);
    bed.advance(5);
    expect(names(bed)).toEqual(["db-0", "db-1"]);
    const parallel = new ClusterBed();
    parallel.isBroken = ({ metadata }) => metadata.name === "db-0";
    make(parallel, { podManagementPolicy: "Parallel" });
    parallel.advance(5);
    expect(names(parallel)).toHaveLength(3);
  });

  it("updates from the end down to its partition, and then the rest", () => {
    const bed = new ClusterBed();
    make(bed, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } });
    bed.advance(6);
    roll(bed, "statefulsets");
    bed.advance(6);
    expect(tiers(bed)).toEqual({ "db-0": "old", "db-1": "old", "db-2": "new" });
    expect(status(bed)).toMatchObject({ updatedReplicas: 1, currentReplicas: 2 });
    bed.remove("/api/v1/namespaces/default/pods/db-0");
    bed.advance(3);
    expect(tiers(bed)).toEqual({ "db-0": "old", "db-1": "old", "db-2": "new" });
    bed.merge(`${apps}/statefulsets/db`, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    bed.advance(8);
    expect(tiers(bed)).toEqual({ "db-0": "new", "db-1": "new", "db-2": "new" });
    const { currentRevision, updateRevision } = status(bed) as { currentRevision: string; updateRevision: string };
    expect(currentRevision).toBe(updateRevision);
    expect(bed.list<JsonObject>(`${apps}/controllerrevisions`).map(({ revision }) => revision)).toEqual(
      expect.arrayContaining([1, 2]),
    );
  });
});

describe("a DaemonSet", () => {
  const make = (bed: ClusterBed, spec: object = {}) =>
    bed.make(`${apps}/daemonsets`, {
      metadata: { name: "db" },
      spec: { selector, template: templateOf("db"), ...spec },
    });
  const status = (bed: ClusterBed) => bed.get(`${apps}/daemonsets/db`)["status"];

  it("has a pod on each node that will have it, also on one that comes later or is closed", () => {
    const taints = [{ key: "dedicated", value: "x", effect: "NoSchedule" }];
    const bed = new ClusterBed({ nodes: 3, binder: "scheduler", shapeOf: (at) => (at === 2 ? { taints } : {}) });
    bed.merge("/api/v1/nodes/node-1", { spec: { unschedulable: true } });
    make(bed);
    bed.advance(5);
    expect(
      bed
        .pods()
        .map(({ spec }) => spec.nodeName)
        .sort((left = "", right = "") => (left < right ? -1 : 1)),
    ).toEqual(["node-0", "node-1"]);
    expect(status(bed)).toMatchObject({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      numberReady: 2,
      numberAvailable: 2,
      updatedNumberScheduled: 2,
    });
    bed.addNode();
    bed.advance(5);
    expect(bed.pods()).toHaveLength(3);
    bed.merge("/api/v1/nodes/node-0", { metadata: { labels: { role: "none" } } });
    bed.merge(`${apps}/daemonsets/db`, {
      spec: {
        template: {
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key: "role", operator: "DoesNotExist" }] }],
                },
              },
            },
          },
        },
      },
    });
    bed.advance(20);
    expect(bed.pods().map(({ spec }) => spec.nodeName)).not.toContain("node-0");
  });

  it("replaces old pods node by node", () => {
    const bed = new ClusterBed({ nodes: 4, binder: "scheduler" });
    make(bed);
    bed.advance(5);
    roll(bed, "daemonsets");
    let fewest = 4;
    for (let step = 0; step < 150; step++) {
      bed.advance(0.1);
      fewest = Math.min(
        fewest,
        bed
          .pods()
          .filter(
            (pod) =>
              pod.metadata.deletionTimestamp === undefined &&
              pod.status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
          ).length,
      );
    }
    expect([fewest, Object.values(tiers(bed))]).toEqual([3, ["new", "new", "new", "new"]]);
  });
});
