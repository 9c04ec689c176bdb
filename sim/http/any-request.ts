/** For tests: requests of all kinds, from nearly right to nonsense. Who draws one has no idea what its answer is. */
import fc from "fast-check";
import { configMaps } from "../apiserver/test-bed.ts";

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

const pod = { spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }], volumes: [] } };
const right = fc.constantFrom(
  ["configmaps", { kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } }] as const,
  ["pods", { kind: "Pod", apiVersion: "v1", ...pod }] as const,
  ["services", { kind: "Service", apiVersion: "v1", spec: { ports: [{ port: 80 }] } }] as const,
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
    at: fc.option(fc.array(fc.nat(9), { minLength: 1, maxLength: 5 })),
    by: object,
    query: fc.constantFrom("", "fieldManager=m", "dryRun=All", "fieldValidation=Strict", "force=true&fieldManager=m"),
  })
  .map((drawn) => {
    const [resource, fields] = drawn.right;
    const whole = { metadata: { name: drawn.name, labels: { a: "b" }, finalizers: ["example.com/f"] }, ...fields };
    const body = drawn.at === null ? whole : changed(whole, drawn.at, drawn.by);
    const isPatch = drawn.method === "PATCH";
    const path = `/api/v1/namespaces/default/${resource}${drawn.method === "POST" ? "" : `/${drawn.name}`}`;
    return {
      method: drawn.method,
      path,
      query: drawn.query,
      headers: { "content-type": `application/${isPatch ? drawn.type : "json"}` },
      body: drawn.method === "DELETE" ? undefined : JSON.stringify(body),
    };
  });

export const anyRequest: fc.Arbitrary<AnyRequest> = fc.oneof(anything, nearlyRight);
