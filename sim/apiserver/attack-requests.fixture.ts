/** Attacks as requests: what is there before, and what strikes. Bodies are made when they are sent. */

export interface AttackRequest {
  /** Default GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whose token it carries; `nobody` may do nothing, "" is none. Default `admin`. */
  readonly as?: "admin" | "nobody" | "";
}

export interface Attack {
  /** `scale` above 0 and up to 1: so much of what there is to be, where only its number is large. Default 1. */
  readonly prepare?: (scale?: number) => Iterable<AttackRequest>;
  readonly strike?: () => Iterable<AttackRequest>;
  /** Connections that do not read, or do not finish. */
  readonly hold?: { readonly is: "unread-watches" | "unread-streams" | "unfinished-bodies"; readonly count: number };
}

const json = { "content-type": "application/json" };
const configMaps = "/api/v1/namespaces/default/configmaps";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const widgets = "/apis/example.com/v1/namespaces/default/widgets";

export const post = (path: string, object: object): AttackRequest => ({
  method: "POST",
  path,
  headers: json,
  body: JSON.stringify(object),
});

export const applied = (path: string, manager: string, object: object): AttackRequest => ({
  method: "PATCH",
  path: `${path}?fieldManager=${manager}`,
  headers: { "content-type": "application/apply-patch+yaml" },
  body: JSON.stringify(object),
});

const yaml = (body: string, query = ""): readonly AttackRequest[] => [
  { method: "POST", path: review + query, as: "nobody", headers: { "content-type": "application/yaml" }, body },
];

const patch = (operations: readonly object[]): readonly AttackRequest[] => [
  {
    method: "PATCH",
    path: `${configMaps}/jp`,
    headers: { "content-type": "application/json-patch+json" },
    body: JSON.stringify(operations),
  },
];

export const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: Math.ceil(count) }, (_, at) => make(at));
const map = (name: string, more: object = {}): AttackRequest => post(configMaps, { metadata: { name }, ...more });

/** A definition of namespaced resources in `example.com`, of one version. */
export const definitionOf = (plural: string, kind: string, version: object): object => ({
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural, kind },
    versions: [{ name: "v1", served: true, storage: true, ...version }],
  },
});

/** A definition of widgets whose spec has this schema. */
export const widgetDefinition = (schema: object): object =>
  definitionOf("widgets", "Widget", {
    schema: { openAPIV3Schema: { type: "object", properties: { spec: schema } } },
  });

const define = (schema: object): AttackRequest => post(definitions, widgetDefinition(schema));

const widget = (spec: unknown): AttackRequest =>
  post(widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata: { generateName: "w-" }, spec });

/** Asks until the new resource is served. */
const whenServed: readonly AttackRequest[] = times(50, () => ({ path: widgets }));

/** What lies below one name of more than a megabyte, which stands in the path of each. */
const belowLongName = (within: object): object => ({ ["k".repeat(1_400_000)]: within });
const ninetyThousand = (value: string): object => Object.fromEntries(times(90_000, (at) => [`q${at}`, value]));

const mapsOfObjects = define({
  type: "object",
  additionalProperties: {
    type: "object",
    properties: { m: { type: "object", additionalProperties: { type: "string" } } },
  },
});

const appliedWidget = (manager: string, spec: object): AttackRequest =>
  applied(`${widgets}/a`, manager, {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "a" },
    spec,
  });

const ruled = (rule: string): Attack => ({
  prepare: () => [
    define({
      type: "object",
      properties: {
        s: { type: "string" },
        n: { type: "array", maxItems: 1000, items: { type: "integer" } },
      },
      "x-kubernetes-preserve-unknown-fields": true,
      "x-kubernetes-validations": [{ rule }],
    }),
    ...whenServed,
  ],
  strike: () => [widget({ s: `x${" ".repeat(1_000_000)}x`, n: times(1000, (at) => at) })],
});

const admission = "/apis/admissionregistration.k8s.io/v1";
const everyMap = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const keys = (count: number): object => Object.fromEntries(times(count, (at) => [`k${at}`, "v"]));

/** Holds where `not` is none of a list or a map; looks at each once for each. */
const eachWithEach = (of: string, not: string | number): string =>
  `${of}.all(a, ${of}.all(b, a != ${JSON.stringify(not)} && b != ${JSON.stringify(not)}))`;

const webhook = (at: number, rule: object): object => ({
  name: `w${at}.example.com`,
  clientConfig: { url: "https://127.0.0.1:9/" },
  rules: [rule],
  failurePolicy: "Fail",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
});

const owners = (count: number, more: object = {}): Attack => ({
  strike: () => [
    map("o", {
      metadata: {
        name: "o",
        ownerReferences: times(count, (at) => ({
          apiVersion: "v1",
          kind: "ConfigMap",
          name: `x${at}`,
          uid: `u${at}`,
          ...more,
        })),
      },
    }),
  ],
});

/** Objects in a list of the benchmark; tests that count slices do with fewer. */
const listedCount = 80_000;

const many = (count: number): readonly AttackRequest[] =>
  times(count, (at) => map(`m-${at}`, { data: { k: "v".repeat(500) } }));

const listed = (accept: string, query = ""): Attack => ({
  prepare: (scale = 1) => many(listedCount * scale),
  strike: () => [{ path: configMaps + query, headers: { accept } }],
});

export const attacks: Readonly<Record<string, Attack>> = {
  "yaml-duplicates": { strike: () => yaml(`{${"a,".repeat(130_000)}}`) },
  "yaml-merge-keys": {
    strike: () => {
      const keys = times(50, (at) => `  ? ${at}${"q".repeat(20_000)}\n  : 1\n`).join("");
      return yaml(`b: &a\n${keys}c:\n${"  <<: *a\n".repeat(3_900)}`, "?fieldValidation=Strict");
    },
  },
  "yaml-brackets": { strike: () => yaml("]".repeat(2_900_000)) },
  "yaml-flow-maps": { strike: () => yaml(`${"{a: ".repeat(9_000)}1${"}".repeat(9_000)}`) },
  "yaml-flow-list": { strike: () => yaml(`[${"1,".repeat(1_450_000)}1]`) },
  "namespace-of-definitions": {
    prepare: () => [
      ...times(300, (at) =>
        post(definitions, definitionOf(`t${at}s`, `T${at}`, { schema: { openAPIV3Schema: { type: "object" } } })),
      ),
      post("/api/v1/namespaces", { metadata: { name: "n" } }),
    ],
    strike: () => [{ method: "DELETE", path: "/api/v1/namespaces/n" }],
  },
  "long-name-dropped": {
    prepare: () => [mapsOfObjects, ...whenServed],
    strike: () => [widget(belowLongName(ninetyThousand("x")))],
  },
  "long-name-conflicts": {
    prepare: () => [mapsOfObjects, ...whenServed, appliedWidget("one", belowLongName({ m: ninetyThousand("x") }))],
    strike: () => [appliedWidget("other", belowLongName({ m: ninetyThousand("y") }))],
  },
  "owners-600": owners(600),
  "owners-24000": owners(24_000),
  "owners-controllers": owners(20_000, { controller: true }),
  "patch-nesting": {
    prepare: () => [map("jp")],
    strike() {
      const operations: object[] = [{ op: "add", path: "/data", value: { z: { a: {} } } }];
      for (let depth = 1; depth < 20_000; depth = 2 * depth + 1) {
        operations.push({ op: "copy", from: "/data/z", path: `/data/z${"/a".repeat(depth)}/a` });
      }
      return patch(operations);
    },
  },
  "patch-copies": {
    prepare: () => [map("jp")],
    strike: () =>
      patch([
        { op: "add", path: "/data", value: Object.fromEntries(times(60_000, (at) => [`k${at}`, ""])) },
        ...times(3_000, (at) => ({ op: "copy", from: "/metadata/name", path: `/data/c${at}` })),
      ]),
  },
  "patch-inserts": {
    prepare: () => [map("jp")],
    strike: () =>
      patch([
        { op: "add", path: "/x", value: times(50_000, () => 1) },
        ...times(9_000, () => ({ op: "add", path: "/x/0", value: 1 })),
      ]),
  },
  "patch-removes": {
    prepare: () => [map("jp")],
    strike: () =>
      patch([
        { op: "add", path: "/x", value: times(50_000, () => 1) },
        ...times(9_000, () => ({ op: "remove", path: "/x/0" })),
      ]),
  },
  "pretty-list": {
    prepare: (scale = 1) => times(560 * scale, (at) => map(`p-${at}`, { data: { k: "v".repeat(900_000) } })),
    strike: () => [{ path: `${configMaps}?pretty=1` }],
  },
  "embedded-metadata": {
    prepare: () => [
      define({
        type: "object",
        properties: {
          e: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        },
      }),
      ...whenServed,
    ],
    strike: () => [
      widget({
        e: { apiVersion: "v1", kind: "X", metadata: Object.fromEntries(times(95_000, (at) => [`u${at}`, 1])) },
      }),
    ],
  },
  "policy-variables": {
    prepare: () => [
      post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", {
        metadata: { name: "deep" },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
            ],
          },
          variables: times(1_500, (at) => ({
            name: `v${at}`,
            expression: at === 0 ? "1" : `variables.v${at - 1} + 1`,
          })),
          validations: [{ expression: "variables.v1499 > 0" }],
        },
      }),
      post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", {
        metadata: { name: "deep" },
        spec: { policyName: "deep", validationActions: ["Deny"] },
      }),
    ],
    strike: () => [map("judged")],
  },
  // Each of their expressions may cost a good part of what one may.
  "costly-policies": {
    prepare: (scale = 1) =>
      times(20 * scale, (at) => at).flatMap((at) => [
        post(`${admission}/validatingadmissionpolicies`, {
          metadata: { name: `p-${at}` },
          spec: {
            matchConstraints: { resourceRules: [everyMap] },
            validations: times(10, (of) => ({ expression: eachWithEach("object.data", `k${of}-${at}`) })),
          },
        }),
        post(`${admission}/validatingadmissionpolicybindings`, {
          metadata: { name: `p-${at}` },
          spec: { policyName: `p-${at}`, validationActions: ["Deny"] },
        }),
      ]),
    strike: () => [map("judged", { data: keys(200) })],
  },
  // Each of three thousand parameters is judged by eighty expressions, each of which makes a long message.
  "policy-parameters": {
    prepare: (scale = 1) => [
      ...many(3_000 * scale),
      ...times(4, (at) => at).flatMap((at) => [
        post(`${admission}/validatingadmissionpolicies`, {
          metadata: { name: `p-${at}` },
          spec: {
            paramKind: { apiVersion: "v1", kind: "ConfigMap" },
            matchConstraints: { resourceRules: [{ ...everyMap, resources: ["secrets"] }] },
            validations: times(20, (of) => ({
              expression: `params.metadata.name == 'none-${of}'`,
              messageExpression: "object.metadata.annotations.a + params.metadata.name",
            })),
          },
        }),
        post(`${admission}/validatingadmissionpolicybindings`, {
          metadata: { name: `p-${at}` },
          spec: {
            policyName: `p-${at}`,
            validationActions: ["Warn"],
            paramRef: { selector: {}, parameterNotFoundAction: "Deny" },
          },
        }),
      ]),
    ],
    strike: () => [
      post("/api/v1/namespaces/default/secrets", {
        metadata: { name: "judged", annotations: { a: "b".repeat(250_000) } },
      }),
    ],
  },
  "webhook-conditions": {
    prepare: (scale = 1) =>
      times(10, (of) =>
        post(`${admission}/validatingwebhookconfigurations`, {
          metadata: { name: `conditions-${of}` },
          webhooks: times(200 * scale, (at) => ({
            ...webhook(at, { ...everyMap, resources: ["secrets"] }),
            matchConditions: times(64, (condition) => ({
              name: `c${condition}`,
              expression: condition === 63 ? "false" : `object.metadata.name != 'w${of}-${at}-${condition}'`,
            })),
          })),
        }),
      ),
    strike: () => [post("/api/v1/namespaces/default/secrets", { metadata: { name: "judged" } })],
  },
  "costly-rules": {
    prepare: () => [
      define({
        type: "object",
        properties: { n: { type: "array", maxItems: 200, items: { type: "integer" } } },
        "x-kubernetes-validations": times(30, (at) => ({ rule: eachWithEach("self.n", at + 1_000) })),
      }),
      ...whenServed,
    ],
    strike: () => [widget({ n: times(200, (at) => at) })],
  },
  "costly-conditions": {
    prepare: (scale = 1) =>
      ["mutating", "validating"].map((kind) =>
        post(`${admission}/${kind}webhookconfigurations`, {
          metadata: { name: "costly" },
          webhooks: times(100 * scale, (at) => ({
            ...webhook(at, everyMap),
            matchConditions: [{ name: "c", expression: `!${eachWithEach("object.data", `w${at}`)}` }],
          })),
        }),
      ),
    strike: () => [map("judged", { data: keys(200) })],
  },
  "unwanted-webhooks": {
    prepare: () =>
      times(10, (of) =>
        post(`${admission}/mutatingwebhookconfigurations`, {
          metadata: { name: `unwanted-${of}` },
          webhooks: times(2_500, (at) => webhook(at, { ...everyMap, resources: ["secrets"] })),
        }),
      ),
    strike: () => [map("judged")],
  },
  "policies-of-collections": {
    prepare: (scale = 1) => [
      ...times(200, (at) => at).flatMap((at) => [
        post(`${admission}/validatingadmissionpolicies`, {
          metadata: { name: `p-${at}` },
          spec: {
            matchConstraints: { resourceRules: [{ ...everyMap, operations: ["DELETE"] }] },
            validations: [{ expression: `oldObject.metadata.name != 'm${at}'` }],
          },
        }),
        post(`${admission}/validatingadmissionpolicybindings`, {
          metadata: { name: `p-${at}` },
          spec: { policyName: `p-${at}`, validationActions: ["Warn"] },
        }),
      ]),
      ...many(2_000 * scale),
    ],
    strike: () => [{ method: "DELETE", path: configMaps }],
  },
  "quota-of-many": {
    prepare: (scale = 1) => [
      post("/api/v1/namespaces/default/resourcequotas", {
        metadata: { name: "q" },
        spec: { hard: { configmaps: "1000000" } },
      }),
      ...many(20_000 * scale),
    ],
    strike: () => times(20, (at) => map(`more-${at}`)),
  },
  overwrites: {
    prepare: () => [map("big")],
    strike: function* () {
      // One at a time: together they are 1.5 GB.
      for (let at = 0; at < 1_500; at++) {
        const written = map("big", { data: { k: `${at}${"v".repeat(1_000_000)}` } });
        yield { ...written, method: "PUT", path: `${configMaps}/big` };
      }
    },
  },
  defaults: {
    prepare: () => [
      define({
        type: "object",
        properties: {
          l: {
            type: "array",
            items: {
              type: "object",
              properties: Object.fromEntries(
                times(100, (at) => [`d${at}`, { type: "string", default: "v".repeat(1_000) }]),
              ),
            },
          },
        },
      }),
      ...whenServed,
    ],
    strike: () => [widget({ l: times(95_000, () => ({})) })],
  },
  "rule-trim": ruled("self.s.trim().size() > 0"),
  "rule-duration": ruled("self.n.all(x, duration(self.s) == duration(self.s))"),
  "rule-size": ruled("self.n.all(x, self.s.size() > 0)"),
  "rule-starts": ruled("self.n.all(x, self.s.startsWith('x'))"),
  enum: {
    prepare: () => [
      define({ type: "array", items: { type: "string", enum: times(20_000, (at) => `value-${at}`) } }),
      ...whenServed,
    ],
    strike: () => [widget(times(50_000, () => "value-19999"))],
  },
  alternatives: {
    prepare: () => [
      define({ type: "array", items: { type: "integer", anyOf: times(2_000, (at) => ({ minimum: 1_000_000 + at })) } }),
      ...whenServed,
    ],
    strike: () => [widget(times(95_000, () => 1))],
  },
  budgets: {
    prepare: (scale = 1) => [
      ...times(291 * scale, (at) =>
        post("/api/v1/namespaces/default/pods", {
          metadata: { name: `p-${at}`, labels: { app: "a" } },
          spec: { containers: [{ name: "c", image: "i" }] },
        }),
      ),
      ...times(2_000 * scale, (at) =>
        post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
          metadata: { name: `b-${at}` },
          spec: { minAvailable: 1, selector: { matchLabels: { app: "a" } } },
        }),
      ),
    ],
    strike: () =>
      times(5, (at) => ({
        method: "PATCH",
        path: `/api/v1/namespaces/default/pods/p-${at}`,
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ metadata: { annotations: { a: String(at) } } }),
      })),
  },
  "rules-review": {
    prepare: (scale = 1) => [
      post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
        metadata: { name: "many" },
        rules: times(3_000, (at) => ({ apiGroups: [""], resources: [`r${at}`], verbs: ["get"] })),
      }),
      ...times(3_000 * scale, (at) =>
        post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
          metadata: { name: `many-${at}` },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "many" },
          subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "nobody" }],
        }),
      ),
    ],
    strike: () => [
      {
        ...post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "default" } }),
        as: "nobody",
      },
    ],
  },
  quotas: {
    prepare: (scale = 1) =>
      times(2_000 * scale, (at) =>
        post("/api/v1/namespaces/default/resourcequotas", {
          metadata: { name: `q-${at}` },
          spec: { hard: { pods: "10" } },
        }),
      ),
    strike: () => [{ method: "DELETE", path: "/api/v1/namespaces/default/resourcequotas" }],
  },
  "list-json": listed("application/json"),
  "list-yaml": listed("application/yaml"),
  "list-table": listed("application/json;as=Table;v=v1;g=meta.k8s.io"),
  "list-protobuf": listed("application/vnd.kubernetes.protobuf"),
  "list-cbor": listed("application/cbor"),
  "list-pretty": listed("application/json", "?pretty=1"),
  "unread-watches": { prepare: () => many(80_000), hold: { is: "unread-watches", count: 50 } },
  selectors: {
    prepare: (scale = 1) => many(2_200 * scale),
    strike: () =>
      times(20, () => ({
        path: `${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=0&labelSelector=${times(60_000, (at) => `!k${at}`).join(",")}`,
      })),
  },
  "unread-streams": {
    prepare: () => times(4, (at) => map(`s-${at}`, { data: { k: "v".repeat(500_000) } })),
    hold: { is: "unread-streams", count: 5_000 },
  },
  "unfinished-bodies": { hold: { is: "unfinished-bodies", count: 400 } },
};
