import { expect, it } from "vitest";
import type { JsonObject } from "../../http-message.ts";
import { create, endpoint } from "../object-fixtures.ts";
import { validateCreate } from "../validation.ts";

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
