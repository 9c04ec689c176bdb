/** For tests: requests of all kinds, from nearly right to nonsense. Who draws one has no idea what its answer is. */
import fc from "fast-check";
import { configMaps } from "../apiserver/test-bed.fixture.ts";

export const patchTypes = ["json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"];

export interface AnyRequest {
  readonly method: string;
  /** Neither holds a question mark that is meant as one. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

const word = fc.constantFrom(
  "a",
  "v1",
  "default",
  "configmaps",
  "pods",
  "apis",
  "apps",
  "status",
  "scale",
  "eviction",
  "__proto__",
  "%zz",
  "%00",
  "..",
  "",
);
const path = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((words) => `/${words.join("/")}`),
  fc.constantFrom(
    configMaps,
    `${configMaps}/a`,
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/a",
    "/apis/apps/v1/namespaces/default/deployments/d/scale",
    "/openapi/v2",
    "/apis",
    "/metrics",
    "/api/v1/nodes",
  ),
);
const name = fc.constantFrom(
  "watch",
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "labelSelector",
  "fieldSelector",
  "sendInitialEvents",
  "timeoutSeconds",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "pretty",
  "gracePeriodSeconds",
  "propagationPolicy",
  "__proto__",
);
const value = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "1",
    "true",
    "-1",
    "99999999999999999999",
    "All",
    "Exact",
    "NotOlderThan",
    "Orphan",
    "a in (b",
    "metadata.name=a",
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const query = fc
  .array(fc.tuple(name, value), { maxLength: 4 })
  .map((pairs) => pairs.map(([k, v]) => `${k}=${v}`).join("&"));
const type = fc.constantFrom(
  "application/json",
  "application/yaml",
  ...patchTypes.map((t) => `application/${t}`),
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "",
  ";;",
  'a/b;c="',
);
const headers = fc.record({ "content-type": type, accept: type, "accept-encoding": value }, { requiredKeys: [] });
const object = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(null, 0, -1, 1e300, "", "a", true, "ConfigMap", "v1", []),
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        "kind",
        "apiVersion",
        "metadata",
        "name",
        "labels",
        "data",
        "spec",
        "status",
        "$patch",
        "__proto__",
        "op",
        "path",
        "replicas",
        "finalizers",
        "managedFields",
        "ownerReferences",
      ),
      tie("node"),
      { maxKeys: 6 },
    ),
  ),
})).node;
const body = fc.oneof(
  fc.constant(undefined),
  object.map((value) => JSON.stringify(value)),
  fc
    .record(
      {
        kind: fc.constantFrom("ConfigMap", "Pod"),
        apiVersion: fc.constant("v1"),
        metadata: object,
        data: object,
        spec: object,
      },
      { requiredKeys: ["kind"] },
    )
    .map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 64 }),
  fc.string({ unit: "binary", maxLength: 64 }),
);
const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "");

const anything: fc.Arbitrary<AnyRequest> = fc
  .record({ method, path, query, headers, body })
  .map((drawn) => ({ ...drawn, headers: drawn.headers as Record<string, string> }));

const container = { name: "c", image: "i", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "b" }] };
const pod = { spec: { containers: [container], volumes: [{ name: "v", emptyDir: {} }] } };
const template = { metadata: { labels: { a: "b" } }, ...pod };
const selector = { matchLabels: { a: "b" } };
/** Objects of all parts of the API, each as good as it gets: its collection below a namespace or its group, and its fields. */
const right = fc.constantFrom(
  ["/api/v1/namespaces/default/configmaps", { kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } }] as const,
  ["/api/v1/namespaces/default/pods", { kind: "Pod", apiVersion: "v1", ...pod }] as const,
  [
    "/api/v1/namespaces/default/services",
    { kind: "Service", apiVersion: "v1", spec: { ports: [{ port: 80 }] } },
  ] as const,
  ["/api/v1/namespaces/default/secrets", { kind: "Secret", apiVersion: "v1", stringData: { k: "v" } }] as const,
  [
    "/api/v1/namespaces/default/resourcequotas",
    { kind: "ResourceQuota", apiVersion: "v1", spec: { hard: { secrets: "1k", "requests.cpu": "500m" } } },
  ] as const,
  [
    "/api/v1/nodes",
    { kind: "Node", apiVersion: "v1", spec: { taints: [{ key: "a", effect: "NoSchedule" }] } },
  ] as const,
  ["/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", spec: { finalizers: [] } }] as const,
  [
    "/apis/apps/v1/namespaces/default/deployments",
    { kind: "Deployment", apiVersion: "apps/v1", spec: { replicas: 1, selector, template } },
  ] as const,
  [
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    { kind: "PodDisruptionBudget", apiVersion: "policy/v1", spec: { minAvailable: "50%", selector } },
  ] as const,
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    {
      kind: "CronJob",
      apiVersion: "batch/v1",
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
      },
    },
  ] as const,
  [
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    {
      kind: "HorizontalPodAutoscaler",
      apiVersion: "autoscaling/v2",
      spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "a", apiVersion: "apps/v1" } },
    },
  ] as const,
);

/** `value` with what stands at one of its places, as deep as `at` is long, replaced. */
function changed(value: unknown, at: readonly number[], by: unknown): unknown {
  const [first, ...deeper] = at;
  if (first === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.with(Number(key), changed(value[Number(key)], deeper, by));
  return { ...value, [key]: changed((value as Record<string, unknown>)[key], deeper, by) };
}

/** A good write, but for one place in its body. */
const nearlyRight: fc.Arbitrary<AnyRequest> = fc
  .record({
    right,
    name: fc.constantFrom("a", "b", "c"),
    method: fc.constantFrom("POST", "POST", "PUT", "PATCH", "DELETE"),
    type: fc.constantFrom(...patchTypes),
    subresource: fc.constantFrom("", "", "", "/status", "/scale"),
    at: fc.option(fc.array(fc.nat(9), { minLength: 1, maxLength: 5 })),
    by: object,
    query: fc.constantFrom("", "fieldManager=m", "dryRun=All", "fieldValidation=Strict", "force=true&fieldManager=m"),
  })
  .map((drawn) => {
    const [collection, fields] = drawn.right;
    const whole = { metadata: { name: drawn.name, labels: { a: "b" }, finalizers: ["example.com/f"] }, ...fields };
    const body = drawn.at === null ? whole : changed(whole, drawn.at, drawn.by);
    const isPatch = drawn.method === "PATCH";
    const path = `${collection}${drawn.method === "POST" ? "" : `/${drawn.name}${drawn.subresource}`}`;
    return {
      method: drawn.method,
      path,
      query: drawn.query,
      headers: { "content-type": `application/${isPatch ? drawn.type : "json"}` },
      body: drawn.method === "DELETE" ? undefined : JSON.stringify(body),
    };
  });

export const anyRequest: fc.Arbitrary<AnyRequest> = fc.oneof(anything, nearlyRight);
