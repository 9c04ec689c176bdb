/**
 * What a pod and its containers may do on the node: users, groups, profiles, settings of the kernel.
 * Source: the published validation of security contexts. Simplification: options of Windows are not judged.
 */
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { descendingCauses } from "./paths.ts";

/** The context of one container at `path`. */
export function contextCauses(context: JsonObject, hostUsers: boolean, path: string, causes: Cause[]): void {
  idCauses(context, ["runAsUser", "runAsGroup"], path, causes);
  const { procMount, seccompProfile, appArmorProfile } = context;
  if (procMount !== undefined) {
    oneOf(procMount, ["Default", "Unmasked"], `${path}.procMount`, causes);
    if (procMount === "Unmasked" && hostUsers) {
      causes.push(invalidValue(`${path}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`"));
    }
  }
  if (isObject(seccompProfile)) seccompCauses(seccompProfile, `${path}.seccompProfile`, causes);
  privilegeCauses(context, path, causes);
  if (isObject(appArmorProfile)) appArmorCauses(appArmorProfile, `${path}.appArmorProfile`, causes);
}

function privilegeCauses(context: JsonObject, path: string, causes: Cause[]): void {
  if (context["allowPrivilegeEscalation"] !== false) return;
  // Simplification: the real server prints the whole context, with the addresses of its pointers.
  const refuse = (what: string): number =>
    causes.push(
      invalidText(path, "core.SecurityContext{}", `cannot set \`allowPrivilegeEscalation\` to false and ${what}`),
    );
  if (context["privileged"] === true) refuse("`privileged` to true");
  const added = ((context["capabilities"] as JsonObject | undefined)?.["add"] ?? []) as readonly string[];
  for (const capability of added) {
    if (capability === "CAP_SYS_ADMIN") refuse("`capabilities.Add` CAP_SYS_ADMIN");
  }
}

const idMax = 2_147_483_647;

/** Users and groups of the node's system. */
function idCauses(context: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  for (const field of fields) idCause(context[field], `${path}.${field}`, causes);
}

function idCause(id: Json | undefined, path: string, causes: Cause[]): void {
  if (id === undefined || ((id as number) >= 0 && (id as number) <= idMax)) return;
  causes.push(invalidValue(path, id, `must be between 0 and ${idMax}, inclusive`));
}

function oneOf(value: Json | undefined, supported: readonly string[], path: string, causes: Cause[]): void {
  if (value !== undefined && !supported.includes(value as string)) {
    causes.push(unsupportedValue(path, value, supported));
  }
}

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];

function seccompCauses(profile: JsonObject, path: string, causes: Cause[]): void {
  const { type = "", localhostProfile: file } = profile as Readonly<Record<string, string | undefined>>;
  if (type === "") causes.push(requiredValue(`${path}.type`, "type is required when seccompProfile is set"));
  else oneOf(type, profileTypes, `${path}.type`, causes);
  const filePath = `${path}.localhostProfile`;
  if (type === "Localhost") {
    if (file === undefined) causes.push(requiredValue(filePath, "must be set when seccomp type is Localhost"));
    else descendingCauses(file, filePath, causes);
  } else if (file !== undefined) {
    // Simplification: the real server prints the whole profile, with the address of its pointer.
    causes.push(invalidText(filePath, "core.SeccompProfile{}", "can only be set when seccomp type is Localhost"));
  }
}

const pathLengthMax = 4095;

function appArmorCauses(profile: JsonObject, path: string, causes: Cause[]): void {
  const { type = "", localhostProfile: file } = profile as Readonly<Record<string, string | undefined>>;
  const filePath = `${path}.localhostProfile`;
  if (type === "") causes.push(requiredValue(`${path}.type`, "type is required when appArmorProfile is set"));
  else if (type === "Localhost") {
    if (file === undefined || file === "") {
      causes.push(requiredValue(filePath, "must be set when AppArmor type is Localhost"));
    } else if (file.trim() !== file) {
      causes.push(invalidValue(filePath, file, "must not be padded with whitespace"));
    }
    if (file !== undefined && file.length > pathLengthMax) causes.push(tooLongValue(filePath, pathLengthMax));
  } else if (!profileTypes.includes(type)) causes.push(unsupportedValue(`${path}.type`, type, profileTypes));
  else if (file !== undefined) {
    causes.push(invalidValue(filePath, file, "can only be set when AppArmor type is Localhost"));
  }
}

/** The context of the pod whose spec stands at `path`. */
export function podContextCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const context = spec["securityContext"];
  if (!isObject(context)) return;
  const here = `${path}.securityContext`;
  if (spec["shareProcessNamespace"] !== true && isEmpty(context)) return; // as it is by default
  idCauses(context, ["fsGroup", "runAsUser", "runAsGroup"], here, causes);
  ((context["supplementalGroups"] ?? []) as readonly Json[]).forEach((id, at) =>
    idCause(id, `${here}.supplementalGroups[${at}]`, causes),
  );
  if (spec["shareProcessNamespace"] === true && spec["hostPID"] === true) {
    const detail = "ShareProcessNamespace and HostPID cannot both be enabled";
    causes.push(invalidValue(`${here}.shareProcessNamespace`, true, detail));
  }
  sysctlCauses(listOf(context, "sysctls"), spec, `${here}.sysctls`, causes);
  const { seccompProfile, appArmorProfile } = context;
  oneOf(context["fsGroupChangePolicy"], ["Always", "OnRootMismatch"], `${here}.fsGroupChangePolicy`, causes);
  if (isObject(seccompProfile)) seccompCauses(seccompProfile, `${here}.seccompProfile`, causes);
  if (isObject(appArmorProfile)) appArmorCauses(appArmorProfile, `${here}.appArmorProfile`, causes);
  oneOf(context["supplementalGroupsPolicy"], ["Merge", "Strict"], `${here}.supplementalGroupsPolicy`, causes);
  oneOf(context["seLinuxChangePolicy"], ["MountOption", "Recursive"], `${here}.seLinuxChangePolicy`, causes);
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

const sysctlForm = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlText =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const ofTheNetwork = /^net[./]/;
const ofMessages = /^(?:kernel[./](?:shm|msg|sem)|fs[./]mqueue[./])/;

/** What is the node's when the pod shares its network or its messages cannot be set for the pod. */
function sysctlCauses(sysctls: readonly JsonObject[], spec: JsonObject, path: string, causes: Cause[]): void {
  const seen = new Set<string>();
  sysctls.forEach((sysctl, at) => {
    const name = (sysctl["name"] ?? "") as string;
    const here = `${path}[${at}].name`;
    if (name === "") causes.push(requiredValue(here));
    else if (name.length > 253 || !sysctlForm.test(name)) causes.push(invalidValue(here, name, sysctlText));
    else if (seen.has(name)) causes.push(duplicateValue(here, name));
    if (spec["hostNetwork"] === true && ofTheNetwork.test(name)) {
      causes.push(invalidValue(here, name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec["hostIPC"] === true && ofMessages.test(name)) {
      causes.push(invalidValue(here, name, "may not be specified when 'hostIPC' is true"));
    }
    seen.add(name);
  });
}

/** A pod with users of its own shares nothing else with the node. */
export function hostUsersCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  if (spec["hostUsers"] !== false) return;
  for (const [field, called] of [
    ["hostNetwork", "hostNetwork"],
    ["hostPID", "HostPID"],
    ["hostIPC", "HostIPC"],
  ] as const) {
    if (spec[field] === true) causes.push(forbiddenField(`${path}.${called}`, "when `pod.Spec.HostUsers` is false"));
  }
}
