/** Where a pod's files lie on its machine, as far as they count as its local storage. Source: the published layout. */
import { isObject } from "../../contract/objects.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ActivePod, PodOptions } from "../ports.ts";

export interface VolumePlace {
  /** Of the volume in the pod. */
  readonly name: string;
  readonly path: string;
}

export function logPlace({ logsDir }: Pick<PodOptions, "logsDir">, pod: ActivePod, container: string): string {
  return `${logsDir}/${pod.namespace}_${pod.name}_${pod.uid}/${container}`;
}

/** Folder names of the kinds of volumes whose bytes lie on the node's own disk. */
const folders: Readonly<Record<string, string>> = { emptyDir: "empty-dir", configMap: "configmap" };

/** Volumes in memory and those of others take nothing from the node's disk. */
export function volumePlaces({ rootDir }: Pick<PodOptions, "rootDir">, pod: ActivePod): readonly VolumePlace[] {
  const { spec } = pod.object;
  const volumes = isObject(spec) && Array.isArray(spec["volumes"]) ? (spec["volumes"] as readonly JsonObject[]) : [];
  return volumes.flatMap((volume) => {
    const name = String(volume["name"]);
    const kind = Object.keys(folders).find((key) => isObject(volume[key]));
    if (kind === undefined || (volume[kind] as JsonObject)["medium"] === "Memory") return [];
    return [{ name, path: `${rootDir}/pods/${pod.uid}/volumes/kubernetes.io~${folders[kind]}/${name}` }];
  });
}
