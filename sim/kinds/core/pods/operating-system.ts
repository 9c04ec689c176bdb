/** What pods for one operating system may not say. Source: the published validation of pods by their system. */
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField, requiredValue, unsupportedValue } from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
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

/** `path` is that of the pod's spec. */
export function systemCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const { os } = spec;
  if (!isObject(os)) return;
  const name = (os["name"] ?? "") as string;
  if (name === "") {
    causes.push(requiredValue(`${path}.os.name`, "cannot be empty"));
    return;
  }
  if (name !== "linux" && name !== "windows") {
    causes.push(unsupportedValue(`${path}.os`, name, ["linux", "windows"]));
    return;
  }
  for (const fields of ofThePod[name]) {
    const [field, inner] = fields as readonly [string, string?];
    const value = inner === undefined ? spec[field] : (spec[field] as JsonObject | undefined)?.[inner];
    if (value !== undefined && value !== false) {
      causes.push(forbiddenField(`${path}.${fields.join(".")}`, texts[name]));
    }
  }
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    listOf(spec, list).forEach((container, at) => {
      const context = container["securityContext"];
      if (!isObject(context)) return;
      for (const field of ofContainers[name]) {
        if (context[field] === undefined) continue;
        causes.push(forbiddenField(`${path}.${list}[${at}].securityContext.${field}`, texts[name]));
      }
    });
  }
}
