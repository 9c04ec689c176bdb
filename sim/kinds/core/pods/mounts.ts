/** Where containers mount volumes and see devices. Source: the published validation of mounts and devices. */
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Place } from "../../../objects/place.ts";
import { oneOf } from "../../../objects/rules.ts";
import { listOf } from "../../shared/fields.ts";
import { descending } from "./paths.ts";
import { scopeOf } from "./scope.ts";

/** Mounts and devices of one container. */
export function mounts(container: JsonObject, at: Place): void {
  const mounted = listOf(container, "volumeMounts");
  const devices = listOf(container, "volumeDevices");
  if (mounted.length > 0) {
    at.enter("volumeMounts");
    volumeMounts(container, mounted, devices, at);
    at.leave();
  }
  if (devices.length > 0) {
    at.enter("volumeDevices");
    volumeDevices(devices, mounted, at);
    at.leave();
  }
}

const valuesOf = (list: readonly JsonObject[], field: string): ReadonlySet<unknown> =>
  list.length === 0 ? nothing : new Set(list.map((each) => each[field]));

const nothing: ReadonlySet<unknown> = new Set();

/** What else is said of a mount is told of the list. */
function volumeMounts(
  container: JsonObject,
  list: readonly JsonObject[],
  devices: readonly JsonObject[],
  at: Place,
): void {
  const { volumes } = scopeOf(at);
  const places = new Set<string>();
  const deviceNames = valuesOf(devices, "name");
  const devicePlaces = valuesOf(devices, "devicePath");
  list.forEach((mount, index) => {
    const { name = "", mountPath = "", subPath = "", subPathExpr = "" } = mount as Readonly<Record<string, string>>;
    if (name === "") at.of(index, "name").required();
    const volume = volumes.get(name);
    if (volume === undefined) at.of(index, "name").notFound(name);
    if (mountPath === "") at.of(index, "mountPath").required();
    if (places.has(mountPath)) at.of(index, "mountPath").invalid(mountPath, "must be unique");
    places.add(mountPath);
    if (deviceNames.has(name)) at.of(index, "name").invalid(name, "must not already exist in volumeDevices");
    if (devicePlaces.has(mountPath)) {
      at.of(index, "mountPath").invalid(mountPath, "must not already exist as a path in volumeDevices");
    }
    if (isObject(volume?.["image"])) {
      for (const [field, text] of Object.entries({ subPath, subPathExpr })) {
        if (text !== "") at.of(index, field).invalid(text, "not allowed in image volume sources");
      }
    }
    if (subPath !== "") at.judge("subPath", subPath, descending);
    if (subPath !== "" && subPathExpr !== "") {
      at.of(index, "subPathExpr").invalid(subPathExpr, "subPathExpr and subPath are mutually exclusive");
    }
    if (subPathExpr !== "") at.judge("subPathExpr", subPathExpr, descending);
    propagation(mount, container, at);
    recursive(mount, at);
  });
}

const propagations = oneOf(["Bidirectional", "HostToContainer", "None"]);

function propagation({ mountPropagation: mode }: JsonObject, container: JsonObject, at: Place): void {
  at.judge("mountPropagation", mode, propagations);
  const context = container["securityContext"];
  if (mode !== "Bidirectional" || (isObject(context) && context["privileged"] === true)) return;
  const detail = "Bidirectional mount propagation is available only to privileged containers";
  at.of("mountPropagation").forbidden(detail);
}

const recursions = oneOf(["Disabled", "Enabled", "IfPossible"]);

function recursive({ recursiveReadOnly: mode, readOnly, mountPropagation = "None" }: JsonObject, at: Place): void {
  if (mode === undefined || mode === "Disabled" || !at.judge("recursiveReadOnly", mode, recursions)) return;
  const refuse = (when: string): void => at.of("recursiveReadOnly").forbidden(`may only be specified when ${when}`);
  if (readOnly !== true) refuse("readOnly is true");
  if (mountPropagation !== "None") refuse("mountPropagation is None or not specified");
}

/** Devices come from claims, each once and at a place of its own. */
function volumeDevices(devices: readonly JsonObject[], list: readonly JsonObject[], at: Place): void {
  const { volumes } = scopeOf(at);
  const names = new Set<string>();
  const places = new Set<string>();
  const mountNames = valuesOf(list, "name");
  const mountPlaces = valuesOf(list, "mountPath");
  devices.forEach((device, index) => {
    const { name = "", devicePath = "" } = device as Readonly<Record<string, string>>;
    const [ofName, ofPlace] = [at.of(index, "name"), at.of(index, "devicePath")];
    const volume = volumes.get(name);
    if (name === "") ofName.required();
    if (names.has(name)) ofName.invalid(name, "must be unique");
    if (volume === undefined) ofName.notFound(name);
    else if (!isObject(volume["persistentVolumeClaim"]) && !isObject(volume["ephemeral"])) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      ofName.invalid(name, detail);
    }
    if (devicePath === "") ofPlace.required();
    if (places.has(devicePath)) ofPlace.invalid(devicePath, "must be unique");
    if (devicePath.split("/").includes("..")) ofPlace.invalid(devicePath, "can not contain backsteps ('..')");
    else places.add(devicePath);
    if (mountNames.has(name)) ofName.invalid(name, "must not already exist in volumeMounts");
    if (mountPlaces.has(devicePath)) ofPlace.invalid(devicePath, "must not already exist as a path in volumeMounts");
    if (name !== "") names.add(name);
  });
}
