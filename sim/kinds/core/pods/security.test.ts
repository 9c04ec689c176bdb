import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const ofContainer = (securityContext: JsonObject, spec: JsonObject = {}): readonly string[] =>
  containerCauses({ securityContext }, spec).map((text) => text.replace("securityContext", "it"));
const ofPod = (securityContext: JsonObject, spec: JsonObject = {}): readonly string[] =>
  containerCauses({}, { ...spec, securityContext }).map((text) => text.replace("spec.securityContext", "it"));

it.each([ofContainer, ofPod])("Profiles are known ones, with a file where they are the node's own", (causes) => {
  expect(causes({ seccompProfile: { type: "RuntimeDefault" }, appArmorProfile: { type: "Unconfined" } })).toEqual([]);
  expect(causes({ seccompProfile: { type: "Localhost" } })).toEqual([
    "it.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
  ]);
  expect(causes({ seccompProfile: { type: "Z" } })).toEqual([
    'it.seccompProfile.type: Unsupported value: "Z": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
  ]);
  expect(causes({ seccompProfile: { type: "Localhost", localhostProfile: "/a" } })).toEqual([
    'it.seccompProfile.localhostProfile: Invalid value: "/a": must be a relative path',
  ]);
  expect(causes({ appArmorProfile: { type: "Localhost", localhostProfile: " a" } })).toEqual([
    'it.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace',
  ]);
  expect(causes({ appArmorProfile: { type: "RuntimeDefault", localhostProfile: "a" } })).toEqual([
    'it.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost',
  ]);
});

it("A container gains no rights by the back door", () => {
  expect(ofContainer({ allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } })).toEqual([
    "it: Invalid value: core.SecurityContext{}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
  ]);
  expect(ofContainer({ procMount: "Unmasked" })).toEqual([
    'it.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
  ]);
  expect(ofContainer({ procMount: "Unmasked" }, { hostUsers: false })).toEqual([]);
});

it("Settings of the kernel are named well, once, and not the node's", () => {
  const set = (name: string, spec: JsonObject = {}): readonly string[] =>
    ofPod({ sysctls: [{ name, value: "1" }] }, spec);
  expect(set("net.ipv4.x/y")).toEqual([]);
  expect(set("A")[0]).toContain('it.sysctls[0].name: Invalid value: "A": must have at most 253 characters');
  expect(set("net.a", { hostNetwork: true })).toEqual([
    `it.sysctls[0].name: Invalid value: "net.a": may not be specified when 'hostNetwork' is true`,
  ]);
  expect(set("kernel.shmmax", { hostIPC: true })).toHaveLength(1);
  expect(ofPod({ sysctls: [{ name: "a" }, { name: "a" }, {}] })).toEqual([
    'it.sysctls[1].name: Duplicate value: "a"',
    "it.sysctls[2].name: Required value",
  ]);
});

it("What a pod shares with its node it says in one way", () => {
  expect(ofPod({ supplementalGroups: [1, -1] })).toEqual([
    "it.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ]);
  expect(ofPod({ fsGroupChangePolicy: "Z" })).toEqual([
    'it.fsGroupChangePolicy: Unsupported value: "Z": supported values: "Always", "OnRootMismatch"',
  ]);
  expect(ofPod({}, { shareProcessNamespace: true, hostPID: true })).toEqual([
    "it.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
  ]);
  expect(ofPod({}, { hostUsers: false, hostPID: true })).toEqual([
    "spec.HostPID: Forbidden: when `pod.Spec.HostUsers` is false",
  ]);
});
