import { describe, expect, it } from "vitest";
import { apps, ClusterBed, deploymentOf } from "../cluster-bed.fixture.ts";
import type { Deployment, ReplicaSet } from "../shared/stored.ts";

const path = `${apps}/deployments/shop`;

function cluster(replicas: number, spec: object = {}): ClusterBed {
  const bed = new ClusterBed();
  bed.make(`${apps}/deployments`, deploymentOf("shop", replicas, spec));
  bed.advance(5);
  return bed;
}

const deployment = (bed: ClusterBed): Deployment => bed.get(path) as unknown as Deployment;
const sets = (bed: ClusterBed): readonly ReplicaSet[] => bed.list<ReplicaSet>(`${apps}/replicasets`);
const sizes = (bed: ClusterBed): object =>
  Object.fromEntries(
    sets(bed).map(({ spec, metadata }) => [
      `${spec.template.spec.containers[0]?.image} r${metadata.annotations?.["deployment.kubernetes.io/revision"]}`,
      spec.replicas,
    ]),
  );
const condition = (bed: ClusterBed, type: string) => {
  const found = deployment(bed).status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
};
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: "c", image: name }] } } } });

describe("a Deployment", () => {
  it("makes a set and its pods, and says when it is through", () => {
    const bed = cluster(3);
    expect(deployment(bed).status).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    expect(condition(bed, "Available")).toBe("True MinimumReplicasAvailable");
    expect(condition(bed, "Progressing")).toBe("True NewReplicaSetAvailable");
    expect(deployment(bed).metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "1" });
    expect(bed.reasons()).toEqual(expect.arrayContaining(["ScalingReplicaSet", "SuccessfulCreate"]));
    const revision = bed.bed.store.revision;
    bed.advance(5);
    expect(bed.bed.store.revision - revision).toBeLessThan(8); // leases of nodes
  });

  it("rolls a new template out within its bounds, and back", () => {
    const bed = cluster(10, {
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
    });
    bed.bed.ask(`PATCH ${path}`, {
      as: "admin",
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: image("shop:2"),
    });
    let fewest = 10;
    let most = 0;
    for (let step = 0; step < 400; step++) {
      bed.advance(0.05);
      const alive = bed.pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ready = alive.filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
      );
      fewest = Math.min(fewest, ready.length);
      most = Math.max(most, alive.length);
    }
    expect([fewest >= 9, most <= 13, most > 10]).toEqual([true, true, true]);
    expect(sizes(bed)).toEqual({ "shop:1 r1": 0, "shop:2 r2": 10 });
    expect(condition(bed, "Progressing")).toBe("True NewReplicaSetAvailable");
    bed.bed.ask(`PATCH ${path}`, {
      as: "admin",
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: image("shop:1"),
    });
    bed.advance(10);
    expect(sizes(bed)).toEqual({ "shop:1 r3": 10, "shop:2 r2": 0 });
    const old = sets(bed).find(({ spec }) => spec.replicas === 10);
    expect(old?.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
  });

  it("replaces all at once only when the old pods have ended", () => {
    const bed = cluster(3, { strategy: { type: "Recreate" } });
    bed.merge(path, { spec: { template: { metadata: { labels: { tier: "new" } } } } });
    for (let step = 0; step < 60; step++) {
      bed.advance(0.1);
      const kinds = new Set(bed.pods().map(({ metadata }) => metadata.labels?.["tier"]));
      expect(kinds.size).toBeLessThan(2);
    }
    expect(bed.pods().map(({ metadata }) => metadata.labels?.["tier"])).toEqual(["new", "new", "new"]);
  });

  it("scales in the middle of a rollout in proportion", () => {
    const bed = cluster(10, { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    bed.isBroken = (pod) => pod.metadata.labels?.["tier"] === "new";
    bed.merge(path, { spec: { template: { metadata: { labels: { tier: "new" } } } } });
    bed.advance(5);
    expect(Object.values(sizes(bed)).sort((left, right) => left - right)).toEqual([5, 8]);
    bed.merge(path, { spec: { replicas: 15 } });
    bed.advance(5);
    expect(Object.values(sizes(bed)).sort((left, right) => left - right)).toEqual([7, 11]);
  });

  it("says when it does not go on in time", () => {
    const bed = cluster(2, { progressDeadlineSeconds: 20 });
    bed.isBroken = () => true;
    bed.merge(path, { spec: { template: { metadata: { labels: { tier: "new" } } } } });
    bed.advance(15);
    expect(condition(bed, "Progressing")).toBe("True ReplicaSetUpdated");
    bed.advance(15);
    expect(condition(bed, "Progressing")).toBe("False ProgressDeadlineExceeded");
  });

  it("rests while it is paused, keeps so many old sets, and takes on what it left behind", () => {
    const bed = cluster(2, { revisionHistoryLimit: 1 });
    bed.merge(path, { spec: { paused: true, template: { metadata: { labels: { tier: "a" } } } } });
    bed.advance(5);
    expect(sets(bed)).toHaveLength(1);
    expect(condition(bed, "Progressing")).toBe("Unknown DeploymentPaused");
    bed.merge(path, { spec: { paused: false } });
    bed.advance(10);
    for (const tier of ["b", "c"]) {
      bed.merge(path, { spec: { template: { metadata: { labels: { tier } } } } });
      bed.advance(10);
    }
    expect(sets(bed)).toHaveLength(2);
    bed.bed.ask(`DELETE ${path}?propagationPolicy=Orphan`, { as: "admin" });
    bed.advance(5);
    const orphans = sets(bed).filter(({ metadata }) => metadata.ownerReferences === undefined);
    expect(orphans).toHaveLength(2);
    const { uid } = bed.make(`${apps}/deployments`, deploymentOf("shop", 2))["metadata"] as { uid: string };
    bed.advance(10);
    expect(sets(bed).every(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)).toBe(true);
    expect(deployment(bed).status).toMatchObject({ replicas: 2, availableReplicas: 2 });
  });
});
