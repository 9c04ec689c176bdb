import { expect, it } from "vitest";
import { containerCauses } from "./pods.fixture.ts";

it("A pod for one system says nothing of the other", () => {
  expect(containerCauses({ securityContext: { runAsUser: 1 } }, { os: { name: "linux" } })).toEqual([]);
  expect(containerCauses({}, { os: { name: "linux" }, securityContext: { windowsOptions: {} } })).toEqual([
    "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
  ]);
  const windows = { os: { name: "windows" }, hostPID: true, hostIPC: false, securityContext: { fsGroup: 1 } };
  expect(containerCauses({ securityContext: { privileged: false } }, windows)).toEqual([
    "spec.hostPID: Forbidden: cannot be set for a windows pod",
    "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
    "securityContext.privileged: Forbidden: cannot be set for a windows pod",
  ]);
});

it("There are two systems", () => {
  expect(containerCauses({}, { os: {} })).toEqual(["spec.os.name: Required value: cannot be empty"]);
  expect(containerCauses({}, { os: { name: "plan9" } })).toEqual([
    'spec.os: Unsupported value: "plan9": supported values: "linux", "windows"',
  ]);
});
