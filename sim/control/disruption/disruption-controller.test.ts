import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";

const namespace = "/api/v1/namespaces/default";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const apps = "/apis/apps/v1/namespaces/default";
const admin = { as: "admin" };
const labels = { app: "shop" };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Pods that run, as their nodes' agents would say, and budgets over them. */
class Shop {
  readonly bed = new TestBed({ profile: kubernetesProfile });

  constructor() {
    this.bed.advance(1);
  }

  make(path: string, body: object): string {
    const made = this.bed.ask(`POST ${path}`, { ...admin, body });
    if (made.status !== 201) throw new Error(made.text);
    return made.at("metadata.uid") as string;
  }

  pod(name: string, { ready = true, owner }: { ready?: boolean; owner?: Owner } = {}): void {
    const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }];
    const spec = { nodeName: "node", terminationGracePeriodSeconds: 30, ...template.spec };
    this.make(`${namespace}/pods`, { metadata: { name, labels, ownerReferences }, spec });
    this.status(name, ready);
  }

  status(name: string, ready: boolean): void {
    const status = { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
    const said = this.bed.merge(`${namespace}/pods/${name}/status`, { status }, admin);
    if (said.status !== 200) throw new Error(said.text);
  }

  budget(spec: object, name = "shop"): void {
    this.make(budgets, { metadata: { name }, spec: { selector, ...spec } });
    this.bed.advance(1);
  }

  /** Healthy, desired, expected, allowed. */
  counts(name = "shop"): readonly unknown[] {
    const answer = this.bed.ask(`GET ${budgets}/${name}`, admin);
    return ["currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed"].map((field) =>
      answer.at(`status.${field}`),
    );
  }

  condition(name = "shop"): Record<string, unknown> {
    return (
      (this.bed.ask(`GET ${budgets}/${name}`, admin).at("status.conditions") as Record<string, unknown>[])[0] ?? {}
    );
  }

  evict(name: string, query = ""): ReturnType<TestBed["ask"]> {
    return this.bed.ask(`POST ${namespace}/pods/${name}/eviction${query}`, { ...admin, body: { metadata: { name } } });
  }

  reasons(): readonly string[] {
    const events = this.bed.ask(`GET ${namespace}/events`, admin).at("items") as { reason: string }[];
    return events.map(({ reason }) => reason);
  }
}

const refused = (needs: number, has: number) => [
  {
    reason: "DisruptionBudget",
    message: `The disruption budget shop needs ${needs} healthy pods and has ${has} currently`,
  },
];

describe("a disruption budget", () => {
  it("follows its pods, and refuses an eviction too many", () => {
    const shop = new Shop();
    for (const name of ["a", "b", "c"]) shop.pod(name);
    const early = shop.make(budgets, { metadata: { name: "shop" }, spec: { selector, minAvailable: 2 } });
    expect(early).not.toBe("");
    expect(shop.evict("a").at("details")).toMatchObject({ retryAfterSeconds: 10 });
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([3, 2, 3, 1]);
    expect(shop.condition()).toMatchObject({ status: "True", reason: "SufficientPods", observedGeneration: 1 });
    expect(shop.evict("a", "?dryRun=All").status).toBe(201);
    expect(shop.counts()).toEqual([3, 2, 3, 1]);
    expect(shop.evict("a").status).toBe(201);
    expect(shop.condition()).toMatchObject({ status: "False", reason: "InsufficientPods" });
    const second = shop.evict("b");
    expect([second.status, second.at("details.causes")]).toEqual([429, refused(2, 3)]);
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([2, 2, 3, 0]);
    shop.pod("d");
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([3, 2, 4, 1]);
    expect(shop.evict("b").status).toBe(201);
    const pod = shop.bed.ask(`GET ${namespace}/pods/b`, admin);
    expect(pod.at("status.conditions")).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", reason: "EvictionByEvictionAPI" }),
    );
  });

  it("follows a pod that leaves its labels, and its own spec", () => {
    const shop = new Shop();
    for (const name of ["a", "b"]) shop.pod(name);
    shop.budget({ minAvailable: 1 });
    expect(shop.counts()).toEqual([2, 1, 2, 1]);
    shop.bed.merge(`${namespace}/pods/a`, { metadata: { labels: { app: "other" } } }, admin);
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([1, 1, 1, 0]);
    shop.bed.merge(`${budgets}/shop`, { spec: { minAvailable: 0 } }, admin);
    expect(shop.evict("b").at("details.retryAfterSeconds")).toBe(10);
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([1, 0, 1, 1]);
  });

  it("gives an eviction up after two minutes in which the pod has not gone", () => {
    const shop = new Shop();
    for (const name of ["a", "b"]) shop.pod(name);
    shop.budget({ minAvailable: 1 });
    const status = { disruptedPods: { a: "2030-01-01T00:00:02Z" } }; // as an eviction that then came to nothing
    shop.bed.merge(`${budgets}/shop/status`, { status }, admin);
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([1, 1, 2, 0]);
    shop.bed.advance(117);
    expect(shop.counts()).toEqual([1, 1, 2, 0]);
    shop.bed.advance(3);
    expect(shop.counts()).toEqual([2, 1, 2, 1]);
    expect(shop.reasons()).toContain("NotDeleted");
  });

  it("without pods allows nothing, and says so", () => {
    const shop = new Shop();
    shop.budget({ minAvailable: 0 });
    expect(shop.counts()).toEqual([0, 0, 0, 0]);
    expect(shop.reasons()).toEqual(["NoPods"]);
  });

  it("costs nothing while nothing happens", () => {
    const shop = new Shop();
    shop.pod("a");
    shop.budget({ minAvailable: 1 });
    const { revision } = shop.bed.store;
    const { count } = shop.bed.kernel.trace;
    shop.bed.advance(3600);
    expect(shop.bed.store.revision).toBe(revision);
    expect(shop.bed.kernel.trace.count - count).toBeLessThan(50); // what the server itself does in an hour
  });
});

describe("a bound that depends on what controllers want", () => {
  const spec = { replicas: 4, selector, template };

  it.each([
    ["ReplicaSet", `${apps}/replicasets`, "apps/v1", spec],
    ["StatefulSet", `${apps}/statefulsets`, "apps/v1", { ...spec, serviceName: "s" }],
    ["ReplicationController", `${namespace}/replicationcontrollers`, "v1", { ...spec, selector: labels }],
  ])("counts the scale of a %s", (kind, path, apiVersion, body) => {
    const shop = new Shop();
    const uid = shop.make(path, { metadata: { name: "set" }, spec: body });
    for (const name of ["a", "b", "c"]) shop.pod(name, { owner: { apiVersion, kind, name: "set", uid } });
    shop.budget({ maxUnavailable: "50%" });
    expect(shop.counts()).toEqual([3, 2, 4, 1]);
  });

  it("counts the Deployment of a ReplicaSet, once for all its sets", () => {
    const shop = new Shop();
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
    const uid = shop.make(`${apps}/deployments`, { metadata: { name: "d" }, spec: { ...spec, replicas: 10 } });
    for (const name of ["old", "new"]) {
      const ownerReferences = [{ ...deployment, uid, controller: true }];
      const setUid = shop.make(`${apps}/replicasets`, { metadata: { name, ownerReferences }, spec });
      shop.pod(`${name}-pod`, { owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: setUid } });
    }
    shop.budget({ minAvailable: "15%" });
    expect(shop.counts()).toEqual([2, 2, 10, 0]);
  });

  it("counts no pod that nobody controls", () => {
    const shop = new Shop();
    shop.pod("a");
    shop.budget({ maxUnavailable: 1 });
    expect(shop.counts()).toEqual([1, 0, 0, 0]);
  });

  it("allows nothing when a controller has no scale, or is not there, and says so to who evicts", () => {
    const shop = new Shop();
    const uid = shop.make(`${apps}/daemonsets`, { metadata: { name: "d" }, spec: { selector, template } });
    shop.pod("a", { owner: { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid } });
    shop.budget({ maxUnavailable: 1 });
    const problem = "daemonsets.apps does not implement the scale subresource";
    expect(shop.condition()).toMatchObject({ status: "False", reason: "SyncFailed", message: problem });
    expect(shop.reasons()).toContain("CalculateExpectedPodCountFailed");
    expect(shop.counts()[3]).toBe(0);
    // The bound is mended: everything is as it should be.
    shop.bed.merge(`${budgets}/shop`, { spec: { maxUnavailable: null, minAvailable: 1 } }, admin);
    shop.bed.advance(1);
    expect(shop.counts()).toEqual([1, 1, 1, 0]);
    shop.bed.merge(`${budgets}/shop`, { spec: { minAvailable: "100%" } }, admin);
    shop.bed.advance(1);
    shop.bed.merge(`${budgets}/shop/status`, { status: { observedGeneration: 3 } }, admin);
    expect(shop.evict("a").at("details.causes")).toEqual([
      {
        reason: "DisruptionBudget",
        message: `The disruption budget shop does not allow evicting pods currently because it failed sync: ${problem}`,
      },
    ]);
  });
});

describe("pods that do not serve", () => {
  it("may go while the others suffice, and always where the budget says so", () => {
    const shop = new Shop();
    shop.pod("a");
    shop.pod("sick", { ready: false });
    shop.budget({ minAvailable: 1 });
    expect(shop.counts()).toEqual([1, 1, 2, 0]);
    expect(shop.evict("a").status).toBe(429);
    expect(shop.evict("sick").status).toBe(201);

    const other = new Shop();
    other.pod("sick", { ready: false });
    other.budget({ minAvailable: 1 });
    expect(other.evict("sick").status).toBe(429);
    other.bed.merge(`${budgets}/shop`, { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } }, admin);
    expect(other.evict("sick").status).toBe(201);
  });
});
