import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExperimentFile } from "../load.ts";
import { rangesOf } from "../standing-rows.ts";
import type { Experiment } from "../schema.ts";
import { ClusterShape, ImportError, type Imported } from "./cluster-shape.ts";

const node = (name: string, more: object = {}, labels: object = {}) => ({
  kind: "Node",
  metadata: { name, labels: { "topology.kubernetes.io/zone": "z1", "kubernetes.io/hostname": name, ...labels } },
  spec: {},
  status: {
    capacity: { cpu: "4", memory: "16384000Ki", pods: "110" },
    allocatable: { cpu: "3920m", memory: "15000000Ki" },
  },
  ...more,
});

interface PodFields {
  readonly owner?: readonly [kind: string, name: string];
  readonly labels?: object;
  readonly spec?: object;
  readonly phase?: string;
}

const pod = (
  namespace: string,
  name: string,
  nodeName: string,
  { owner, labels = {}, spec = {}, phase = "Running" }: PodFields = {},
) => ({
  kind: "Pod",
  metadata: {
    name,
    namespace,
    labels,
    ...(owner === undefined ? {} : { ownerReferences: [{ kind: owner[0], name: owner[1], controller: true }] }),
  },
  spec: {
    ...(nodeName === "" ? {} : { nodeName }),
    containers: [{ resources: { requests: { cpu: "100m" } } }],
    ...spec,
  },
  status: { phase },
});

function imported(objects: readonly { readonly kind: string }[], isAnonymous = false): Imported {
  const shape = new ClusterShape();
  for (const object of objects) shape.add(object.kind, object);
  return shape.experiment({ isAnonymous, name: "imported" });
}

const clusterOf = ({ text }: Imported): Experiment["cluster"] =>
  new ExperimentFile(text, "imported.yaml").experiment.cluster;

const web = (index: number, nodeName: string) =>
  pod("shop", `web-5d9-${index}`, nodeName, {
    owner: ["ReplicaSet", "web-5d9"],
    labels: { app: "web", "pod-template-hash": "5d9" },
  });

describe("an imported cluster", () => {
  it("has pools of nodes that are alike, and rows of pods that are", () => {
    const found = imported([
      node("a"),
      node("b"),
      node("c", {
        spec: {
          taints: [
            { key: "gpu", effect: "NoSchedule" },
            { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
          ],
        },
      }),
      web(0, "a"),
      web(1, "b"),
      web(2, "b"),
      web(3, ""),
      pod("shop", "done", "a", { phase: "Succeeded" }),
      pod("shop", "lost", "nowhere"),
      pod("kube-system", "log-1", "c", {
        owner: ["DaemonSet", "log"],
        labels: { "controller-revision-hash": "x", "k8s-app": "log" },
      }),
      { kind: "PriorityClass", metadata: { name: "high" }, value: 7 },
      {
        kind: "PodDisruptionBudget",
        metadata: { name: "web", namespace: "shop" },
        spec: { maxUnavailable: "25%", selector: { matchLabels: { app: "web" } } },
      },
      { kind: "Service" },
    ] as never);
    const { pools, standing, objects, namespaces } = clusterOf(found);
    expect(pools.map(({ count, taints, cpu }) => [count, taints.map(({ key }) => key), cpu])).toEqual([
      [2, [], "3920m"],
      [1, ["gpu"], "3920m"],
    ]);
    // What an agent keeps free of memory comes on top of what pods may have.
    expect(pools[0]?.memory).toBe(`${Math.ceil((15_000_000 / 1024 + 100) / 64) * 64}Mi`);
    expect(
      standing.map(({ name, namespace, owner, on, waiting, labels }) => ({
        name,
        namespace,
        owner,
        on,
        waiting,
        labels,
      })),
    ).toEqual([
      {
        name: "log",
        namespace: "kube-system",
        owner: "DaemonSet",
        on: { "pool-2": "0" },
        waiting: 0,
        labels: { "k8s-app": "log" },
      },
      {
        name: "web",
        namespace: "shop",
        owner: "Deployment",
        on: { "pool-1": "0 1*2" },
        waiting: 1,
        labels: { app: "web" },
      },
    ]);
    expect(objects).toMatchObject([
      { kind: "PriorityClass", value: 7 },
      { kind: "PodDisruptionBudget", spec: { maxUnavailable: "25%" } },
    ]);
    expect(namespaces).toEqual(["kube-system", "shop"]);
    expect(found.counts).toMatchObject({ nodes: 3, pods: 5 });
    expect(found.notes.join("\n")).toContain("1 pods are on nodes that were not given");
    expect(found.notes.join("\n")).toContain("1 Service");
  });

  it("keeps labels of nodes that pods choose them by, and priorities that only pods name", () => {
    const chooses = {
      nodeSelector: { disk: "ssd", "kubernetes.io/hostname": "b" },
      priorityClassName: "late",
      priority: -5,
    };
    const found = imported([
      node("a", {}, { disk: "hdd", other: "1" }),
      node("b", {}, { disk: "ssd", other: "2" }),
      pod("x", "p", "b", { spec: chooses }),
    ]);
    const { pools, standing, objects } = clusterOf(found);
    expect(pools.map(({ labels }) => labels)).toEqual([{ disk: "hdd" }, { disk: "ssd" }]);
    expect(standing[0]).toMatchObject({
      nodeSelector: { disk: "ssd", "kubernetes.io/hostname": "pool-2-0" },
      priorityClass: "late",
    });
    expect(objects).toMatchObject([{ kind: "PriorityClass", metadata: { name: "late" }, value: -5 }]);
  });

  it("counts an object once that was given twice, and two templates of one owner as two rows", () => {
    const other = pod("shop", "web-777-1", "a", {
      owner: ["ReplicaSet", "web-777"],
      labels: { "pod-template-hash": "777" },
      spec: { terminationGracePeriodSeconds: 5 },
    });
    const { standing } = clusterOf(imported([node("a"), web(0, "a"), web(0, "a"), other]));
    expect(standing.map(({ name, on }) => [name, on])).toEqual([
      ["web", { "pool-1": "0" }],
      ["web-2", { "pool-1": "0" }],
    ]);
  });

  it("has every pod where it was, whatever there is", () => {
    const anywhere = fc.record({
      at: fc.nat(6),
      owner: fc.constantFrom("ReplicaSet", "DaemonSet", "Job", ""),
      app: fc.nat(3),
    });
    fc.assert(
      fc.property(
        fc.array(anywhere, { maxLength: 40 }),
        fc.array(fc.nat(2), { minLength: 7, maxLength: 7 }),
        (pods, kinds) => {
          const nodes = kinds.map((kind, index) =>
            node(`n${index}`, { spec: { taints: kind === 0 ? [] : [{ key: `k${kind}`, effect: "NoSchedule" }] } }),
          );
          const found = imported([
            ...nodes,
            ...pods.map(({ at, owner, app }, index) =>
              pod("x", `p${index}`, `n${at}`, owner === "" ? {} : { owner: [owner, `app-${app}`] }),
            ),
          ]);
          const { standing, pools } = clusterOf(found);
          const byPool = new Map<string, number>();
          for (const { on } of standing)
            for (const [pool, text] of Object.entries(on))
              for (const { first, last, count } of rangesOf(text))
                byPool.set(pool, (byPool.get(pool) ?? 0) + (last - first + 1) * count);
          const wanted = new Map<string, number>();
          for (const { at } of pods) {
            const kind = kinds[at] ?? 0;
            const pool = pools.find(({ taints }) => (taints[0]?.key ?? "k0") === `k${kind}`)?.name ?? "";
            wanted.set(pool, (wanted.get(pool) ?? 0) + 1);
          }
          expect(byPool).toEqual(wanted);
        },
      ),
      { seed: 5, numRuns: 60 },
    );
  });

  it("refuses what is no cluster, and says where", () => {
    const refusal = (objects: readonly object[]): string => {
      try {
        imported(objects as never);
      } catch (error) {
        if (error instanceof ImportError) return error.message;
        throw error;
      }
      return "taken";
    };
    expect(refusal([])).toContain("no nodes were found");
    expect(refusal([{ kind: "Pod", metadata: { name: "p" } }])).toContain("Pod p: spec");
    expect(refusal([{ ...node("a"), status: { capacity: { cpu: "many" } } }])).toContain("Node a: status.capacity.cpu");
    expect(refusal([null as never].map(() => ({ kind: "Node" })))).toContain("Node: metadata");
  });
});

describe("an anonymous one", () => {
  it("has none of the names, and the same shape", () => {
    const secret = fc.stringMatching(/^[a-z]{3}zq[a-z]{3}$/);
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 12, maxLength: 12 }),
        ([a = "", b = "", c = "", d = "", e = "", f = "", g = "", h = "", i = "", j = "", k = "", l = ""]) => {
          const objects = [
            node(
              a,
              {
                spec: { taints: [{ key: `${b}.example/x`, value: c, effect: "NoSchedule" }] },
                status: { capacity: { cpu: "1", [`${d}.com/gpu`]: "2" } },
              },
              { [e]: f, "topology.kubernetes.io/zone": g, "node.kubernetes.io/instance-type": l },
            ),
            pod(h, `${i}-1`, a, {
              owner: ["StatefulSet", i],
              labels: { [j]: k },
              spec: {
                nodeSelector: { [e]: f, "topology.kubernetes.io/zone": g },
                tolerations: [{ key: `${b}.example/x`, operator: "Equal", value: c }],
                priorityClassName: l,
                containers: [{ resources: { requests: { [`${d}.com/gpu`]: "1" } } }],
              },
            }),
            {
              kind: "PodDisruptionBudget",
              metadata: { name: i, namespace: h },
              spec: {
                minAvailable: 1,
                selector: { matchLabels: { [j]: k }, matchExpressions: [{ key: j, operator: "In", values: [k] }] },
              },
            },
            { kind: `${c}Thing` },
          ] as const;
          const found = imported(objects as never, true);
          expect(found.text).not.toContain("zq");
          expect(found.notes.join()).not.toContain("zq");
          const { pools, standing, objects: made } = clusterOf(found);
          // What chose what still does.
          const labels = { ...pools[0]?.labels, "topology.kubernetes.io/zone": pools[0]?.zones[0] };
          expect(labels).toMatchObject(standing[0]?.nodeSelector ?? {});
          expect(standing[0]?.tolerations[0]).toMatchObject({
            key: pools[0]?.taints[0]?.key,
            value: pools[0]?.taints[0]?.value,
          });
          const budget = made.find(({ kind }) => kind === "PodDisruptionBudget") as {
            readonly spec: { readonly selector: { readonly matchLabels: object } };
          };
          expect(budget.spec.selector.matchLabels).toEqual(standing[0]?.labels);
        },
      ),
      { seed: 3, numRuns: 30 },
    );
  });
});
