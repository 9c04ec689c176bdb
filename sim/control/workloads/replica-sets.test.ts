import { describe, expect, it } from "vitest";
import { apps, ClusterBed, core, templateOf } from "../cluster-bed.fixture.ts";
import type { ReplicaSet } from "../shared/stored.ts";

const set = (replicas: number) => ({
  metadata: { name: "shop" },
  spec: { replicas, selector: { matchLabels: { app: "shop" } }, template: templateOf("shop") },
});
const status = (bed: ClusterBed) => (bed.get(`${apps}/replicasets/shop`) as unknown as ReplicaSet).status;

describe("a ReplicaSet", () => {
  it("takes on orphans before it makes pods, and lets go of what it no longer chooses", () => {
    const bed = new ClusterBed();
    bed.make(`${core}/pods`, {
      metadata: { name: "stray", labels: { app: "shop" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    bed.advance(2);
    bed.make(`${apps}/replicasets`, set(3));
    bed.advance(3);
    expect(bed.pods()).toHaveLength(3);
    expect(bed.get(`${core}/pods/stray`)["metadata"]).toMatchObject({
      ownerReferences: [{ kind: "ReplicaSet", name: "shop", controller: true }],
    });
    bed.merge(`${core}/pods/stray`, { metadata: { labels: { app: "other" } } });
    bed.advance(3);
    expect(bed.pods()).toHaveLength(4);
    expect(bed.get(`${core}/pods/stray`)["metadata"]).not.toHaveProperty("ownerReferences");
    expect(status(bed)).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, fullyLabeledReplicas: 3 });
  });

  it("replaces pods that fail or are deleted, each once", () => {
    const bed = new ClusterBed();
    bed.make(`${apps}/replicasets`, set(3));
    bed.advance(3);
    const [first, second] = bed.pods();
    bed.remove(`${core}/pods/${first?.metadata.name}`);
    bed.merge(`${core}/pods/${second?.metadata.name}/status`, { status: { phase: "Failed" } });
    bed.advance(3);
    expect(bed.pods().filter(({ status }) => status?.phase === "Running")).toHaveLength(3);
    expect(status(bed)).toMatchObject({ replicas: 3, readyReplicas: 3 });
  });

  it("deletes first what costs least: without a node, not ready, of low deletion cost", () => {
    const bed = new ClusterBed();
    bed.make(`${apps}/replicasets`, set(4));
    bed.advance(3);
    const names = bed.pods().map(({ metadata }) => metadata.name);
    bed.merge(`${core}/pods/${names[2]}`, {
      metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-5" } },
    });
    bed.merge(`${core}/pods/${names[1]}/status`, { status: { conditions: [{ type: "Ready", status: "False" }] } });
    bed.advance(1);
    bed.merge(`${apps}/replicasets/shop`, { spec: { replicas: 2 } });
    bed.advance(3);
    expect(bed.pods().map(({ metadata }) => metadata.name)).toEqual([names[0], names[3]]);
  });

  it("goes on step by step under a quota, and says what is refused", () => {
    const bed = new ClusterBed();
    bed.make(`${core}/resourcequotas`, { metadata: { name: "few" }, spec: { hard: { pods: "2" } } });
    bed.merge(`${core}/resourcequotas/few/status`, { status: { hard: { pods: "2" }, used: { pods: "0" } } });
    bed.make(`${apps}/replicasets`, set(5));
    bed.advance(3);
    expect(bed.pods()).toHaveLength(2);
    expect(status(bed)?.conditions).toMatchObject([{ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }]);
    expect(bed.reasons()).toContain("FailedCreate");
    bed.remove(`${core}/resourcequotas/few`);
    bed.advance(60);
    expect(bed.pods()).toHaveLength(5);
    expect(status(bed)?.conditions).toBeUndefined();
  });

  it("a ReplicationController does the same", () => {
    const bed = new ClusterBed();
    bed.make(`${core}/replicationcontrollers`, {
      metadata: { name: "old" },
      spec: { replicas: 2, selector: { app: "old" }, template: templateOf("old") },
    });
    bed.advance(3);
    expect(bed.get(`${core}/replicationcontrollers/old`)["status"]).toMatchObject({ replicas: 2, readyReplicas: 2 });
  });
});
