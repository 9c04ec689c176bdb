import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { containerCauses, podCauses } from "./pods.fixture.ts";

const volume = (source: JsonObject): readonly string[] =>
  containerCauses({}, { serviceAccountName: "a", volumes: [{ name: "v", ...source }] }).map((text) =>
    text.replaceAll("spec.volumes[0].", ""),
  );
const projected = (...sources: Json[]): readonly string[] => volume({ projected: { sources } });

it("Facts about the pod are those that a file can show", () => {
  const shown = (fieldPath: string): readonly string[] =>
    volume({ downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath } }] } });
  expect(shown("metadata.labels['a']")).toEqual([]);
  expect(shown("metadata.annotations")).toEqual([]);
  expect(shown("spec.nodeName")).toEqual([
    'downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
  ]);
  expect(shown("spec.x")).toEqual([
    'downwardAPI.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
  ]);
  const amount = (resourceFieldRef: JsonObject): readonly string[] =>
    volume({ downwardAPI: { items: [{ path: "p", resourceFieldRef }] } });
  expect(amount({ resource: "limits.cpu" })).toEqual(["downwardAPI.resourceFieldRef.containerName: Required value"]);
  expect(amount({ containerName: "c", resource: "limits.cpu", divisor: "2" })).toEqual([
    `downwardAPI.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
  ]);
  expect(amount({ containerName: "c", resource: "limits.memory", divisor: "1Mi" })).toEqual([]);
});

it("Files of several sources are different files", () => {
  const items = [{ key: "k", path: "same" }];
  expect(projected({ secret: { name: "s", items } }, { configMap: { name: "m", items } })).toEqual([
    'projected: Invalid value: "m": conflicting duplicate paths',
  ]);
  expect(projected({ secret: { name: "s" }, configMap: { name: "m" } })).toEqual([
    "projected.sources[0]: Forbidden: may not specify more than 1 volume type per source",
  ]);
});

it("A token lasts ten minutes at least, stays in its volume and is somebody's", () => {
  expect(projected({ serviceAccountToken: { path: "t" } })).toEqual([]);
  expect(projected({ serviceAccountToken: { path: "../t", expirationSeconds: 9 } })).toEqual([
    "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 9: may not specify a duration less than 10 minutes",
    `projected.path: Invalid value: "../t": must not contain '..'`,
  ]);
  const volumes = [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }];
  expect(podCauses({ containers: [{ name: "c", image: "i" }], volumes })).toEqual([
    "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
  ]);
});
