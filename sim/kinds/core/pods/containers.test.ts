import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import { containerCauses, podCauses } from "./pods.fixture.ts";

const container = { name: "c", image: "i" };
const init = (fields: JsonObject): readonly string[] =>
  podCauses({ containers: [container], initContainers: [{ name: "i", image: "i", ...fields }] }).map((text) =>
    text.replace("spec.initContainers[0].", ""),
  );

it("A name is given once among all containers", () => {
  expect(podCauses({ containers: [container], initContainers: [container] })).toEqual([
    'spec.initContainers[0].name: Duplicate value: "c"',
  ]);
});

it("Policies are the known ones; an empty one is the default", () => {
  expect(containerCauses({ imagePullPolicy: "", terminationMessagePolicy: "" })).toEqual([]);
  expect(containerCauses({ imagePullPolicy: "Z", terminationMessagePolicy: "Q" })).toEqual([
    'terminationMessagePolicy: Unsupported value: "Q": supported values: "File", "FallbackToLogsOnError"',
    'imagePullPolicy: Unsupported value: "Z": supported values: "Always", "IfNotPresent", "Never"',
  ]);
});

it("Only an init container that is always restarted has probes and a restart policy", () => {
  const livenessProbe = { exec: { command: ["true"] } };
  expect(init({ restartPolicy: "Always", livenessProbe })).toEqual([]);
  expect(init({ livenessProbe })).toEqual([
    "livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
  ]);
  expect(init({ restartPolicy: "Never" })).toEqual([
    'restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ]);
  expect(containerCauses({ restartPolicy: "Always" })).toEqual([
    "restartPolicy: Forbidden: may not be set for non-init containers",
  ]);
});

it("Users are the system's, and the privileged keep their privileges", () => {
  expect(containerCauses({ securityContext: { runAsUser: -1 } })).toEqual([
    "securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ]);
  const securityContext = { privileged: true, allowPrivilegeEscalation: false };
  expect(containerCauses({ securityContext })[0]).toContain("cannot set `allowPrivilegeEscalation` to false");
  expect(containerCauses({}, { securityContext: { fsGroup: -2 } })).toEqual([
    "spec.securityContext.fsGroup: Invalid value: -2: must be between 0 and 2147483647, inclusive",
  ]);
});
