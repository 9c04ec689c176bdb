import { expect, it } from "vitest";
import type { Json } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const volumes = [
  { name: "v" },
  { name: "claim", persistentVolumeClaim: { claimName: "c" } },
  { name: "picture", image: { reference: "i" } },
];
const mounted = (...volumeMounts: Json[]): readonly string[] => containerCauses({ volumeMounts }, { volumes });
const used = (...volumeDevices: Json[]): readonly string[] => containerCauses({ volumeDevices }, { volumes });

it("Mounts propagate as they are allowed to, and are read-only all the way down or not at all", () => {
  expect(mounted({ name: "v", mountPath: "/a", mountPropagation: "HostToContainer" })).toEqual([]);
  expect(mounted({ name: "v", mountPath: "/a", mountPropagation: "Bidirectional" })).toEqual([
    "volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
  ]);
  expect(mounted({ name: "v", mountPath: "/a", mountPropagation: "Z" })).toEqual([
    'volumeMounts.mountPropagation: Unsupported value: "Z": supported values: "Bidirectional", "HostToContainer", "None"',
  ]);
  expect(mounted({ name: "v", mountPath: "/a", recursiveReadOnly: "Enabled" })).toEqual([
    "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
  ]);
  expect(mounted({ name: "picture", mountPath: "/a", subPath: "b" })).toEqual([
    'volumeMounts[0].subPath: Invalid value: "b": not allowed in image volume sources',
  ]);
});

it("Devices are of claims, each once, and not where something is mounted", () => {
  expect(used({ name: "claim", devicePath: "/dev/a" })).toEqual([]);
  expect(used({ name: "v", devicePath: "/dev/../a" })).toEqual([
    'volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    `volumeDevices[0].devicePath: Invalid value: "/dev/../a": can not contain backsteps ('..')`,
  ]);
  expect(used({ name: "claim", devicePath: "/a" }, { name: "claim", devicePath: "/a" }, { name: "z" })).toEqual([
    'volumeDevices[1].name: Invalid value: "claim": must be unique',
    'volumeDevices[1].devicePath: Invalid value: "/a": must be unique',
    'volumeDevices[2].name: Not found: "z"',
    "volumeDevices[2].devicePath: Required value",
  ]);
  const both = containerCauses(
    { volumeDevices: [{ name: "claim", devicePath: "/a" }], volumeMounts: [{ name: "claim", mountPath: "/a" }] },
    { volumes },
  );
  expect(both).toEqual([
    'volumeMounts[0].name: Invalid value: "claim": must not already exist in volumeDevices',
    'volumeMounts[0].mountPath: Invalid value: "/a": must not already exist as a path in volumeDevices',
    'volumeDevices[0].name: Invalid value: "claim": must not already exist in volumeMounts',
    'volumeDevices[0].devicePath: Invalid value: "/a": must not already exist as a path in volumeMounts',
  ]);
});
