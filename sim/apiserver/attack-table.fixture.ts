/**
 * The second round of attacks, as a table: each shape of a body at the largest size that is taken, by each verb, in each
 * encoding. Names are `verb encoding shape`.
 */
import { encodeCbor } from "../../wire/cbor.ts";
import { structOfKind } from "../../wire/schema.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Attack, AttackRequest } from "./attack-requests.fixture.ts";
import { encodeProtobuf } from "./encodings/protobuf/envelope.ts";

/** A kind of object that fills a body by the number of one of its parts. */
interface Shape {
  readonly kind: string;
  readonly apiVersion: string;
  /** Of the collection. */
  readonly path: string;
  /** The object with so many parts; a name is put in. */
  readonly of: (count: number) => Readonly<Record<string, unknown>>;
  /** Before its first use. */
  readonly prepare?: () => Iterable<AttackRequest>;
}

/** Of a body: nearly what a server takes. */
const wholeBytes = 2_900_000;
const wholeValues = 95_000;
const json = { "content-type": "application/json" };

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const keyed = <Value>(count: number, value: (at: number) => Value, prefix = "k"): Record<string, Value> =>
  Object.fromEntries(times(count, (at) => [`${prefix}${at}`, value(at)]));

/** As a list of lists of lists, so many levels deep, again and again. */
function deep(count: number, levels: number): unknown {
  return times(count, () => {
    let value: unknown = [];
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
    return value;
  });
}

const core = (resource: string): string => `/api/v1/namespaces/default/${resource}`;
const configMap = (of: Shape["of"]): Shape => ({ kind: "ConfigMap", apiVersion: "v1", path: core("configmaps"), of });
const pod = (of: Shape["of"]): Shape => ({ kind: "Pod", apiVersion: "v1", path: core("pods"), of });
const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** A custom resource whose spec has this schema. */
const custom = (plural: string, spec: object, of: (count: number) => unknown): Shape => ({
  kind: `K${plural}`,
  apiVersion: "attack.example/v1",
  path: `/apis/attack.example/v1/namespaces/default/${plural}`,
  of: (count) => ({ spec: of(count) }),
  prepare: () => [
    {
      method: "POST",
      path: definitions,
      headers: json,
      body: JSON.stringify({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `${plural}.attack.example` },
        spec: definitionOf(plural, { type: "object", properties: { spec } }),
      }),
    },
    ...times(30, () => ({ path: `/apis/attack.example/v1/namespaces/default/${plural}` })),
  ],
});

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function definitionOf(plural: string, openAPIV3Schema: object): object {
  return {
    group: "attack.example",
    scope: "Namespaced",
    names: { plural, kind: `K${plural}` },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
  };
}

/** A definition that is large itself. */
const definition = (schema: (count: number) => object): Shape => ({
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  path: definitions,
  of: (count) => ({ spec: definitionOf("larges", schema(count)) }),
});

const container = { name: "c", image: "i" };

const shapes: Readonly<Record<string, Shape>> = {
  "one-text": configMap((count) => ({ data: { k: "v".repeat(count) } })),
  escapes: configMap((count) => ({ data: { k: "\u0001".repeat(count) } })),
  "short-keys": configMap((count) => ({ data: keyed(count, () => "") })),
  "binary-data": configMap((count) => ({ binaryData: keyed(count, () => "AAAA") })),
  labels: configMap((count) => ({ metadata: { labels: keyed(count, () => "") } })),
  finalizers: configMap((count) => ({ metadata: { finalizers: times(count, (at) => `a.b/${at}`) } })),
  owners: configMap((count) => ({
    metadata: {
      ownerReferences: times(count, (at) => ({ apiVersion: "v1", kind: "A", name: `x${at}`, uid: `u${at}` })),
    },
  })),
  "owned-fields": configMap((count) => ({
    metadata: {
      managedFields: [
        {
          manager: "m",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": keyed(count, () => ({}), "f:k") },
        },
      ],
    },
  })),
  managers: configMap((count) => ({
    metadata: {
      managedFields: times(count, (at) => ({
        manager: `m${at}`,
        operation: at % 2 === 0 ? "Update" : "Apply",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { [`f:k${at}`]: {} } },
      })),
    },
  })),
  "unknown-fields": configMap((count) => keyed(count, () => 1)),
  "unknown-numbers": configMap((count) => ({ x: times(count, () => 1) })),
  "unknown-depth": configMap((count) => ({ x: deep(count, 900) })),
  "wrong-types": configMap((count) => ({ data: keyed(count, () => 1) })),
  containers: pod((count) => ({ spec: { containers: times(count, () => ({})) } })),
  "named-containers": pod((count) => ({
    spec: { containers: times(count, (at) => ({ name: `c${at}`, image: "i" })) },
  })),
  variables: pod((count) => ({
    spec: { containers: [{ ...container, env: times(count, (at) => ({ name: `A${at}` })) }] },
  })),
  volumes: pod((count) => ({ spec: { containers: [container], volumes: times(count, (at) => ({ name: `v${at}` })) } })),
  tolerations: pod((count) => ({ spec: { containers: [container], tolerations: times(count, () => ({})) } })),
  arguments: pod((count) => ({ spec: { containers: [{ ...container, args: times(count, () => "") }] } })),
  affinities: pod((count) => ({
    spec: {
      containers: [container],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: times(count, () => ({ matchExpressions: [{ key: "a", operator: "Exists" }] })),
          },
        },
      },
    },
  })),
  ports: {
    kind: "Service",
    apiVersion: "v1",
    path: core("services"),
    of: (count) => ({ spec: { ports: times(count, (at) => ({ name: `p${at}`, port: 1 + (at % 65_535) })) } }),
  },
  endpoints: {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    of: (count) => ({ addressType: "IPv4", endpoints: times(count, () => ({ addresses: ["10.0.0.1"] })) }),
  },
  rules: {
    kind: "Role",
    apiVersion: "rbac.authorization.k8s.io/v1",
    path: `${rbac}/namespaces/default/roles`,
    of: (count) => ({ rules: times(count, () => ({ apiGroups: [""], resources: ["a"], verbs: ["get"] })) }),
  },
  subjects: {
    kind: "RoleBinding",
    apiVersion: "rbac.authorization.k8s.io/v1",
    path: `${rbac}/namespaces/default/rolebindings`,
    of: (count) => ({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" },
      subjects: times(count, (at) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: `u${at}` })),
    }),
  },
  requirements: {
    kind: "Deployment",
    apiVersion: "apps/v1",
    path: "/apis/apps/v1/namespaces/default/deployments",
    of: (count) => ({
      spec: {
        replicas: 0,
        selector: {
          matchLabels: { a: "a" },
          matchExpressions: times(count, (at) => ({ key: `k${at}`, operator: "DoesNotExist" })),
        },
        template: { metadata: { labels: { a: "a" } }, spec: { containers: [container] } },
      },
    }),
  },
  policies: {
    kind: "NetworkPolicy",
    apiVersion: "networking.k8s.io/v1",
    path: "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
    of: (count) => ({ spec: { podSelector: {}, ingress: times(count, () => ({})) } }),
  },
  quotas: {
    kind: "ResourceQuota",
    apiVersion: "v1",
    path: core("resourcequotas"),
    of: (count) => ({ spec: { hard: keyed(Math.min(count, 31_000), () => "1", "count/a") } }), // and twice in its status
  },
  expressions: {
    kind: "ValidatingAdmissionPolicy",
    apiVersion: "admissionregistration.k8s.io/v1",
    path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    of: (count) => ({
      spec: {
        matchConstraints: { resourceRules: [] },
        validations: times(count, (at) => ({ expression: `object.metadata.name != 'n${at}'` })),
      },
    }),
  },
  "policy-variables": {
    kind: "ValidatingAdmissionPolicy",
    apiVersion: "admissionregistration.k8s.io/v1",
    path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    of: (count) => ({
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ["none"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nothing"] }],
        },
        variables: times(count, (at) => ({
          name: `v${at}`,
          expression: at === 0 ? "1" : `variables.v${at - 1} + 1`,
        })),
        validations: [{ expression: "true" }],
      },
    }),
  },
  "long-expression": {
    kind: "ValidatingAdmissionPolicy",
    apiVersion: "admissionregistration.k8s.io/v1",
    path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    of: (count) => ({
      spec: {
        matchConstraints: { resourceRules: [] },
        validations: [{ expression: `[${"1,".repeat(count)}1].size() > 0` }],
      },
    }),
  },
  "wide-schema": definition((count) => ({ type: "object", properties: keyed(count, () => ({ type: "string" })) })),
  "deep-schema": definition((count) => {
    let schema: object = { type: "string" };
    for (let level = 0; level < Math.min(count, 300); level++) schema = { type: "object", properties: { a: schema } };
    return { type: "object", properties: keyed(Math.ceil(count / 300), () => schema) };
  }),
  "ruled-schema": definition((count) => ({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { a: { type: "integer" } },
        "x-kubernetes-validations": times(count, (at) => ({ rule: `self.a > ${at}` })),
      },
    },
  })),
  "patterns-schema": definition((count) => ({
    type: "object",
    properties: keyed(count, (at) => ({ type: "string", pattern: `^(a|b)*c${at}$` })),
  })),
  "enum-schema": definition((count) => ({
    type: "object",
    properties: { a: { type: "string", enum: times(count, (at) => `v${at}`) } },
  })),
  "defaults-schema": definition((count) => ({
    type: "object",
    properties: keyed(count, () => ({ type: "string", default: "" })),
  })),
  "custom-numbers": custom("opens", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, (count) => ({
    n: times(count, () => 1),
  })),
  "custom-objects": custom("objects", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, (count) => ({
    n: times(count, () => ({})),
  })),
  "custom-depth": custom("depths", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, (count) => ({
    n: deep(count, 900),
  })),
  "custom-pruned": custom(
    "pruneds",
    { type: "object", properties: { n: { type: "array", items: { type: "object" } } } },
    (count) => ({
      n: times(count, () => ({ a: 1 })),
    }),
  ),
  "custom-map": custom(
    "maps",
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: { type: "integer" } } },
    },
    (count) => times(count, (at) => ({ k: at })),
  ),
  "custom-set": custom(
    "sets",
    { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer" } },
    (count) => times(count, (at) => at),
  ),
  "custom-unique": custom(
    "uniques",
    { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    (count) => times(count, () => "a"),
  ),
  "custom-invalid": custom("invalids", { type: "array", items: { type: "integer", minimum: 2 } }, (count) =>
    times(count, () => 1),
  ),
  "custom-wrong": custom("wrongs", { type: "array", items: { type: "object", required: ["a"] } }, (count) =>
    times(count, () => 1),
  ),
  "custom-required": custom(
    "requireds",
    { type: "array", items: { type: "object", required: ["a", "b", "c"], properties: { a: { type: "string" } } } },
    (count) => times(count, () => ({})),
  ),
  "custom-pattern": custom("patterns", { type: "array", items: { type: "string", pattern: "^(a|aa)+$" } }, (count) =>
    times(Math.ceil(count / 1_000), () => `${"a".repeat(1_000)}!`),
  ),
  "custom-ruled": custom(
    "ruleds",
    {
      type: "array",
      maxItems: 100_000,
      items: {
        type: "object",
        properties: { a: { type: "integer" } },
        "x-kubernetes-validations": [{ rule: "self.a >= 0" }],
      },
    },
    (count) => times(Math.min(count, 100_000), (at) => ({ a: at })),
  ),
  "custom-ruled-whole": custom(
    "wholes",
    {
      type: "object",
      properties: { n: { type: "array", maxItems: 100_000, items: { type: "integer" } } },
      "x-kubernetes-validations": times(10, (at) => ({ rule: `self.n.all(x, x >= ${-at})` })),
    },
    (count) => ({ n: times(Math.min(count, 100_000), (at) => at) }),
  ),
  "custom-ruled-old": custom(
    "olds",
    {
      type: "object",
      properties: { n: { type: "array", maxItems: 10_000, items: { type: "integer" } } },
      "x-kubernetes-validations": [{ rule: "self.n.all(x, x in oldSelf.n)" }],
    },
    (count) => ({ n: times(Math.min(count, 10_000), (at) => at) }),
  ),
};

type Encoding = "json" | "yaml" | "block" | "cbor" | "protobuf";

const contentTypes: Readonly<Record<Encoding, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  block: "application/yaml",
  cbor: "application/cbor",
  protobuf: "application/vnd.kubernetes.protobuf",
};

/** YAML on lines of their own. */
function blockYaml(value: unknown, indent = ""): string {
  const inner = `${indent} `;
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `\n${indent}-${after(blockYaml(item, inner))}`).join("");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .map(([key, item]) => `\n${indent}${key}:${after(blockYaml(item, inner))}`)
      .join("");
  }
  return JSON.stringify(value);
}

const after = (text: string): string => (text.startsWith("\n") ? text : ` ${text}`);

function encoded(encoding: Encoding, { kind, apiVersion }: Shape, object: JsonObject): string | Uint8Array | undefined {
  if (encoding === "json" || encoding === "yaml") return JSON.stringify(object);
  if (encoding === "block") return blockYaml(object).slice(1);
  if (encoding === "cbor") return encodeCbor(object as never);
  const type = structOfKind(apiVersion.replace(".k8s.io/", ".svc.io/"), kind);
  return type === undefined ? undefined : encodeProtobuf(type, object);
}

/** The object of a shape with so many parts. */
function made(shape: Shape, count: number): JsonObject {
  const { metadata = {}, ...rest } = shape.of(count) as { readonly metadata?: object };
  const name = nameOf(shape);
  return { kind: shape.kind, apiVersion: shape.apiVersion, metadata: { name, ...metadata }, ...rest } as never;
}

/** The object of a shape with as many parts as fit. */
const filled = (shape: Shape, bytesMax: number): JsonObject => made(shape, fitting(shape, bytesMax));

/** Shape → bytes → how many parts fit: looked for once, for all verbs and encodings. */
const counts = new Map<Shape, Map<number, number>>();

function fitting(shape: Shape, bytesMax: number): number {
  const known = counts.get(shape) ?? new Map<number, number>();
  counts.set(shape, known);
  const before = known.get(bytesMax);
  if (before !== undefined) return before;
  const share = (count: number): number => {
    const object = made(shape, count);
    return Math.max(JSON.stringify(object).length / bytesMax, valueCount(object) / wholeValues);
  };
  let count = 1_000;
  let filled = share(count);
  // Names and numbers grow longer: the first guess is a little too large or too small.
  for (let tries = 0; tries < 4 && (filled > 1 || filled < 0.99); tries++) {
    count = Math.max(1, Math.min(1_450_000, Math.floor((count * 0.999) / filled)));
    filled = share(count);
  }
  for (; count > 1 && filled > 1; filled = share(count)) count = Math.floor(count * 0.95);
  known.set(bytesMax, count);
  return count;
}

/** Items and members, at any depth. */
function valueCount(whole: unknown): number {
  let count = 0;
  const open = [whole];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    for (const child of Object.values(next)) {
      count++;
      open.push(child);
    }
  }
  return count;
}

/** The name under which all of a shape are written: what has finalizers stays. */
function nameOf(shape: Shape): string {
  if (shape.kind === "CustomResourceDefinition") return "larges.attack.example";
  return Object.keys(shapes).find((name) => shapes[name] === shape) as string;
}

const small = (shape: Shape): AttackRequest => ({
  method: "POST",
  path: shape.path,
  headers: json,
  body: JSON.stringify({
    kind: shape.kind,
    apiVersion: shape.apiVersion,
    metadata: { name: nameOf(shape) },
    ...spared(shape),
  }),
});

/** What an object of the kind must have. */
function spared(shape: Shape): object {
  const { metadata: _metadata, ...rest } = shape.of(1);
  return rest;
}

const remove = (shape: Shape): AttackRequest => ({ method: "DELETE", path: `${shape.path}/${nameOf(shape)}` });

const written = (method: string, shape: Shape, type: string, body: string | Uint8Array, query = ""): AttackRequest => ({
  method,
  path: `${method === "POST" ? shape.path : `${shape.path}/${nameOf(shape)}`}${query}`,
  headers: { "content-type": type, accept: "application/json" },
  body,
});

/** Undefined where the encoding has no such body. */
type Strike = (shape: Shape, encoding: Encoding, bytes: number) => readonly AttackRequest[] | undefined;

const patchOf =
  (type: string): Strike =>
  (shape, encoding, bytes) =>
    encoding === "json" ? [written("PATCH", shape, type, JSON.stringify(filled(shape, bytes)))] : undefined;

interface Verb {
  /** Whether an object is to be there before. */
  readonly present: "none" | "small" | "large";
  readonly strike: Strike;
}

const whole = (shape: Shape, encoding: Encoding, bytes: number): string | Uint8Array | undefined =>
  encoded(encoding, shape, filled(shape, bytes));

const sending =
  (method: string, query = ""): Strike =>
  (shape, encoding, bytes) => {
    const body = whole(shape, encoding, bytes);
    return body === undefined ? undefined : [written(method, shape, contentTypes[encoding], body, query)];
  };

const applied: Strike = (shape, encoding, bytes) => {
  if (encoding !== "json" && encoding !== "block" && encoding !== "cbor") return undefined;
  const body = whole(shape, encoding, bytes);
  const type = encoding === "cbor" ? "application/apply-patch+cbor" : "application/apply-patch+yaml";
  return body === undefined ? undefined : [written("PATCH", shape, type, body, "?fieldManager=m&force=true")];
};

const read =
  (accept: string, query = ""): Strike =>
  (shape, encoding) =>
    encoding === "json"
      ? [
          { path: `${shape.path}/${nameOf(shape)}${query}`, headers: { accept } },
          { path: `${shape.path}${query}`, headers: { accept } },
        ]
      : undefined;

const verbs: Readonly<Record<string, Verb>> = {
  create: { present: "none", strike: sending("POST") },
  "strict-dry-create": { present: "none", strike: sending("POST", "?dryRun=All&fieldValidation=Strict") },
  update: { present: "small", strike: sending("PUT") },
  /** All of a large object goes, for another. */
  replace: {
    present: "large",
    strike: (shape, encoding, bytes) => {
      const body = whole(shape, encoding, bytes / 2);
      return body === undefined ? undefined : [written("PUT", shape, contentTypes[encoding], body)];
    },
  },
  /** A word is added to a large object. */
  touch: {
    present: "large",
    strike: (shape, encoding) =>
      encoding === "json"
        ? [
            "application/merge-patch+json",
            ...(shape.apiVersion === "attack.example/v1" ? [] : ["application/strategic-merge-patch+json"]),
          ].map((type) => written("PATCH", shape, type, `{"metadata":{"annotations":{"a":"${type.length}"}}}`))
        : undefined,
  },
  merge: { present: "small", strike: patchOf("application/merge-patch+json") },
  "merge-again": { present: "large", strike: patchOf("application/merge-patch+json") },
  strategic: { present: "small", strike: patchOf("application/strategic-merge-patch+json") },
  "strategic-again": { present: "large", strike: patchOf("application/strategic-merge-patch+json") },
  "json-patch": {
    present: "small",
    strike: (shape, encoding, bytes) => {
      if (encoding !== "json") return undefined;
      const { metadata, ...rest } = filled(shape, bytes * 0.95) as { readonly metadata: object };
      const { kind: _kind, apiVersion: _apiVersion, ...fields } = rest as JsonObject;
      const operations = [
        ...Object.entries(metadata).map(([key, value]) => ({ op: "add", path: `/metadata/${key}`, value })),
        ...Object.entries(fields)
          .slice(0, 9_000)
          .map(([key, value]) => ({ op: "add", path: `/${key}`, value })),
      ];
      return [written("PATCH", shape, "application/json-patch+json", JSON.stringify(operations))];
    },
  },
  "apply-new": { present: "none", strike: applied },
  apply: { present: "small", strike: applied },
  "apply-again": { present: "large", strike: applied },
  get: { present: "large", strike: read("application/json") },
  "get-pretty": { present: "large", strike: read("application/json", "?pretty=1") },
  "get-yaml": { present: "large", strike: read("application/yaml") },
  "get-cbor": { present: "large", strike: read("application/cbor") },
  "get-protobuf": {
    present: "large",
    strike: (shape, encoding) =>
      shape.apiVersion === "attack.example/v1" ? undefined : read(contentTypes.protobuf)(shape, encoding, 0),
  },
  "get-table": { present: "large", strike: read("application/json;as=Table;v=v1;g=meta.k8s.io") },
  "get-metadata": { present: "large", strike: read("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io") },
  "watch-json": { present: "large", strike: read("application/json", "?watch=1&timeoutSeconds=1") },
  "delete-options": {
    present: "small",
    strike: (shape, encoding, bytes) => {
      const body = whole(shape, encoding, bytes);
      return body === undefined ? undefined : [written("DELETE", shape, contentTypes[encoding], body)];
    },
  },
  delete: { present: "large", strike: (shape, encoding) => (encoding === "json" ? [remove(shape)] : undefined) },
};

const encodings: readonly Encoding[] = ["json", "yaml", "block", "cbor", "protobuf"];

/** What leads to an attack's state; what was there before goes. */
function preparation(shape: Shape, { present }: Verb, bytes: number): readonly AttackRequest[] {
  const before = [...(shape.prepare?.() ?? []), remove(shape)];
  if (present === "none") return before;
  const large = written("POST", shape, "application/json", JSON.stringify(filled(shape, bytes)));
  return [...before, present === "small" ? small(shape) : large];
}

/** By name, with bodies of nearly so many bytes, which are made when they are sent. */
export const attackTable = (bytes = wholeBytes): Readonly<Record<string, Attack>> =>
  Object.fromEntries(
    Object.entries(shapes).flatMap(([shapeName, shape]) =>
      Object.entries(verbs).flatMap(([verbName, verb]) =>
        encodings.map((encoding): [string, Attack] => [
          `${verbName} ${encoding} ${shapeName}`,
          {
            prepare: () => preparation(shape, verb, bytes),
            strike: () => verb.strike(shape, encoding, bytes) ?? [],
          },
        ]),
      ),
    ),
  );
