/** What pods for one operating system may not say. Source: the published validation of pods by their system. */
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Place } from "../../../objects/place.ts";
import { listOf } from "../../shared/fields.ts";

const ofThePod = {
  linux: [["securityContext", "windowsOptions"]],
  windows: [
    ["securityContext", "appArmorProfile"],
    ["securityContext", "seLinuxOptions"],
    ["hostUsers"],
    ["hostPID"],
    ["hostIPC"],
    ["securityContext", "seccompProfile"],
    ["securityContext", "fsGroup"],
    ["securityContext", "fsGroupChangePolicy"],
    ["securityContext", "sysctls"],
    ["shareProcessNamespace"],
    ["securityContext", "runAsUser"],
    ["securityContext", "runAsGroup"],
    ["securityContext", "supplementalGroups"],
    ["securityContext", "supplementalGroupsPolicy"],
    ["securityContext", "seLinuxChangePolicy"],
  ],
} as const;

const ofContainers = {
  linux: ["windowsOptions"],
  windows: [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
  ],
} as const;

const texts = {
  linux: "windows options cannot be set for a linux pod",
  windows: "cannot be set for a windows pod",
} as const;

export function operatingSystem(spec: JsonObject, at: Place): void {
  const { os } = spec;
  if (!isObject(os)) return;
  const { name = "" } = os;
  if (name !== "linux" && name !== "windows") {
    if (name === "") at.of("os", "name").required("cannot be empty");
    else at.of("os").unsupported(name, ["linux", "windows"]);
    return;
  }
  for (const fields of ofThePod[name]) {
    const [field, inner] = fields as readonly [string, string?];
    const value = inner === undefined ? spec[field] : (spec[field] as JsonObject | undefined)?.[inner];
    if (value !== undefined && value !== false) at.of(...fields).forbidden(texts[name]);
  }
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    listOf(spec, list).forEach((container, index) => {
      const context = container["securityContext"];
      if (!isObject(context)) return;
      for (const field of ofContainers[name]) {
        if (context[field] !== undefined) at.of(list, index, "securityContext", field).forbidden(texts[name]);
      }
    });
  }
}
