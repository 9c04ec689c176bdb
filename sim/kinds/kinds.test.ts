import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../wire/dialect.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { decodeObject } from "../objects/decode.ts";
import { create, endpoint, type Endpoint, update } from "../objects/objects.fixture.ts";
import { metadataOf } from "../contract/objects.ts";
import { validateCreate, validateUpdate } from "../objects/validation.ts";
import { decodedLength } from "./core/config-map.ts";
import { qosClass } from "./core/pods/qos.ts";

const texts = (body: JsonObject, at: Endpoint): readonly string[] =>
  validateCreate(create(body, at), at.strategy).map(({ field, message }) => `${field}: ${message}`);

const stepTexts = (before: JsonObject, after: JsonObject, at: Endpoint): readonly string[] => {
  const live = create(before, at);
  const metadata = { ...(after["metadata"] as JsonObject), namespace: "ns", resourceVersion: "1" };
  return validateUpdate(update({ ...after, metadata }, live, at), live, at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};

const configMaps = endpoint("v1/configmaps");
const secrets = endpoint("v1/secrets");
const pods = endpoint("v1/pods");
const events = endpoint("events.svc.io/v1/events");
const coreEvents = endpoint("v1/events");

describe("ConfigMaps", () => {
  const map = (data: JsonObject, more: JsonObject = {}): JsonObject => ({ metadata: { name: "a" }, data, ...more });

  it("have keys that are file names", () => {
    expect(texts(map({ "ok.key_1-x": "" }), configMaps)).toEqual([]);
    expect(texts(map({ "a/b": "" }), configMaps)[0]).toContain('data[a/b]: Invalid value: "a/b": a valid config key');
    expect(texts(map({ "..": "" }), configMaps)).toEqual(["data[..]: Invalid value: \"..\": must not be '..'"]);
    expect(texts(map({ k: "" }, { binaryData: { k: "AA==" } }), configMaps)[0]).toContain("duplicate of key present");
  });

  it("hold at most a mebibyte, bytes counted as they are decoded", () => {
    expect(texts(map({ k: "x".repeat(1_048_576) }), configMaps)).toEqual([]);
    expect(texts(map({ k: "x".repeat(1_048_577) }), configMaps)).toEqual([
      "[]: Too long: may not be more than 1048576 bytes",
    ]);
    expect(["", "AA==", "AAA=", "AAAA"].map(decodedLength)).toEqual([0, 1, 2, 3]);
  });

  it("stay as they are once immutable", () => {
    const fixed = map({ a: "b" }, { immutable: true });
    expect(stepTexts(fixed, fixed, configMaps)).toEqual([]);
    expect(stepTexts(fixed, map({ a: "c" }, { immutable: true }), configMaps)).toEqual([
      "data: Forbidden: field is immutable when `immutable` is set",
    ]);
    expect(stepTexts(fixed, map({ a: "b" }), configMaps)).toEqual([
      "immutable: Forbidden: field is immutable when `immutable` is set",
    ]);
  });
});

it("Secrets take plain text as data and are of one type for good", () => {
  const made = create(
    { metadata: { name: "s" }, stringData: { user: "bob é" }, data: { user: "AAAA", z: "AAAA" } },
    secrets,
  );
  expect(made).toMatchObject({ type: "Opaque", data: { user: btoa("bob \u00c3\u00a9"), z: "AAAA" } });
  expect(made).not.toHaveProperty("stringData");
  expect(texts({ metadata: { name: "s" }, type: "svc.io/tls" }, secrets)).toEqual([
    "data[tls.crt]: Required value",
    "data[tls.key]: Required value",
  ]);
  expect(stepTexts({ metadata: { name: "s" } }, { metadata: { name: "s" }, type: "x" }, secrets)).toEqual([
    'type: Invalid value: "x": field is immutable',
  ]);
});

it("Namespaces carry their name, a phase and a finalizer", () => {
  const namespaces = endpoint("v1/namespaces", kubernetesDialect);
  const made = create({ metadata: { name: "n" } }, namespaces);
  expect(metadataOf(made).labels).toEqual({ "kubernetes.io/metadata.name": "n" });
  expect(made).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
  const emptied = { metadata: { name: "n" }, spec: {} };
  expect(update(emptied, made, namespaces)["spec"]).toEqual({ finalizers: ["kubernetes"] });
  expect(update(emptied, made, namespaces, { subresource: "finalize" })["spec"]).toEqual({});
});

describe("Pods", () => {
  const pod = (spec: JsonObject): JsonObject => ({ metadata: { name: "p" }, spec });
  const container = { name: "c", image: "i" };

  it("come with the defaults that a recorded one shows", () => {
    expect(create(pod({ containers: [{ ...container, ports: [{ containerPort: 80 }] }] }), pods)).toMatchObject({
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            ports: [{ containerPort: 80, protocol: "TCP" }],
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "Always",
          },
        ],
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        securityContext: {},
        schedulerName: "default-scheduler",
        tolerations: [{ key: "node.svc.io/not-ready" }, { key: "node.svc.io/unreachable" }],
        priority: 0,
        enableServiceLinks: true,
        preemptionPolicy: "PreemptLowerPriority",
      },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
  });

  it.each([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["nginx:1.25", "IfNotPresent"],
    ["host:5000/nginx", "Always"],
    ["host:5000/nginx:1", "IfNotPresent"],
    ["nginx@sha256:0", "IfNotPresent"],
  ])("pull %s: %s", (image, policy) => {
    const made = create(pod({ containers: [{ name: "c", image }] }), pods);
    expect(made).toMatchObject({ spec: { containers: [{ imagePullPolicy: policy }] } });
  });

  it("say what they lack", () => {
    expect(texts(pod({}), pods)).toEqual(["spec.containers: Required value"]);
    expect(texts(pod({ containers: [{ name: "c" }, container], restartPolicy: "Maybe" }), pods)).toEqual([
      "spec.containers[0].image: Required value",
      'spec.containers[1].name: Duplicate value: "c"',
      'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
    ]);
    const mounted = { ...container, volumeMounts: [{ name: "v", mountPath: "/v" }] };
    expect(texts(pod({ containers: [mounted] }), pods)).toEqual([
      'spec.containers[0].volumeMounts[0].name: Not found: "v"',
    ]);
    expect(texts(pod({ containers: [mounted], volumes: [{ name: "v" }] }), pods)).toEqual([]);
  });

  it("change image and little else", () => {
    const before = pod({ containers: [container] });
    expect(stepTexts(before, pod({ containers: [{ ...container, image: "j" }] }), pods)).toEqual([]);
    expect(stepTexts(before, pod({ containers: [container, { name: "d", image: "i" }] }), pods)).toEqual([
      "spec.containers: Forbidden: pod updates may not add or remove containers",
    ]);
    expect(stepTexts(before, pod({ containers: [container], nodeName: "n" }), pods)[0]).toContain(
      "spec: Forbidden: pod updates may not change fields other than",
    );
  });

  it.each<[JsonObject, JsonObject, string]>([
    [{}, {}, "BestEffort"],
    [{ cpu: "1" }, {}, "Burstable"],
    [{ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "1Gi" }, "Guaranteed"],
    [{ cpu: "1", memory: "1Gi" }, { cpu: "1" }, "Guaranteed"],
    [{ cpu: "1", memory: "1Gi" }, { cpu: "500m", memory: "1Gi" }, "Burstable"],
    [{}, { cpu: "1" }, "Burstable"],
    [{ "example.com/gpu": "1" }, {}, "BestEffort"],
  ])("with limits %j and requests %j are %s", (limits, requests, expected) => {
    expect(qosClass({ containers: [{ name: "c", resources: { limits, requests } }] })).toBe(expected);
  });

  it("decode to themselves: defaults do nothing the second time, frozen or not", () => {
    const made = create(
      pod({
        containers: [{ ...container, livenessProbe: { httpGet: { port: 1 } } }],
        volumes: [{ name: "v", secret: {} }],
      }),
      pods,
    );
    const again = decodeObject(made, "json", pods.target, "Strict").draft;
    expect(again).toEqual(made);
  });
});

describe("Events", () => {
  const event = (more: Record<string, Json | undefined>): JsonObject => {
    const whole: Record<string, Json | undefined> = {
      metadata: { name: "e" },
      eventTime: "2026-01-01T00:00:00.000001Z",
      action: "Binding",
      reason: "Scheduled",
      type: "Normal",
      regarding: { kind: "Pod", namespace: "ns", name: "p" },
      reportingController: "example.com/ctl",
      reportingInstance: "ctl-1",
      ...more,
    };
    return JSON.parse(JSON.stringify(whole)) as JsonObject;
  };

  it.each<[Record<string, Json | undefined>, readonly string[]]>([
    [{}, []],
    [{ eventTime: undefined }, ["eventTime: Required value"]],
    [{ action: undefined }, ["action: Required value"]],
    [{ type: "Odd" }, ['type: Invalid value: "": has invalid value: Odd']],
    [{ action: "a".repeat(129) }, ['action: Invalid value: "": can have at most 128 characters']],
    [{ note: "é".repeat(513) }, ['message: Invalid value: "": can have at most 1024 characters']],
    [{ regarding: undefined }, ['involvedObject.namespace: Invalid value: "": does not match event.namespace']],
    [{ regarding: { namespace: "elsewhere" } }, []],
    [
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:01.000000Z" } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
    [
      { eventTime: undefined, action: "", reason: "", type: "", reportingController: "" },
      ["eventTime: Required value", 'type: Invalid value: "": has invalid value: '],
    ],
    [
      { deprecatedCount: 3, deprecatedSource: { component: "c" }, deprecatedFirstTimestamp: "2026-01-01T00:00:00Z" },
      [
        'firstTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
  ])("%j", (more, expected) => {
    expect(texts(event(more), events)).toEqual(expected);
  });

  it("name no controller but a qualified one", () => {
    expect(texts(event({ reportingController: undefined }), events)[0]).toBe("reportingController: Required value");
    expect(texts(event({ reportingController: "not qualified name!" }), events)).toHaveLength(1);
  });

  it("change only metadata and series", () => {
    expect(stepTexts(event({}), event({ note: "other" }), events)).toEqual([
      'message: Invalid value: "other": field is immutable',
    ]);
    const series = { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" };
    expect(stepTexts(event({}), event({ series, metadata: { name: "e", labels: { a: "b" } } }), events)).toEqual([]);
  });

  it("of the older version are judged by its laxer rules", () => {
    const old = (namespace: string): JsonObject => ({ metadata: { name: "e" }, involvedObject: { namespace } });
    expect(texts(old("ns"), coreEvents)).toEqual([]);
    expect(texts(old("other"), coreEvents)).toEqual([
      'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ]);
  });
});

it("Deployments have a strategy, and a selector that matches and stays", () => {
  const deployments = endpoint("apps/v1/deployments");
  const deployment = (label: string, wanted = label): JsonObject => ({
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: wanted } },
      template: { metadata: { labels: { a: label } }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  });
  const made = create(deployment("b"), deployments);
  expect(made).toMatchObject({
    spec: {
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  });
  expect((made["spec"] as { template: { spec: object } }).template.spec).not.toHaveProperty("enableServiceLinks");
  expect(texts(deployment("b"), deployments)).toEqual([]);
  expect(texts(deployment("b", "x"), deployments)[0]).toContain("`selector` does not match template `labels`");
  expect(stepTexts(deployment("b"), deployment("c"), deployments)[0]).toContain("spec.selector: Invalid value");
});

it("Services default their ports, and Leases their nothing", () => {
  const services = endpoint("v1/services");
  const service = { metadata: { name: "s" }, spec: { type: "NodePort", ports: [{ port: 80 }] } };
  expect(create(service, services)).toMatchObject({
    spec: {
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      externalTrafficPolicy: "Cluster",
    },
    status: { loadBalancer: {} },
  });
  expect(texts({ metadata: { name: "s" }, spec: {} }, services)).toEqual(["spec.ports: Required value"]);
  const leases = endpoint("coordination.svc.io/v1/leases");
  expect(texts({ metadata: { name: "l" }, spec: { leaseDurationSeconds: 0 } }, leases)).toEqual([
    "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
  ]);
});

it("keeps a new node free of pods until somebody has found it ready, once", () => {
  const nodes = endpoint("v1/nodes");
  const notReady = { key: "node.svc.io/not-ready", effect: "NoSchedule" };
  const other = { key: "gpu", effect: "NoExecute" };
  const taints = (spec: JsonObject): unknown =>
    (create({ metadata: { name: "n" }, spec }, nodes)["spec"] as JsonObject)["taints"];
  expect(taints({})).toEqual([notReady]);
  expect(taints({ taints: [other] })).toEqual([other, notReady]);
  expect(taints({ taints: [notReady] })).toEqual([notReady]);
});

it("labels a namespace with its name when that had to be generated", () => {
  const made = create({ metadata: { generateName: "team-" } }, endpoint("v1/namespaces"));
  const { name = "", labels } = metadataOf(made);
  expect(name).toMatch(/^team-./);
  expect(labels).toEqual({ "svc.io/metadata.name": name });
});

it("shows what an event's immutable fields were to become", () => {
  const event = {
    metadata: { name: "e", namespace: "ns" },
    eventTime: "2026-01-01T00:00:00.500000Z",
    reportingController: "c.io/d",
    reportingInstance: "i",
    action: "a",
    reason: "r",
    type: "Normal",
    regarding: { kind: "Pod", namespace: "ns", name: "p" },
  };
  const changed = (fields: JsonObject): readonly string[] => stepTexts(event, { ...event, ...fields }, events);
  const refused = "field is immutable";
  expect(changed({})).toEqual([]);
  expect(changed({ reason: "s" })).toEqual(Array(2).fill(`reason: Invalid value: "s": ${refused}`));
  expect(changed({ eventTime: "2026-01-01T00:00:00.250000Z" })).toEqual([
    `eventTime: Invalid value: 2026-01-01 00:00:00.25 +0000 UTC: ${refused}`,
  ]);
  expect(changed({ regarding: { kind: "Pod", namespace: "ns", name: "q" } })).toEqual([
    'involvedObject: Invalid value: core.ObjectReference{Kind:"Pod", Namespace:"ns", Name:"q", UID:"", APIVersion:"", ' +
      `ResourceVersion:"", FieldPath:""}: ${refused}`,
  ]);
});
