/**
 * What a pod and its containers may do on the node: users, groups, profiles, settings of the kernel.
 * Source: the published validation of security contexts. Simplification: options of Windows are not judged.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Place } from "../../../objects/place.ts";
import {
  all,
  atMostLength,
  between,
  caseOf,
  distinct,
  each,
  fields,
  firstOf,
  oneOf,
  present,
  required,
  struct,
  textThat,
  unlessEmpty,
} from "../../../objects/rules.ts";
import { descending } from "./paths.ts";
import { scopeOf } from "./scope.ts";

const id = between(0, 2_147_483_647);
const profileTypes = oneOf(["Localhost", "RuntimeDefault", "Unconfined"]);

// Simplification: the real server prints the whole profile, with the address of its pointer.
const localSeccompOnly = (_file: string, at: Place): void =>
  at.invalidText("core.SeccompProfile{}", "can only be set when seccomp type is Localhost");

const seccompProfile = struct(
  { type: required(profileTypes, "type is required when seccompProfile is set") },
  caseOf(
    "type",
    { Localhost: { localhostProfile: present(descending, "must be set when seccomp type is Localhost") } },
    { localhostProfile: localSeccompOnly },
  ),
);

const unpadded = textThat((file) => file.trim() === file, "must not be padded with whitespace");
const appArmorFile = all(
  required(unpadded, "must be set when AppArmor type is Localhost"),
  unlessEmpty(atMostLength(4095)),
);
const localAppArmorOnly = {
  localhostProfile: textThat(() => false, "can only be set when AppArmor type is Localhost"),
};

const appArmorProfile = struct(
  { type: required(profileTypes, "type is required when appArmorProfile is set") },
  caseOf("type", {
    Localhost: { localhostProfile: appArmorFile },
    RuntimeDefault: localAppArmorOnly,
    Unconfined: localAppArmorOnly,
  }),
);

function unmasked(mount: string, at: Place): void {
  if (mount !== "Unmasked" || scopeOf(at).spec["hostUsers"] === false) return;
  at.invalid(mount, "`hostUsers` must be false to use `Unmasked`");
}

function privileges({ allowPrivilegeEscalation, privileged, capabilities }: JsonObject, at: Place): void {
  if (allowPrivilegeEscalation !== false) return;
  // Simplification: the real server prints the whole context, with the addresses of its pointers.
  const refuse = (what: string): void =>
    at.invalidText("core.SecurityContext{}", `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (privileged === true) refuse("`privileged` to true");
  const added = ((capabilities as JsonObject | undefined)?.["add"] ?? []) as readonly string[];
  for (const capability of added) {
    if (capability === "CAP_SYS_ADMIN") refuse("`capabilities.Add` CAP_SYS_ADMIN");
  }
}

/** The context of one container. */
export const containerContext = struct(
  {
    ...fields(["runAsUser", "runAsGroup"], id),
    procMount: all(oneOf(["Default", "Unmasked"]), unmasked),
    seccompProfile,
  },
  privileges,
  { appArmorProfile },
);

function oneProcessSpace(_context: JsonObject, at: Place): void {
  const { spec } = scopeOf(at);
  if (spec["shareProcessNamespace"] !== true || spec["hostPID"] !== true) return;
  at.of("shareProcessNamespace").invalid(true, "ShareProcessNamespace and HostPID cannot both be enabled");
}

const sysctlForm = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlText =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const ofTheNetwork = /^net[./]/;
const ofMessages = /^(?:kernel[./](?:shm|msg|sem)|fs[./]mqueue[./])/;

const sysctlName = textThat((name) => name.length <= 253 && sysctlForm.test(name), sysctlText);

/** What is the node's when the pod shares its network or its messages cannot be set for the pod. */
function ownSetting(name: string, at: Place): void {
  const { hostNetwork, hostIPC } = scopeOf(at).spec;
  if (hostNetwork === true && ofTheNetwork.test(name)) {
    at.invalid(name, "may not be specified when 'hostNetwork' is true");
  } else if (hostIPC === true && ofMessages.test(name)) {
    at.invalid(name, "may not be specified when 'hostIPC' is true");
  }
}

/** The context of the pod. */
export const podContext = struct(
  { ...fields(["fsGroup", "runAsUser", "runAsGroup"], id), supplementalGroups: each(id) },
  oneProcessSpace,
  {
    sysctls: each(struct({ name: all(firstOf(required(sysctlName), distinct), ownSetting) })),
    fsGroupChangePolicy: oneOf(["Always", "OnRootMismatch"]),
    seccompProfile,
    appArmorProfile,
    supplementalGroupsPolicy: oneOf(["Merge", "Strict"]),
    seLinuxChangePolicy: oneOf(["MountOption", "Recursive"]),
  },
);

const ofTheNode = { hostNetwork: "hostNetwork", hostPID: "HostPID", hostIPC: "HostIPC" } as const;

/** A pod with users of its own shares nothing else with the node. */
export function ownUsers(spec: JsonObject, at: Place): void {
  if (spec["hostUsers"] !== false) return;
  for (const [field, called] of Object.entries(ofTheNode)) {
    if (spec[field] === true) at.of(called).forbidden("when `pod.Spec.HostUsers` is false");
  }
}
