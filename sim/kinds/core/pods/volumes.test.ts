import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const volumes = (...list: Json[]): readonly string[] => containerCauses({}, { volumes: list });
const volume = (source: JsonObject): readonly string[] =>
  volumes({ name: "v", ...source }).map((text) => text.replace("spec.volumes[0].", ""));

it("A volume has a name of its own and one source; none is scratch space", () => {
  expect(volumes({ name: "a" }, { name: "b", configMap: { name: "m" } })).toEqual([]);
  expect(volumes({ name: "a" }, { name: "a" }, {})).toEqual([
    'spec.volumes[1].name: Duplicate value: "a"',
    "spec.volumes[2].name: Required value",
  ]);
  expect(volume({ hostPath: { path: "/a" }, emptyDir: {} })).toEqual([
    "hostPath: Forbidden: may not specify more than 1 volume type",
  ]);
});

const wrong: readonly (readonly [JsonObject, string])[] = [
  [
    { emptyDir: { sizeLimit: "-1" } },
    "emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
  ],
  [{ hostPath: { path: "/a/../b" } }, `hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
  [{ secret: {} }, "secret.secretName: Required value"],
  [
    { configMap: { name: "m", defaultMode: 512 } },
    "configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
  ],
  [
    { configMap: { name: "m", items: [{ key: "k", path: "/abs" }] } },
    'configMap.items[0].path: Invalid value: "/abs": must be a relative path',
  ],
  [{ persistentVolumeClaim: {} }, "persistentVolumeClaim.claimName: Required value"],
  [{ nfs: { server: "s", path: "a" } }, 'nfs.path: Invalid value: "a": must be an absolute path'],
  [
    { downwardAPI: { items: [{ path: "p" }] } },
    "downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
  ],
  [{ csi: { driver: "A/b" } }, expect.stringContaining('csi.driver: Invalid value: "A/b": a lowercase RFC 1123')],
  [{ rbd: { monitors: [], image: "i" } }, "rbd.monitors: Required value"],
  [
    { ephemeral: { volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"] } } } },
    "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
  ],
];

it.each(wrong)("%j is refused", (source, text) => expect(volume(source)).toEqual([text]));

it("Mounts are of volumes that are right, each in a place of its own", () => {
  const mounted = (...volumeMounts: Json[]): readonly string[] =>
    containerCauses({ volumeMounts }, { volumes: [{ name: "v" }] });
  expect(mounted({ name: "v", mountPath: "/a" }, { name: "v", mountPath: "/b", subPath: "x" })).toEqual([]);
  expect(mounted({ name: "v", mountPath: "/a" }, { name: "v", mountPath: "/a" })).toEqual([
    'volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
  ]);
  expect(mounted({ name: "v", mountPath: "/a", subPath: "../x", subPathExpr: "y" })).toEqual([
    `volumeMounts.subPath: Invalid value: "../x": must not contain '..'`,
    'volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
  ]);
  const broken = containerCauses(
    { volumeMounts: [{ name: "v", mountPath: "/a" }] },
    { volumes: [{ name: "v", secret: {} }] },
  );
  expect(broken).toEqual(["spec.volumes[0].secret.secretName: Required value", 'volumeMounts[0].name: Not found: "v"']);
});

it("A list of a source that is null is as good as none", () => {
  expect(volumes({ name: "v", cephfs: { monitors: null } })).toEqual([
    "spec.volumes[0].cephfs.monitors: Required value",
  ]);
});
