/**
 * Containers of a pod: those that it runs for, those that run before them, and those added for a look inside.
 * Source: recorded answers of creates (05, 06); the published validation of containers.
 */
import { dns1123LabelErrors } from "../../../../../wire/names.ts";
import type { Cause } from "../../../errors.ts";
import type { JsonObject } from "../../../http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from "../../causes.ts";
import { isObject } from "../../types.ts";
import { enumCauses, listOf } from "../fields.ts";
import { environmentCauses } from "./environment.ts";
import { hostPortCauses, portsCauses } from "./ports.ts";
import { probeFields, probesCauses } from "./probes.ts";
import { resourcesCauses } from "./resources.ts";
import { mountsCauses } from "./volumes.ts";

/** What a container may refer to, and what its pod says of all. */
export interface PodScope {
  readonly volumes: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly graceSeconds: number;
}

/** Both lists of a pod spec at `path`; a name is given once in them. */
export function containersCauses(spec: JsonObject, scope: PodScope, path: string, causes: Cause[]): void {
  const names = new Set<string>();
  const containers = listOf(spec, "containers");
  if (containers.length === 0) causes.push(requiredValue(`${path}.containers`));
  containers.forEach((container, at) => {
    const here = `${path}.containers[${at}]`;
    commonCauses(container, names, scope, here, causes);
    probesCauses(container, here, scope.graceSeconds, causes);
    if (container["restartPolicy"] !== undefined) {
      causes.push(forbiddenField(`${here}.restartPolicy`, "may not be set for non-init containers"));
    }
  });
  hostPortCauses(containers, `${path}.containers`, causes);
  listOf(spec, "initContainers").forEach((container, at) => {
    const here = `${path}.initContainers[${at}]`;
    commonCauses(container, names, scope, here, causes);
    initCauses(container, scope, here, causes);
  });
}

/** One that runs to its end has neither hooks nor probes; one that is always restarted may have them. */
function initCauses(container: JsonObject, scope: PodScope, path: string, causes: Cause[]): void {
  const { restartPolicy } = container;
  if (restartPolicy !== undefined && restartPolicy !== "Always") {
    causes.push(unsupportedValue(`${path}.restartPolicy`, restartPolicy, ["Always"]));
  }
  if (restartPolicy === "Always") probesCauses(container, path, scope.graceSeconds, causes);
  else {
    for (const field of ["lifecycle", ...probeFields]) {
      if (!isObject(container[field])) continue;
      causes.push(
        forbiddenField(`${path}.${field}`, "may not be set for init containers without restartPolicy=Always"),
      );
    }
  }
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];
const messagePolicies = ["File", "FallbackToLogsOnError"];

function commonCauses(
  container: JsonObject,
  names: Set<string>,
  { volumes, claims }: PodScope,
  path: string,
  causes: Cause[],
): void {
  nameCauses((container["name"] ?? "") as string, `${path}.name`, names, causes);
  const image = (container["image"] ?? "") as string;
  if (image === "") causes.push(requiredValue(`${path}.image`));
  else if (image.trim() !== image) {
    causes.push(invalidValue(`${path}.image`, image, "must not have leading or trailing whitespace"));
  }
  enumCauses(container["terminationMessagePolicy"], messagePolicies, `${path}.terminationMessagePolicy`, causes);
  portsCauses(listOf(container, "ports"), `${path}.ports`, causes);
  environmentCauses(container, path, causes);
  mountsCauses(listOf(container, "volumeMounts"), volumes, `${path}.volumeMounts`, causes);
  enumCauses(container["imagePullPolicy"], pullPolicies, `${path}.imagePullPolicy`, causes);
  if (isObject(container["resources"])) resourcesCauses(container["resources"], claims, `${path}.resources`, causes);
  if (isObject(container["securityContext"])) {
    securityCauses(container["securityContext"], `${path}.securityContext`, causes);
  }
}

function nameCauses(name: string, path: string, names: Set<string>, causes: Cause[]): void {
  if (name === "") {
    causes.push(requiredValue(path));
    return;
  }
  for (const text of dns1123LabelErrors(name)) causes.push(invalidValue(path, name, text));
  if (names.has(name)) causes.push(duplicateValue(path, name));
  names.add(name);
}

function securityCauses(context: JsonObject, path: string, causes: Cause[]): void {
  idCauses(context, ["runAsUser", "runAsGroup"], path, causes);
  if (context["allowPrivilegeEscalation"] !== false || context["privileged"] !== true) return;
  // Simplification: the real server prints the whole context, with the addresses of its pointers.
  const detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
  causes.push(invalidText(path, "core.SecurityContext{}", detail));
}

const idMax = 2_147_483_647;

/** Users and groups of the node's system. */
export function idCauses(context: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  for (const field of fields) {
    const id = context[field] as number | undefined;
    if (id === undefined || (id >= 0 && id <= idMax)) continue;
    causes.push(invalidValue(`${path}.${field}`, id, `must be between 0 and ${idMax}, inclusive`));
  }
}
