/**
 * Containers of a pod: those that it runs for, and those that run before them.
 * Source: recorded answers of creates (05, 06); the published validation of containers.
 */
import { dns1123LabelErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  pushInvalid,
  requiredValue,
  unsupportedValue,
} from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { enumCauses, listOf } from "../../shared/fields.ts";
import { environmentCauses } from "./environment.ts";
import { mountsCauses, type Volumes } from "./mounts.ts";
import { hostPortCauses, portsCauses } from "./ports.ts";
import { probeFields, probesCauses } from "./probes.ts";
import { resizePolicyCauses } from "./resize.ts";
import { resourcesCauses } from "./resources.ts";
import { contextCauses } from "./security.ts";

/** What a container may refer to, and what its pod says of all. */
export interface PodScope {
  readonly volumes: Volumes;
  readonly claims: ReadonlySet<string>;
  readonly graceSeconds: number;
  readonly restartPolicy: string;
  /** The pod's users are the node's. */
  readonly hostUsers: boolean;
}

/** Both lists of a pod spec at `path`; a name is given once in them. */
export function containersCauses(spec: JsonObject, scope: PodScope, path: string, causes: Cause[]): void {
  const names = new Set<string>();
  const containers = listOf(spec, "containers");
  if (containers.length === 0) causes.push(requiredValue(`${path}.containers`));
  containers.forEach((container, at) => {
    const here = `${path}.containers[${at}]`;
    commonCauses(container, scope, here, causes);
    uniqueCauses(container, names, here, causes);
    probesCauses(container, here, scope.graceSeconds, causes);
    if (container["restartPolicy"] !== undefined) {
      causes.push(forbiddenField(`${here}.restartPolicy`, "may not be set for non-init containers"));
    }
  });
  hostPortCauses(containers, `${path}.containers`, causes);
  listOf(spec, "initContainers").forEach((container, at) => {
    const here = `${path}.initContainers[${at}]`;
    commonCauses(container, scope, here, causes);
    initCauses(container, names, scope, here, causes);
  });
}

/** One that runs to its end has neither hooks nor probes; one that is always restarted may have them. */
function initCauses(container: JsonObject, names: Set<string>, scope: PodScope, path: string, causes: Cause[]): void {
  const { restartPolicy } = container;
  if (restartPolicy !== undefined && restartPolicy !== "Always") {
    causes.push(unsupportedValue(`${path}.restartPolicy`, restartPolicy, ["Always"]));
  }
  uniqueCauses(container, names, path, causes);
  // They run one by one, so that each is judged alone, and named as if it were the first.
  hostPortCauses([container], path.slice(0, path.lastIndexOf("[")), causes);
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

function uniqueCauses(container: JsonObject, names: Set<string>, path: string, causes: Cause[]): void {
  const name = (container["name"] ?? "") as string;
  if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
  if (name !== "") names.add(name);
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];
const messagePolicies = ["File", "FallbackToLogsOnError"];

/** What holds for containers of every kind. */
export function commonCauses(container: JsonObject, scope: PodScope, path: string, causes: Cause[]): void {
  const name = (container["name"] ?? "") as string;
  if (name === "") causes.push(requiredValue(`${path}.name`));
  else pushInvalid(`${path}.name`, name, dns1123LabelErrors(name), causes);
  if ((container["image"] ?? "") === "") causes.push(requiredValue(`${path}.image`));
  enumCauses(container["terminationMessagePolicy"], messagePolicies, `${path}.terminationMessagePolicy`, causes);
  if (container["ports"] !== undefined) portsCauses(listOf(container, "ports"), `${path}.ports`, causes);
  environmentCauses(container, path, causes);
  mountsCauses(container, scope.volumes, path, causes);
  enumCauses(container["imagePullPolicy"], pullPolicies, `${path}.imagePullPolicy`, causes);
  if (isObject(container["resources"])) {
    resourcesCauses(container["resources"], scope.claims, `${path}.resources`, causes);
  }
  if (container["resizePolicy"] !== undefined) {
    resizePolicyCauses(listOf(container, "resizePolicy"), scope.restartPolicy, `${path}.resizePolicy`, causes);
  }
  if (isObject(container["securityContext"])) {
    contextCauses(container["securityContext"], scope.hostUsers, `${path}.securityContext`, causes);
  }
}

/** A template may have images that a pod may not. */
export function imageCauses(container: JsonObject, path: string, causes: Cause[]): void {
  const image = (container["image"] ?? "") as string;
  if (image.trim() === image) return;
  causes.push(invalidValue(`${path}.image`, image, "must not have leading or trailing whitespace"));
}
