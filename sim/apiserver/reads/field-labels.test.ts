import { describe, expect, it } from "vitest";
import { type FieldSelector, parseFieldSelector } from "../../../wire/selectors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { checkFieldLabels, fieldLabelsOf, fieldMatcher } from "./field-labels.ts";

function matches(group: string, resource: string, selector: string, object: JsonObject): boolean {
  const labels = fieldLabelsOf(group, "v1", resource);
  const parsed = parseFieldSelector(selector) as FieldSelector;
  checkFieldLabels(parsed, labels);
  return fieldMatcher(parsed, labels)?.(object) ?? true;
}

const pod = {
  metadata: { name: "p", namespace: "n" },
  spec: { nodeName: "n1", hostNetwork: true },
  status: { phase: "Running" },
};
const stored = {
  involvedObject: { kind: "Pod", name: "p" },
  reportingComponent: "c",
  source: { component: "s" },
  type: "Normal",
};
const renamed = {
  regarding: { kind: "Pod", name: "p" },
  reportingController: "c",
  deprecatedSource: { component: "s" },
  type: "Normal",
};

describe("field selectors", () => {
  it.each([
    ["", "pods", "", pod, true],
    ["", "pods", "spec.nodeName=n1,status.phase!=Failed", pod, true],
    ["", "pods", "spec.nodeName=n1,status.phase!=Running", pod, false],
    ["", "pods", "spec.hostNetwork=true", pod, true],
    ["", "pods", "spec.hostNetwork=false", {}, true],
    ["", "pods", "spec.nodeName=", {}, true],
    ["", "pods", "metadata.namespace=n", pod, true],
    ["", "nodes", "spec.unschedulable=false", { spec: {} }, true],
    ["", "secrets", "type=Opaque", { type: "Opaque" }, true],
    ["", "services", "spec.type!=NodePort", { spec: { type: "ClusterIP" } }, true],
    ["", "namespaces", "status.phase=Active", { status: { phase: "Active" } }, true],
    ["", "events", "involvedObject.name=p,reportingComponent=c,source=s,type=Normal", stored, true],
    ["", "events", "involvedObject.name=p,source=s", renamed, true],
    ["events.svc.io", "events", "regarding.name=p,reportingController=c", stored, true],
    ["events.svc.io", "events", "regarding.name=q", renamed, false],
    ["apps", "deployments", "metadata.name!=d", { metadata: { name: "d" } }, false],
  ] as const)("%s/%s %s", (group, resource, selector, object, expected) => {
    expect(matches(group, resource, selector, object as JsonObject)).toBe(expected);
  });

  it.each([
    [
      "",
      "configmaps",
      "data.k=v",
      '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ["", "pods", "spec.color=red", "field label not supported: spec.color"],
    ["events.svc.io", "events", "involvedObject.name=p", "field label not supported: involvedObject.name"],
    ["", "events", "regarding.name=p", "field label not supported: regarding.name"],
  ])("%s/%s refuses %s", (group, resource, selector, message) => {
    expect(() => matches(group, resource, selector, {})).toThrow(message);
  });
});
