/** What is remembered of nodes is what would be found out anew: a view that has lived for long against one that has just been made. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { NodeObject, Pod } from "../shared/stored.ts";
import { ClusterView } from "./cluster-view.ts";
import { questionOf, refusalOf } from "./filters.ts";
import { type PodNeeds, podNeeds } from "./pod-needs.ts";
import { scoresOf } from "./scores.ts";

const zone = "topology.svc.io/zone";
const newView = (): ClusterView =>
  new ClusterView({ zoneLabels: [zone], unschedulableTaint: "node.svc.io/unschedulable", namespaceLabels: () => ({}) });

const node = (at: number, cpu: number, pods: number): NodeObject =>
  ({
    metadata: {
      name: `node-${at}`,
      labels: {
        [zone]: `zone-${at % 2}`,
        "kubernetes.io/hostname": `node-${at}`,
        ...(at === 2 ? {} : { rack: "rack-0" }),
      },
    },
    spec: at === 1 ? { taints: [{ key: "t", effect: "NoSchedule" }] } : {},
    status: { allocatable: { cpu: String(cpu), memory: "4Gi", pods: String(pods) } },
  }) as unknown as NodeObject;

interface Size {
  readonly cpu: string | undefined;
  readonly memory: string;
  readonly priority: number;
  readonly label: string | undefined;
  readonly places: object;
}

const pod = (uid: number, { cpu, memory, priority, label, places }: Size): PodNeeds => {
  const requests = { ...(cpu === undefined ? {} : { cpu }), memory };
  const labels = label === undefined ? {} : { labels: { app: label } };
  const metadata = { name: `pod-${uid}`, namespace: "default", uid: String(uid), ...labels };
  return podNeeds({
    metadata,
    spec: { priority, containers: [{ name: "c", image: "app", resources: { requests } }], ...places },
  } as unknown as Pod);
};

const label = fc.constantFrom(undefined, "a", "b");
const topologyKey = fc.constantFrom(zone, "rack", "kubernetes.io/hostname");
const labelSelector = fc.constantFrom(
  { matchLabels: { app: "a" } },
  { matchExpressions: [{ key: "app", operator: "NotIn", values: ["b"] }] },
  { matchExpressions: [{ key: "app", operator: "Exists" }] },
);
const term = fc.record({ topologyKey, labelSelector });
const weighted = fc.record({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: term });
const terms = fc.record({
  requiredDuringSchedulingIgnoredDuringExecution: fc.array(term, { maxLength: 1 }),
  preferredDuringSchedulingIgnoredDuringExecution: fc.array(weighted, { maxLength: 2 }),
});
const constraint = fc.record({
  maxSkew: fc.integer({ min: 1, max: 2 }),
  topologyKey,
  labelSelector,
  whenUnsatisfiable: fc.constantFrom("ScheduleAnyway", "DoNotSchedule"),
  nodeAffinityPolicy: fc.constantFrom("Honor", "Ignore"),
  nodeTaintsPolicy: fc.constantFrom("Honor", "Ignore"),
});
const places = fc.record({
  affinity: fc.record({ podAffinity: terms, podAntiAffinity: terms }, { requiredKeys: [] }),
  topologySpreadConstraints: fc.array(constraint, { maxLength: 2 }),
  nodeSelector: fc.constantFrom({}, { rack: "rack-0" }),
});

const at = fc.integer({ min: 0, max: 3 });
const uid = fc.integer({ min: 0, max: 11 });
const size = fc.record({
  cpu: fc.constantFrom(undefined, "500m", "1", "2500m"),
  memory: fc.constantFrom("100Mi", "1Gi", "3Gi"),
  priority: fc.integer({ min: 0, max: 1 }),
  label,
  places,
});
const step = fc.oneof(
  fc.record({ what: fc.constant("place" as const), uid, at, size }),
  fc.record({ what: fc.constant("displace" as const), uid }),
  fc.record({ what: fc.constant("promise" as const), uid, at, size }),
  fc.record({ what: fc.constant("unpromise" as const), uid }),
  fc.record({
    what: fc.constant("node" as const),
    at,
    cpu: fc.integer({ min: 1, max: 4 }),
    pods: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ what: fc.constant("remove" as const), at }),
);

it("what a view remembers of its nodes is what a new one finds", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.array(size, { minLength: 1, maxLength: 3 }), (steps, asked) => {
      const old = newView();
      const done: ((view: ClusterView) => void)[] = [];
      const act = (work: (view: ClusterView) => void): void => {
        done.push(work);
        work(old);
      };
      for (const name of [0, 1, 2]) act((view) => view.setNode(node(name, 4, 5)));
      for (const one of steps) {
        if (one.what === "node") act((view) => view.setNode(node(one.at, one.cpu, one.pods)));
        else if (one.what === "remove") act((view) => view.removeNode(`node-${one.at}`));
        else if (one.what === "displace") act((view) => view.displace(String(one.uid)));
        else if (one.what === "unpromise") act((view) => view.unpromise(String(one.uid)));
        else {
          const needs = pod(one.uid, one.size);
          act((view) => view[one.what](needs, `node-${one.at}`));
        }
        const anew = newView();
        for (const work of done) work(anew);
        for (const each of asked) {
          const needs = pod(99, each);
          expect(found(old, needs)).toEqual(found(anew, needs));
        }
      }
    }),
    { seed: 5, numRuns: 60 },
  );
});

function found(view: ClusterView, needs: PodNeeds): unknown {
  const question = questionOf(needs, view);
  const refusals = view.nodes().map((info) => refusalOf(question, info));
  return { refusals, scores: scoresOf(question, view.nodes(), { zone }) };
}
