/**
 * Volumes of a pod. Source: the published validation of volumes.
 * Simplification: of the sources that drivers serve, only what must be there is judged.
 */
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../../../wire/names.ts";
import { parseQuantity } from "../../../../wire/quantity.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { claimTemplateCauses } from "../volume-claim-spec.ts";
import type { Volumes } from "./mounts.ts";
import { descendingCauses, noWayBack } from "./paths.ts";
import { downwardCauses, filesCauses, modeCauses, projectedCauses } from "./projections.ts";

/** The volumes that may be mounted: those that are right. `pod` is the pod's name, "" in a template. */
export function volumesCauses(volumes: readonly JsonObject[], pod: string, path: string, causes: Cause[]): Volumes {
  const named = new Map<string, JsonObject>();
  const made = claimsMade(volumes, pod);
  volumes.forEach((volume, at) => {
    const here = `${path}[${at}]`;
    const name = (volume["name"] ?? "") as string;
    const found = causes.length;
    sourcesCauses(volume, name, pod, here, causes);
    if (name === "") causes.push(requiredValue(`${here}.name`));
    else pushInvalid(`${here}.name`, name, dns1123LabelErrors(name), causes);
    if (named.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    if (causes.length === found) named.set(name, volume);
    ownClaimCauses(volume, made, here, causes);
  });
  return named;
}

/** Names of the claims that are made for the pod. */
function claimsMade(volumes: readonly JsonObject[], pod: string): ReadonlySet<string> {
  const made = new Set<string>();
  if (pod === "") return made;
  for (const { name, ephemeral } of volumes) if (isObject(ephemeral)) made.add(`${pod}-${name as string}`);
  return made;
}

/** A claim that is made for the pod can't be the pod's by name as well. */
function ownClaimCauses(volume: JsonObject, made: ReadonlySet<string>, path: string, causes: Cause[]): void {
  const claim = volume["persistentVolumeClaim"];
  if (!isObject(claim) || !made.has(claim["claimName"] as string)) return;
  const detail = "must not reference a PVC that gets created for an ephemeral volume";
  causes.push(invalidValue(`${path}.persistentVolumeClaim.claimName`, claim["claimName"], detail));
}

type Judge = (source: JsonObject, path: string, causes: Cause[]) => void;

/** What a source must say, in the order in which sources are looked at: the second is the one too many. */
const required: Readonly<Record<string, readonly string[]>> = {
  emptyDir: [],
  hostPath: ["path"],
  gitRepo: ["repository"],
  gcePersistentDisk: ["pdName"],
  awsElasticBlockStore: ["volumeID"],
  secret: ["secretName"],
  nfs: ["server", "path"],
  iscsi: ["targetPortal", "iqn"],
  glusterfs: ["endpoints", "path"],
  flocker: [],
  persistentVolumeClaim: ["claimName"],
  rbd: ["monitors", "image"],
  cinder: ["volumeID"],
  cephfs: ["monitors"],
  quobyte: ["registry", "volume"],
  downwardAPI: [],
  fc: [],
  flexVolume: ["driver"],
  configMap: ["name"],
  azureFile: ["secretName", "shareName"],
  vsphereVolume: ["volumePath"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  storageos: [],
  projected: [],
  scaleIO: ["gateway", "system", "volumeName"],
  csi: ["driver"],
  ephemeral: [],
  image: [],
};
const sourceNames = Object.keys(required);

/** Fields that the real server calls otherwise in refusals. */
const calledOtherwise: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
const calledOtherwiseTwice: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

function sourcesCauses(volume: JsonObject, name: string, pod: string, path: string, causes: Cause[]): void {
  let count = 0;
  for (const source of namesIn(volume)) {
    const given = volume[source];
    if (!isObject(given)) continue;
    if (count++ > 0) {
      const called = calledOtherwiseTwice[source] ?? source;
      causes.push(forbiddenField(`${path}.${called}`, "may not specify more than 1 volume type"));
      continue;
    }
    const here = `${path}.${calledOtherwise[source] ?? source}`;
    for (const field of required[source] as readonly string[]) {
      if (isMissing(given[field])) causes.push(requiredValue(`${here}.${field}`));
    }
    judges[source]?.(given, here, causes);
    if (source === "ephemeral" && pod !== "" && name !== "") madeClaimCauses(`${pod}-${name}`, name, path, causes);
  }
  if (count === 0) causes.push(requiredValue(path, "must specify a volume type"));
}

/** The source, where there is one, as there mostly is; else all, in their order. */
function namesIn(volume: JsonObject): readonly string[] {
  const [first, second, ...more] = Object.keys(volume);
  if (second === undefined || more.length > 0) return sourceNames;
  if (first === "name") return Object.hasOwn(required, second) ? [second] : sourceNames;
  return sourceNames;
}

const isMissing = (value: Json | undefined): boolean =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

function madeClaimCauses(claim: string, name: string, path: string, causes: Cause[]): void {
  for (const text of dns1123SubdomainErrors(claim)) {
    causes.push(invalidValue(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${text}`));
  }
}

const judges: Readonly<Record<string, Judge>> = {
  emptyDir(source, path, causes) {
    const quantity = parseQuantity(String(source["sizeLimit"] ?? "0"));
    if ("error" in quantity || quantity.digits >= 0n) return;
    causes.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  },
  hostPath(source, path, causes) {
    const directory = (source["path"] ?? "") as string;
    if (directory === "") return; // the real server stops here as well
    noWayBack(directory, `${path}.path`, causes);
    const type = (source["type"] ?? "") as string;
    if (!hostPathTypes.includes(type)) causes.push(unsupportedValue(`${path}.type`, type, hostPathTypes));
  },
  gitRepo: (source, path, causes) =>
    descendingCauses((source["directory"] ?? "") as string, `${path}.directory`, causes),
  gcePersistentDisk: partitionCauses,
  awsElasticBlockStore: partitionCauses,
  secret: filesCauses,
  nfs(source, path, causes) {
    const directory = (source["path"] ?? "") as string;
    if (!directory.startsWith("/")) causes.push(invalidValue(`${path}.path`, directory, "must be an absolute path"));
  },
  downwardAPI(source, path, causes) {
    modeCauses(source["defaultMode"], `${path}.defaultMode`, causes);
    for (const item of listOf(source, "items")) downwardCauses(item, path, causes);
  },
  configMap: filesCauses,
  projected: projectedCauses,
  csi: driverCauses,
  ephemeral(source, path, causes) {
    const template = source["volumeClaimTemplate"];
    if (!isObject(template)) causes.push(requiredValue(`${path}.volumeClaimTemplate`));
    else claimTemplateCauses(template, `${path}.volumeClaimTemplate`, causes);
  },
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

function partitionCauses(source: JsonObject, path: string, causes: Cause[]): void {
  const partition = (source["partition"] ?? 0) as number;
  if (partition >= 0 && partition <= 255) return;
  causes.push(invalidValue(`${path}.partition`, partition, "must be between 1 and 255, inclusive"));
}

const driverLengthMax = 63;

function driverCauses(source: JsonObject, path: string, causes: Cause[]): void {
  const driver = (source["driver"] ?? "") as string;
  if (driver.length > driverLengthMax) causes.push(tooLongValue(`${path}.driver`, driverLengthMax));
  pushInvalid(`${path}.driver`, driver, dns1123SubdomainErrors(driver.toLowerCase()), causes);
  const secret = source["nodePublishSecretRef"];
  if (isObject(secret) && isMissing(secret["name"])) causes.push(requiredValue(`${path}.nodePublishSecretRef.name`));
}
