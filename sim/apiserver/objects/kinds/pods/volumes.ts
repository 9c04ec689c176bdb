/**
 * Volumes of a pod and where containers mount them. Source: the published validation of volumes.
 * Simplification: of the sources that drivers serve, only the mentioned fields are judged.
 */
import { dns1123LabelErrors } from "../../../../../wire/names.ts";
import { parseQuantity } from "../../../../../wire/quantity.ts";
import type { Cause } from "../../../errors.ts";
import type { Json, JsonObject } from "../../../http-message.ts";
import { duplicateValue, forbiddenField, invalidValue, requiredValue, unsupportedValue } from "../../causes.ts";
import { isObject } from "../../types.ts";
import { listOf } from "../fields.ts";
import { resourceRefCauses } from "./environment.ts";

/** The names that may be mounted: those of volumes whose source is right. */
export function volumesCauses(volumes: readonly JsonObject[], path: string, causes: Cause[]): ReadonlySet<string> {
  const names = new Set<string>();
  volumes.forEach((volume, at) => {
    const here = `${path}[${at}]`;
    const name = (volume["name"] ?? "") as string;
    const found: Cause[] = [];
    sourcesCauses(volume, here, found);
    if (name === "") causes.push(requiredValue(`${here}.name`));
    for (const text of name === "" ? [] : dns1123LabelErrors(name))
      causes.push(invalidValue(`${here}.name`, name, text));
    if (names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    if (found.length === 0) names.add(name);
    else causes.push(...found);
  });
  return names;
}

type Judge = (source: JsonObject, path: string, causes: Cause[]) => void;

function sourcesCauses(volume: JsonObject, path: string, causes: Cause[]): void {
  const given = Object.keys(volume).filter((field) => field !== "name" && isObject(volume[field]));
  // Scratch space and the node's directories are looked at first: another kind beside them is the one too many.
  const ordered = ["emptyDir", "hostPath", ...Object.keys(sources), ...given].filter((name) => given.includes(name));
  if (given.length === 0) causes.push(requiredValue(path, "must specify a volume type"));
  [...new Set(ordered)].forEach((name, at) => {
    if (at > 0) causes.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 volume type"));
    else sources[name]?.(volume[name] as JsonObject, `${path}.${name}`, causes);
  });
}

const sources: Readonly<Record<string, Judge>> = {
  emptyDir(source, path, causes) {
    const quantity = parseQuantity(String(source["sizeLimit"] ?? "0"));
    if ("error" in quantity || quantity.digits >= 0n) return;
    causes.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  },
  hostPath(source, path, causes) {
    needs(source, ["path"], path, causes);
    if ((source["path"] ?? "") !== "") noWayBack(source["path"] as string, `${path}.path`, causes);
    const type = (source["type"] ?? "") as string;
    if (!hostPathTypes.includes(type)) causes.push(unsupportedValue(`${path}.type`, type, hostPathTypes));
  },
  gitRepo: (source, path, causes) => needs(source, ["repository"], path, causes),
  gcePersistentDisk: (source, path, causes) => needs(source, ["pdName"], path, causes),
  awsElasticBlockStore: (source, path, causes) => needs(source, ["volumeID"], path, causes),
  secret(source, path, causes) {
    needs(source, ["secretName"], path, causes);
    filesCauses(source, path, causes);
  },
  nfs(source, path, causes) {
    needs(source, ["server", "path"], path, causes);
    const directory = (source["path"] ?? "/") as string;
    if (!directory.startsWith("/")) causes.push(invalidValue(`${path}.path`, directory, "must be an absolute path"));
  },
  persistentVolumeClaim: (source, path, causes) => needs(source, ["claimName"], path, causes),
  downwardAPI(source, path, causes) {
    modeCauses(source["defaultMode"], `${path}.defaultMode`, causes);
    listOf(source, "items").forEach((item) => downwardCauses(item, path, causes));
  },
  configMap(source, path, causes) {
    needs(source, ["name"], path, causes);
    filesCauses(source, path, causes);
  },
  projected(source, path, causes) {
    modeCauses(source["defaultMode"], `${path}.defaultMode`, causes);
    listOf(source, "sources").forEach((one, at) => projectionCauses(one, `${path}.sources[${at}]`, causes));
  },
  csi: (source, path, causes) => needs(source, ["driver"], path, causes),
};

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** What can be projected into one volume, and what of it must be said. */
const projections: Readonly<Record<string, Judge>> = {
  secret(source, path, causes) {
    needs(source, ["name"], path, causes);
    filesCauses(source, path, causes);
  },
  configMap(source, path, causes) {
    needs(source, ["name"], path, causes);
    filesCauses(source, path, causes);
  },
  downwardAPI: (source, path, causes) => listOf(source, "items").forEach((item) => downwardCauses(item, path, causes)),
  serviceAccountToken(source, path, causes) {
    const seconds = (source["expirationSeconds"] ?? 0) as number;
    const at = `${path}.expirationSeconds`;
    if (seconds < 600) causes.push(invalidValue(at, seconds, "may not specify a duration less than 10 minutes"));
    if (seconds > 4_294_967_296) {
      causes.push(invalidValue(at, seconds, "may not specify a duration larger than 2^32 seconds"));
    }
    needs(source, ["path"], path, causes);
  },
};

function projectionCauses(one: JsonObject, path: string, causes: Cause[]): void {
  const given = Object.keys(projections).filter((name) => isObject(one[name]));
  given.forEach((name, at) => {
    if (at > 0) causes.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 volume type per source"));
    else projections[name]?.(one[name] as JsonObject, `${path}.${name}`, causes);
  });
}

function needs(source: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  for (const field of fields) if ((source[field] ?? "") === "") causes.push(requiredValue(`${path}.${field}`));
}

/** Keys of a config map or a secret as files. */
function filesCauses(source: JsonObject, path: string, causes: Cause[]): void {
  modeCauses(source["defaultMode"], `${path}.defaultMode`, causes);
  listOf(source, "items").forEach((item, at) => {
    const here = `${path}.items[${at}]`;
    needs(item, ["key", "path"], here, causes);
    if ((item["path"] ?? "") !== "") fileCauses(item["path"] as string, `${here}.path`, causes);
    modeCauses(item["mode"], `${here}.mode`, causes);
  });
}

function downwardCauses(item: JsonObject, path: string, causes: Cause[]): void {
  needs(item, ["path"], path, causes);
  if ((item["path"] ?? "") !== "") fileCauses(item["path"] as string, `${path}.path`, causes);
  if (isObject(item["fieldRef"])) {
    if (isObject(item["resourceFieldRef"])) {
      causes.push(invalidValue(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (isObject(item["resourceFieldRef"])) {
    needs(item["resourceFieldRef"], ["containerName"], `${path}.resourceFieldRef`, causes);
    resourceRefCauses(item["resourceFieldRef"], `${path}.resourceFieldRef`, causes);
  } else causes.push(requiredValue(path, "one of fieldRef and resourceFieldRef is required"));
  modeCauses(item["mode"], `${path}.mode`, causes);
}

function modeCauses(mode: Json | undefined, path: string, causes: Cause[]): void {
  if (mode === undefined || ((mode as number) >= 0 && (mode as number) <= 0o777)) return;
  causes.push(invalidValue(path, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
}

/** A file in the volume: beneath it, and no name that the volume keeps for itself. */
function fileCauses(file: string, path: string, causes: Cause[]): void {
  descendingCauses(file, path, causes);
  if (file.startsWith("..") && !file.startsWith("../")) {
    causes.push(invalidValue(path, file, "must not start with '..'"));
  }
}

function descendingCauses(file: string, path: string, causes: Cause[]): void {
  if (file.startsWith("/")) causes.push(invalidValue(path, file, "must be a relative path"));
  noWayBack(file, path, causes);
}

function noWayBack(file: string, path: string, causes: Cause[]): void {
  if (file.split("/").includes("..")) causes.push(invalidValue(path, file, "must not contain '..'"));
}

/** Mounts of one container; `volumes` are the names that its pod has. `path` ends in `volumeMounts`. */
export function mountsCauses(
  mounts: readonly JsonObject[],
  volumes: ReadonlySet<string>,
  path: string,
  causes: Cause[],
): void {
  const places = new Set<string>();
  mounts.forEach((mount, at) => {
    const here = `${path}[${at}]`;
    const { name = "", mountPath = "", subPath = "", subPathExpr = "" } = mount as Readonly<Record<string, string>>;
    if (name === "") causes.push(requiredValue(`${here}.name`));
    if (!volumes.has(name)) {
      causes.push({ reason: "FieldValueNotFound", message: `Not found: "${name}"`, field: `${here}.name` });
    }
    if (mountPath === "") causes.push(requiredValue(`${here}.mountPath`));
    if (places.has(mountPath)) causes.push(invalidValue(`${here}.mountPath`, mountPath, "must be unique"));
    places.add(mountPath);
    // The real server names these two without the number of the mount.
    if (subPath !== "") descendingCauses(subPath, `${path}.subPath`, causes);
    if (subPathExpr === "") return;
    if (subPath !== "") {
      const detail = "subPathExpr and subPath are mutually exclusive";
      causes.push(invalidValue(`${here}.subPathExpr`, subPathExpr, detail));
    }
    descendingCauses(subPathExpr, `${path}.subPathExpr`, causes);
  });
}
