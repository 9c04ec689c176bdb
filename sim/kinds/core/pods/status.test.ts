import { expect, it } from "vitest";
import { kubernetesDialect } from "../../../../wire/dialect.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Draft } from "../../../contract/objects.ts";
import { podRules } from "../pod.ts";
import { podStatusRules } from "./status.ts";

const causes = (status: JsonObject, before: JsonObject = {}, spec: JsonObject = {}): readonly string[] => {
  const found: Cause[] = [];
  podStatusRules({ spec, status }, { spec, status: before }, found, kubernetesDialect);
  return found.map(({ field, message }) => `${field}: ${message}`);
};
const ended = { name: "c", state: { terminated: { exitCode: 1 } } };
const again = { name: "c", state: { running: {} } };

it("A container runs again where its pod restarts it", () => {
  const step = (list: string, restartPolicy: string, spec: JsonObject = {}): readonly string[] =>
    causes({ [list]: [again] }, { [list]: [ended] }, { restartPolicy, ...spec });
  expect(step("containerStatuses", "Always")).toEqual([]);
  expect(step("containerStatuses", "OnFailure")).toEqual([]);
  expect(step("containerStatuses", "Never")).toEqual([
    "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
  ]);
  expect(step("ephemeralContainerStatuses", "Always")).toHaveLength(1);
  expect(step("initContainerStatuses", "Never")).toHaveLength(1);
  const sidecar = { initContainers: [{ name: "c", restartPolicy: "Always" }] };
  expect(step("initContainerStatuses", "Never", sidecar)).toEqual([]);
});

it("Addresses are one of each family", () => {
  expect(causes({ podIPs: [{ ip: "1.2.3.4" }, { ip: "::1" }] })).toEqual([]);
  expect(causes({ podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }] })).toEqual([
    'status.podIPs: Invalid value: []core.PodIP{{IP:"1.2.3.4"}, {IP:"1.2.3.4"}}: may specify no more than one IP for each IP family',
    'status.podIPs[1]: Duplicate value: core.PodIP{IP:"1.2.3.4"}',
  ]);
  expect(causes({ hostIP: "1.1.1.1", hostIPs: [{ ip: "2.2.2.2" }] })).toEqual([
    'status.hostIPs[0].ip: Invalid value: "2.2.2.2": must be equal to `hostIP`',
  ]);
});

it("Conditions have qualified names, nominated nodes have names, and the class of service stays", () => {
  expect(causes({ conditions: [{ type: "Ready" }, { type: "a b" }] })[0]).toContain("metadata.conditions[1].Type: ");
  expect(causes({ nominatedNodeName: "A" })[0]).toContain('status.nominatedNodeName: Invalid value: "A"');
  expect(causes({ qosClass: "Burstable" }, { qosClass: "BestEffort" })).toEqual([
    'status.qosClass: Invalid value: "Burstable": field is immutable',
  ]);
});

it("A status that says nothing of the class of service keeps it", () => {
  const live = { status: { phase: "Running", qosClass: "Burstable" } };
  const kept = (draft: Draft, subresource = "status"): unknown => {
    podRules.prepareForUpdate?.(draft, live, subresource, kubernetesDialect);
    return draft["status"];
  };
  expect(kept({ status: { phase: "Failed" } })).toEqual({ phase: "Failed", qosClass: "Burstable" });
  expect(kept({})).toEqual({ qosClass: "Burstable" });
  expect(kept({ status: { qosClass: "BestEffort" } })).toEqual({ qosClass: "BestEffort" }); // and is refused for it
});
