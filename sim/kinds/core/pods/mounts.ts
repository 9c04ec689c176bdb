/** Where containers mount volumes and see devices. Source: the published validation of mounts and devices. */
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import {
  forbiddenField,
  invalidValue,
  notFoundValue,
  requiredValue,
  unsupportedValue,
} from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { descendingCauses } from "./paths.ts";

/** The pod's volumes whose source is right, by name. */
export type Volumes = ReadonlyMap<string, JsonObject>;

/** Mounts and devices of one container. */
export function mountsCauses(container: JsonObject, volumes: Volumes, path: string, causes: Cause[]): void {
  if (container["volumeMounts"] === undefined && container["volumeDevices"] === undefined) return;
  const mounts = listOf(container, "volumeMounts");
  const devices = listOf(container, "volumeDevices");
  if (mounts.length > 0) volumeMountsCauses(container, mounts, devices, volumes, `${path}.volumeMounts`, causes);
  if (devices.length > 0) volumeDevicesCauses(devices, mounts, volumes, `${path}.volumeDevices`, causes);
}

function volumeMountsCauses(
  container: JsonObject,
  mounts: readonly JsonObject[],
  devices: readonly JsonObject[],
  volumes: Volumes,
  path: string,
  causes: Cause[],
): void {
  const places = new Set<string>();
  const [deviceNames, devicePlaces] = ["name", "devicePath"].map((field) => valuesOf(devices, field));
  mounts.forEach((mount, at) => {
    const here = `${path}[${at}]`;
    const { name = "", mountPath = "" } = mount as Readonly<Record<string, string>>;
    if (name === "") causes.push(requiredValue(`${here}.name`));
    const volume = volumes.get(name);
    if (volume === undefined) causes.push(notFoundValue(`${here}.name`, name));
    if (mountPath === "") causes.push(requiredValue(`${here}.mountPath`));
    if (places.has(mountPath)) causes.push(invalidValue(`${here}.mountPath`, mountPath, "must be unique"));
    places.add(mountPath);
    if (deviceNames?.has(name)) {
      causes.push(invalidValue(`${here}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devicePlaces?.has(mountPath)) {
      causes.push(invalidValue(`${here}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
    }
    subPathCauses(mount, volume, here, path, causes);
    propagationCauses(mount, container, path, causes);
    recursiveCauses(mount, `${path}.recursiveReadOnly`, causes);
  });
}

const valuesOf = (list: readonly JsonObject[], field: string): ReadonlySet<unknown> =>
  new Set(list.map((each) => each[field]));

/** Paths inside of the volume are named without the number of the mount. */
function subPathCauses(
  mount: JsonObject,
  volume: JsonObject | undefined,
  here: string,
  path: string,
  causes: Cause[],
): void {
  const { subPath = "", subPathExpr = "" } = mount as Readonly<Record<string, string>>;
  if (isObject(volume?.["image"])) {
    for (const [field, text] of Object.entries({ subPath, subPathExpr })) {
      if (text !== "") causes.push(invalidValue(`${here}.${field}`, text, "not allowed in image volume sources"));
    }
  }
  if (subPath !== "") descendingCauses(subPath, `${path}.subPath`, causes);
  if (subPathExpr === "") return;
  if (subPath !== "") {
    causes.push(invalidValue(`${here}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"));
  }
  descendingCauses(subPathExpr, `${path}.subPathExpr`, causes);
}

const propagations = ["Bidirectional", "HostToContainer", "None"];

function propagationCauses(mount: JsonObject, container: JsonObject, path: string, causes: Cause[]): void {
  const { mountPropagation: mode } = mount;
  if (mode === undefined) return;
  const here = `${path}.mountPropagation`;
  if (!propagations.includes(mode as string)) causes.push(unsupportedValue(here, mode, propagations));
  const context = container["securityContext"];
  if (mode !== "Bidirectional" || (isObject(context) && context["privileged"] === true)) return;
  causes.push(forbiddenField(here, "Bidirectional mount propagation is available only to privileged containers"));
}

const recursions = ["Disabled", "Enabled", "IfPossible"];

function recursiveCauses(mount: JsonObject, path: string, causes: Cause[]): void {
  const { recursiveReadOnly: mode, readOnly, mountPropagation } = mount;
  if (mode === undefined || mode === "Disabled") return;
  if (!recursions.includes(mode as string)) causes.push(unsupportedValue(path, mode, recursions));
  else {
    if (readOnly !== true) causes.push(forbiddenField(path, "may only be specified when readOnly is true"));
    if (mountPropagation !== undefined && mountPropagation !== "None") {
      causes.push(forbiddenField(path, "may only be specified when mountPropagation is None or not specified"));
    }
  }
}

/** Devices come from claims, each once and at a place of its own. */
function volumeDevicesCauses(
  devices: readonly JsonObject[],
  mounts: readonly JsonObject[],
  volumes: Volumes,
  path: string,
  causes: Cause[],
): void {
  const names = new Set<string>();
  const places = new Set<string>();
  const [mountNames, mountPlaces] = ["name", "mountPath"].map((field) => valuesOf(mounts, field));
  devices.forEach((device, at) => {
    const { name = "", devicePath = "" } = device as Readonly<Record<string, string>>;
    const [namePath, placePath] = [`${path}[${at}].name`, `${path}[${at}].devicePath`];
    const volume = volumes.get(name);
    if (name === "") causes.push(requiredValue(namePath));
    if (names.has(name)) causes.push(invalidValue(namePath, name, "must be unique"));
    if (volume === undefined) causes.push(notFoundValue(namePath, name));
    else if (!isObject(volume["persistentVolumeClaim"]) && !isObject(volume["ephemeral"])) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      causes.push(invalidValue(namePath, name, detail));
    }
    if (devicePath === "") causes.push(requiredValue(placePath));
    if (places.has(devicePath)) causes.push(invalidValue(placePath, devicePath, "must be unique"));
    if (devicePath.split("/").includes("..")) {
      causes.push(invalidValue(placePath, devicePath, "can not contain backsteps ('..')"));
    } else places.add(devicePath);
    if (mountNames?.has(name)) {
      causes.push(invalidValue(namePath, name, "must not already exist in volumeMounts"));
    }
    if (mountPlaces?.has(devicePath)) {
      causes.push(invalidValue(placePath, devicePath, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
  });
}
