import { svcDialect } from "../../../wire/dialect.ts";
import { expect, it } from "vitest";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const pod = { containers: [{ name: "c", image: "i" }] };
const template = { metadata: { labels: { a: "b" } }, spec: pod };
const usual = { selector: { matchLabels: { a: "b" } }, template };

const texts = (kind: string, spec: JsonObject): readonly string[] => {
  const at = endpoint(`apps/v1/${kind}`);
  return validateCreate(create({ metadata: { name: "w" }, spec: { ...usual, ...spec } }, at), at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};

it.each(["deployments", "replicasets", "statefulsets", "daemonsets"])("%s keep their pods running", (kind) => {
  expect(texts(kind, {})).toEqual([]);
  const ending = { ...template, spec: { ...pod, restartPolicy: "Never", activeDeadlineSeconds: 9 } };
  expect(texts(kind, { template: ending })).toEqual([
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    expect.stringContaining("spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "),
  ]);
  expect(texts(kind, { minReadySeconds: -1 })[0]).toBe(
    "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
  );
});

it("A selector finds the template's pods, by expressions as well", () => {
  const expression = (operator: string, values?: string[]): JsonObject => ({
    selector: { matchExpressions: [{ key: "a", operator, ...(values && { values }) }] },
  });
  expect(texts("deployments", expression("In", ["b"]))).toEqual([]);
  expect(texts("deployments", expression("In", ["z"]))).toEqual([
    'spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: `selector` does not match template `labels`',
  ]);
  expect(texts("deployments", expression("In"))).toEqual([
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ]);
  expect(texts("daemonsets", { selector: {} })[0]).toContain("empty selector is invalid for daemonset");
});

it("A rollout can make a step, within its deadline", () => {
  const strategy = (fields: JsonObject): readonly string[] => texts("deployments", { strategy: fields });
  expect(strategy({ rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } })).toEqual([
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"0%"}: may not be 0 when `maxSurge` is 0',
  ]);
  expect(strategy({ type: "Recreate" })).toEqual([]);
  expect(strategy({ type: "Recreate", rollingUpdate: { maxSurge: 1 } })).toEqual([
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ]);
  expect(strategy({ type: "Slow" })).toEqual([
    'spec.strategy.type: Unsupported value: "Slow": supported values: "Recreate", "RollingUpdate"',
  ]);
  expect(texts("deployments", { progressDeadlineSeconds: 5, minReadySeconds: 5 })).toEqual([
    "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds",
  ]);
});

it("A controller without a selector finds nothing", () => {
  expect(texts("deployments", { selector: null })).toEqual([
    "spec.selector: Required value",
    'spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: `selector` does not match template `labels`',
  ]);
});

it("A stateful set mounts what its claims give, and only some of it changes", () => {
  const at = endpoint("apps/v1/statefulsets");
  const container = { name: "c", image: "i", volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const spec = {
    ...usual,
    serviceName: "s",
    template: { ...template, spec: { containers: [container] } },
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
  };
  const live = create({ metadata: { name: "w" }, spec }, at);
  expect(validateCreate(live, at.strategy)).toEqual([]);
  expect(live["spec"]).toMatchObject({
    volumeClaimTemplates: [{ spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } }],
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
  });
  const step = (fields: JsonObject): readonly string[] => {
    const body = { ...live, spec: { ...(live["spec"] as JsonObject), ...fields } };
    return validateUpdate(update(body, live, at), live, at.strategy).map(({ message }) => message);
  };
  expect(step({ replicas: 3, minReadySeconds: 1 })).toEqual([]);
  expect(step({ serviceName: "z" })[0]).toContain("Forbidden: updates to statefulset spec for fields other than");
  expect(texts("statefulsets", { podManagementPolicy: "Z" })).toEqual([
    `spec.podManagementPolicy: Invalid value: "Z": must be 'OrderedReady' or 'Parallel'`,
  ]);
});

it("A daemon set surges or does without, not both", () => {
  const updated = (rollingUpdate: JsonObject): readonly string[] =>
    texts("daemonsets", { updateStrategy: { type: "RollingUpdate", rollingUpdate } });
  expect(updated({ maxSurge: 1, maxUnavailable: 0 })).toEqual([]);
  expect(updated({ maxSurge: 1 })[0]).toContain("maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1");
  expect(updated({ maxUnavailable: 0 })).toEqual([
    "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
  ]);
});

it("A status counts what there is", () => {
  const causes = (path: string, status: JsonObject, before: JsonObject = {}): readonly string[] => {
    const found: Cause[] = [];
    endpoint(path).strategy.rules.validateStatus?.({ status }, { status: before }, found, svcDialect);
    return found.map(({ field, message }) => `${field}: ${message}`);
  };
  expect(causes("apps/v1/deployments", { replicas: 2, readyReplicas: 2, availableReplicas: 1 })).toEqual([]);
  expect(causes("apps/v1/deployments", { replicas: 1, availableReplicas: 2, unavailableReplicas: -1 })).toEqual([
    "status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas",
  ]);
  expect(causes("apps/v1/daemonsets", {}, { collisionCount: 1 })).toEqual([
    "status.collisionCount: Invalid value: 0: cannot be decremented",
  ]);
});

it("A replication controller is found by its template's labels", () => {
  const at = endpoint("v1/replicationcontrollers");
  const causes = (spec: JsonObject): readonly string[] =>
    validateCreate(create({ metadata: { name: "r" }, spec }, at), at.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(create({ metadata: { name: "r" }, spec: { template } }, at)).toMatchObject({
    metadata: { labels: { a: "b" } },
    spec: { selector: { a: "b" } },
  });
  expect(causes({ template })).toEqual([]);
  expect(causes({ template, selector: { z: "z" } })[0]).toContain("`selector` does not match template `labels`");
  expect(causes({})).toEqual(["spec.selector: Required value", "spec.template: Required value"]);
});

it.each([
  ["v1/pods", ["spec.containers"]],
  ["apps/v1/deployments", ["spec.selector", "spec.template.metadata.labels", "spec.template.spec.containers"]],
  ["apps/v1/daemonsets", ["spec.template.metadata.labels", "spec.template.spec.containers"]],
  ["batch/v1/jobs", ["spec.template.spec.containers", "spec.template.spec.restartPolicy"]],
  [
    "batch/v1/cronjobs",
    [
      "spec.schedule",
      "spec.jobTemplate.spec.template.spec.containers",
      "spec.jobTemplate.spec.template.spec.restartPolicy",
    ],
  ],
])("%s of nothing lack what has no default", (path, fields) => {
  const at = endpoint(path);
  const causes = validateCreate(create({ metadata: { name: "w" } }, at), at.strategy);
  expect(causes.map(({ field }) => field)).toEqual(fields);
});
