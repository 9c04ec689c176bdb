/**
 * Crowds: what takes some milliseconds, asked for by two hundred clients at the same moment. Nothing of it is large enough to be
 * sliced, and all together would be seconds.
 */
import type { AttackRequest } from "../../sim/apiserver/attack-requests.fixture.ts";
import type { ServerTarget } from "../server-target.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";

const clients = 200;
const json = { "content-type": "application/json" };
const core = "/api/v1/namespaces/default";
const configMaps = `${core}/configmaps`;

interface Crowd {
  /** What there is before, made once for a server. */
  readonly stage?: (target: ServerTarget) => Promise<void>;
  readonly request: (at: number) => AttackRequest;
}

const staged = new WeakMap<ServerTarget, Set<unknown>>();

/** Twenty of a megabyte. */
const megabytes = async (target: ServerTarget): Promise<void> => {
  await crowd(20, 4, (at) => {
    const object = { metadata: { name: `long-${at}` }, data: { k: `a: "${"v\n".repeat(450_000)}"` } };
    return target.send({ method: "POST", path: configMaps, headers: json, body: JSON.stringify(object) });
  });
};

/** Five thousand with labels, in a namespace of their own. */
const thousands = async (target: ServerTarget): Promise<void> => {
  const namespace = { metadata: { name: "many" } };
  await target.send({ method: "POST", path: "/api/v1/namespaces", headers: json, body: JSON.stringify(namespace) });
  await crowd(5_000, 32, (at) => {
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, of) => [`l${of}`, `v${at % (of + 2)}`]));
    const object = { metadata: { name: `many-${at}`, labels }, data: { k: "v".repeat(200) } };
    return target.send({ method: "POST", path: many, headers: json, body: JSON.stringify(object) });
  });
};
const many = "/api/v1/namespaces/many/configmaps";

/** Ten definitions of a megabyte each. */
const wideDefinitions = async (target: ServerTarget): Promise<void> => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`property${at}`, { type: "string", maxLength: at }]),
  );
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  await crowd(10, 1, (at) => {
    const names = { plural: `wides${at}`, singular: `wide${at}`, kind: `Wide${at}` };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const metadata = { name: `wides${at}.wide.example` };
    const body = JSON.stringify({ metadata, spec: { group: "wide.example", scope: "Cluster", names, versions } });
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    return target.send({ method: "POST", path, headers: json, body });
  });
};

const posted = (path: string, body: object): AttackRequest => ({
  method: "POST",
  path,
  headers: json,
  body: JSON.stringify(body),
});

/** So many objects of one kind, whose spec or fields `made` gives. */
const stageOf =
  (path: string, count: number, made: (at: number) => object) =>
  async (target: ServerTarget): Promise<void> => {
    await crowd(count, 32, (at) => target.send(posted(path, made(at))));
  };

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const bindings = stageOf(`${rbac}/clusterrolebindings`, 5_000, (at) => ({
  metadata: { name: `binding-${at}` },
  roleRef: role,
  subjects: [{ kind: "User", name: "nobody", apiGroup: "rbac.authorization.k8s.io" }],
}));

const policies = stageOf("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", 200, (at) => ({
  metadata: { name: `policy-${at}` },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    },
    validations: [{ expression: `object.data.all(k, object.data[k] != 'bad-${at}')` }],
  },
}));
const policyBindings = stageOf(
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  200,
  (at) => ({
    metadata: { name: `policy-${at}` },
    spec: { policyName: `policy-${at}`, validationActions: ["Deny"] },
  }),
);

const flows = stageOf("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", 500, (at) => ({
  metadata: { name: `flow-${at}` },
  spec: {
    matchingPrecedence: 100 + at,
    priorityLevelConfiguration: { name: "workload-low" },
    rules: [
      {
        subjects: Array.from({ length: 20 }, (_, of) => ({ kind: "User", user: { name: `u${at}-${of}` } })),
        resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], namespaces: ["none"] }],
      },
    ],
  },
}));

const webhooks = stageOf("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", 20, (at) => ({
  metadata: { name: `hook-${at}` },
  webhooks: [
    {
      name: `hook-${at}.example.org`,
      clientConfig: { url: "https://127.0.0.1:9/" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
      failurePolicy: "Ignore",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 1,
    },
  ],
}));

const services = stageOf(`${core}/services`, 3_000, (at) => ({
  metadata: { name: `service-${at}` },
  spec: { selector: { app: "crowd" }, ports: [{ port: 80 }] },
}));

const object = (fields: number, name: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: Object.fromEntries(Array.from({ length: fields }, (_, at) => [`key-${at}`, "value"])),
});

const accepting = (accept: string) => ({ headers: { accept } });
const review = (group: string, kind: string, spec: object): AttackRequest => ({
  method: "POST",
  path: `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`,
  headers: json,
  body: JSON.stringify({ apiVersion: `${group}.k8s.io/v1`, kind, spec }),
});

const crowds: Readonly<Record<string, Crowd>> = {
  "yaml-of-megabytes": {
    stage: megabytes,
    request: (at) => ({ path: `${configMaps}/long-${at % 20}`, ...accepting("application/yaml") }),
  },
  "protobuf-of-megabytes": {
    stage: megabytes,
    request: (at) => ({ path: `${configMaps}/long-${at % 20}`, ...accepting("application/vnd.kubernetes.protobuf") }),
  },
  "pretty-megabytes": { stage: megabytes, request: (at) => ({ path: `${configMaps}/long-${at % 20}?pretty=true` }) },
  "one-word-in-a-megabyte": {
    stage: megabytes,
    request: (at) => ({
      method: "PATCH",
      path: `${configMaps}/long-${at % 20}`,
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ data: { word: String(at) } }),
    }),
  },
  selections: {
    stage: thousands,
    request: (at) => ({ path: `${many}?labelSelector=l1%20notin%20(v${at},w),l9!%3Dv3,l12` }),
  },
  "fields-of-all": {
    stage: thousands,
    request: (at) => ({ path: `/api/v1/configmaps?fieldSelector=metadata.name!%3Dx${at}` }),
  },
  "none-of-all": { stage: thousands, request: (at) => ({ path: `/api/v1/configmaps?labelSelector=l1%3Dnone${at}` }) },
  "tables-of-all": {
    stage: thousands,
    request: () => ({ path: many, ...accepting("application/json;as=Table;v=v1;g=meta.k8s.io") }),
  },
  "metadata-of-all": {
    stage: thousands,
    request: () => ({ path: many, ...accepting("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io") }),
  },
  "yaml-of-all": { stage: thousands, request: () => ({ path: many, ...accepting("application/yaml") }) },
  "protobuf-of-all": {
    stage: thousands,
    request: () => ({ path: many, ...accepting("application/vnd.kubernetes.protobuf") }),
  },
  "cbor-of-all": { stage: thousands, request: () => ({ path: many, ...accepting("application/cbor") }) },
  "old-lists": { stage: thousands, request: () => ({ path: `${many}?resourceVersion=0&limit=4000` }) },
  "deletions-on-trial": { stage: thousands, request: () => ({ method: "DELETE", path: `${many}?dryRun=All` }) },
  applications: {
    request: (at) => ({
      method: "PATCH",
      path: `${configMaps}/applied-${at}?fieldManager=m&force=true`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: JSON.stringify(object(1_000, `applied-${at}`)),
    }),
  },
  "applications-of-one": {
    request: (at) => ({
      method: "PATCH",
      path: `${configMaps}/applied?fieldManager=m${at % 50}&force=true`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: JSON.stringify(object(500, "applied")),
    }),
  },
  "json-patches": {
    stage: async (target) => {
      await target.send({
        method: "POST",
        path: configMaps,
        headers: json,
        body: JSON.stringify(object(1, "patched")),
      });
    },
    request: (at) => ({
      method: "PATCH",
      path: `${configMaps}/patched`,
      headers: { "content-type": "application/json-patch+json" },
      body: JSON.stringify(
        Array.from({ length: 2_000 }, (_, of) => ({ op: "add", path: `/data/k${of % 300}`, value: String(at) })),
      ),
    }),
  },
  "pods-on-trial": {
    request: (at) => ({
      method: "POST",
      path: `${core}/pods?dryRun=All`,
      headers: json,
      body: JSON.stringify({
        metadata: { name: `wide-${at}` },
        spec: { containers: Array.from({ length: 150 }, (_, of) => ({ name: `c${of}`, image: "i" })) },
      }),
    }),
  },
  "rules-reviews": { request: () => review("authorization", "SelfSubjectRulesReview", { namespace: "default" }) },
  "token-reviews": {
    request: (at) => review("authentication", "TokenReview", { token: `${at}${"x".repeat(10_000)}` }),
  },
  "all-of-openapi": { request: () => ({ path: "/openapi/v2", headers: { "accept-encoding": "gzip" } }) },
  "openapi-of-a-group": { request: () => ({ path: "/openapi/v3/apis/apps/v1", headers: {} }) },
  "all-of-wide-openapi": {
    stage: wideDefinitions,
    request: () => ({ path: "/openapi/v2", headers: { "accept-encoding": "gzip" } }),
  },
  "binary-wide-openapi": {
    stage: wideDefinitions,
    request: () => ({
      path: "/openapi/v2",
      ...accepting("application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
    }),
  },
  "index-of-wide-openapi": { stage: wideDefinitions, request: () => ({ path: "/openapi/v3" }) },
  "wide-openapi-of-a-group": { stage: wideDefinitions, request: () => ({ path: "/openapi/v3/apis/wide.example/v1" }) },
  "discovery-of-all": {
    request: () => ({
      path: "/apis",
      ...accepting("application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"),
    }),
  },
  "of-many-bindings": { stage: bindings, request: (at) => ({ path: `${configMaps}/none-${at}`, as: "nobody" }) },
  "of-many-bindings-reviewed": {
    stage: bindings,
    request: () => ({ ...review("authorization", "SelfSubjectRulesReview", { namespace: "default" }), as: "nobody" }),
  },
  "of-many-policies": {
    stage: async (target) => {
      await policies(target);
      await policyBindings(target);
    },
    request: (at) => posted(configMaps, object(100, `judged-${at}`)),
  },
  "of-many-flows": { stage: flows, request: (at) => ({ path: `${configMaps}/none-${at}`, as: "nobody" }) },
  "of-many-webhooks": {
    stage: webhooks,
    request: (at) => posted(`${core}/secrets`, { metadata: { name: `asked-${at}` } }),
  },
  "of-quotas": {
    stage: thousands,
    request: (at) =>
      posted("/api/v1/namespaces/many/resourcequotas", {
        metadata: { name: `quota-${at}` },
        spec: { hard: { "count/configmaps": "100000", pods: "5" } },
      }),
  },
  "of-many-services": {
    stage: services,
    request: (at) =>
      posted(`${core}/pods`, {
        metadata: { name: `served-${at}`, labels: { app: "crowd" } },
        spec: { containers: [{ name: "c", image: "local/box:1" }] },
      }),
  },
  figures: { request: () => ({ path: "/metrics" }) },
  "bad-yaml": {
    request: (at) => ({
      method: "POST",
      path: configMaps,
      headers: { "content-type": "application/yaml" },
      body: `data: {${"a: [".repeat(1_000)}${at}`,
    }),
  },
};

export const crowdAttacks: Readonly<Record<string, ProcessAttack<ServerTarget>>> = Object.fromEntries(
  Object.entries(crowds).map(([name, { stage, request }]) => [
    `crowd-of-${name}`,
    async (target, tell) => {
      const done = staged.get(target) ?? new Set();
      staged.set(target, done);
      if (stage !== undefined && !done.has(stage)) await stage(target);
      done.add(stage);
      await crowd(clients, clients, async (at) => tell(String(await target.send(request(at)))));
    },
  ]),
);
