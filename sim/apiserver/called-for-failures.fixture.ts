/**
 * For tests: every 500 that a profile calls for, because the observed server answers so to a mistake of its client.
 * Any other is ours. Each row has requests that prove it; under a profile that it does not name they get no 500.
 */
import type { Profile } from "../contract/profile.ts";
import { type Answer, configMaps, type TestBed } from "./test-bed.fixture.ts";

export interface CalledForFailure {
  readonly when: string;
  readonly profiles: readonly Profile["name"][];
  /** Found in the answer's text, in whatever representation. */
  readonly text: RegExp;
  /** The last request of some, whose answer is the failure. */
  ask(bed: TestBed): Answer;
}

const both = ["svc", "kubernetes"] as const;
const pods = "/api/v1/namespaces/default/pods";
const pod = {
  metadata: { name: "p", labels: { app: "a" }, finalizers: ["example.com/f"] },
  spec: { containers: [{ name: "c", image: "i", args: ["x"] }] },
};

const post = (bed: TestBed, path: string, body: unknown): Answer =>
  bed.ask(`POST ${path}`, { as: "admin", headers: { "content-type": "application/json" }, body });

const patch = (type: string, path: string, body: unknown) => (bed: TestBed) => {
  post(bed, pods, pod);
  return bed.ask(`PATCH ${path}`, { headers: { "content-type": `application/${type}` }, body });
};

const merge = (body: unknown) => patch("strategic-merge-patch+json", `${pods}/p`, body);
const mergeContainers = (...containers: readonly unknown[]) => merge({ spec: { containers } });

export const calledForFailures: readonly CalledForFailure[] = [
  {
    when: "an object to be created has a version",
    profiles: ["kubernetes"],
    text: /resourceVersion should not be set on objects to be created/,
    ask: (bed) => post(bed, configMaps, { metadata: { name: "b", resourceVersion: "5" } }),
  },
  {
    when: "a get asks for a version that is no number",
    profiles: ["kubernetes"],
    text: /resourceVersion: Invalid value: .*strconv\.ParseUint: parsing/,
    ask: (bed) => bed.ask(`GET ${configMaps}/a?resourceVersion=x`),
  },
  {
    when: "a list asks for exactly a version of the future",
    profiles: ["kubernetes"],
    text: /etcdserver: mvcc: required revision is a future revision/,
    ask: (bed) => bed.ask(`GET ${configMaps}?resourceVersion=1000000&resourceVersionMatch=Exact`),
  },
  {
    when: "an update has a version that is no number",
    profiles: both,
    text: /strconv\.ParseUint: parsing .*: invalid syntax/,
    ask(bed) {
      post(bed, configMaps, { metadata: { name: "a" } });
      const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", resourceVersion: "x" } };
      return bed.ask(`PUT ${configMaps}/a`, { headers: { "content-type": "application/json" }, body });
    },
  },
  {
    when: "an applied configuration is not of its type",
    profiles: both,
    text: /failed to create typed patch object \(.*\)/,
    ask: patch("apply-patch+yaml", `${pods}/p?fieldManager=m`, { apiVersion: "v1", kind: "Pod", spec: { x: 1 } }),
  },
  {
    when: "an applied configuration has a number that its type cannot hold",
    profiles: both,
    text: /failed to convert new object \(.*\) to proper\s+version /,
    ask: (bed) => {
      const body = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 2 ** 40 }] } };
      const headers = { "content-type": "application/apply-patch+yaml" };
      return bed.ask("PATCH /api/v1/namespaces/default/services/s?fieldManager=m", { headers, body });
    },
  },
  {
    when: "a strategic patch has an unknown directive",
    profiles: both,
    text: /unknown patch type: .* in map: map\[/,
    ask: merge({ metadata: { $patch: "melt" } }),
  },
  {
    when: "a strategic patch merges a list by a directive",
    profiles: both,
    text: /merging lists cannot yet be specified in the patch/,
    ask: mergeContainers({ name: "c", $patch: "merge" }),
  },
  {
    when: "a strategic patch orders what is no list",
    profiles: both,
    text: /expected a \[\]interface \{\}, but received a /,
    ask: merge({ spec: { "$setElementOrder/containers": "c" } }),
  },
  {
    when: "a strategic patch orders nothing",
    profiles: both,
    text: /no elements in any of the given slices/,
    ask: merge({ spec: { "$setElementOrder/volumes": [{ name: "v" }], volumes: [] } }),
  },
  {
    when: "a strategic patch has another order than it asks for",
    profiles: both,
    text: /The order in patch list:/,
    ask: merge({
      spec: {
        "$setElementOrder/containers": [{ name: "c" }, { name: "d" }],
        containers: [{ name: "d" }, { name: "c" }],
      },
    }),
  },
  {
    when: "a strategic patch has an element without its merge key",
    profiles: both,
    text: /does not contain declared merge key: /,
    ask: mergeContainers({ image: "j" }),
  },
  {
    when: "a strategic patch has an element that is no object where it orders objects",
    profiles: both,
    text: /expected a map\[string\]interface \{\}, but received a /,
    ask: merge({ spec: { "$setElementOrder/containers": ["c"], containers: [{ name: "c" }] } }),
  },
  {
    when: "a strategic patch has elements of several types",
    profiles: both,
    text: /list element types are not identical: /,
    ask: mergeContainers({ name: "c" }, "d"),
  },
  {
    when: "a strategic patch has directives for a field that does not exist",
    profiles: both,
    text: /unable to find api field in struct \w+ for the json field /,
    ask: merge({ spec: { "$setElementOrder/none": ["x"] } }),
  },
  {
    when: "a pod to be evicted has two budgets",
    profiles: both,
    text: /This pod has more than one PodDisruptionBudget/,
    ask(bed) {
      post(bed, pods, { ...pod, spec: { ...pod.spec, nodeName: "n" } });
      bed.merge(`${pods}/p/status`, { status: { phase: "Running" } });
      const selector = { matchLabels: { app: "a" } };
      for (const name of ["one", "two"]) {
        post(bed, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
          metadata: { name },
          spec: { minAvailable: 1, selector },
        });
      }
      return post(bed, `${pods}/p/eviction`, { metadata: { name: "p" } });
    },
  },
];

export const isCalledFor = (profile: Profile["name"], text: string): boolean =>
  calledForFailures.some(({ profiles, text: known }) => profiles.includes(profile) && known.test(text));
