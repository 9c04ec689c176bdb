/**
 * Containers of a pod: those that it runs for, and those that run before them.
 * Source: recorded answers of creates (05, 06); the published validation of containers.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Check, Place } from "../../../objects/place.ts";
import { caseOf, each, fields, forbidden, oneOf, required, struct, textThat } from "../../../objects/rules.ts";
import { label } from "../../shared/formats.ts";
import { environment } from "./environment.ts";
import { mounts } from "./mounts.ts";
import { containerPort, hostPorts } from "./ports.ts";
import { hooksAndProbes } from "./probes.ts";
import { resizePolicies } from "./resize.ts";
import { resources } from "./resources.ts";
import { scopeOf } from "./scope.ts";
import { containerContext } from "./security.ts";

/** What holds for containers of every kind. */
export const anyContainer = struct(
  {
    name: required(label),
    image: required(),
    terminationMessagePolicy: required(oneOf(["File", "FallbackToLogsOnError"])),
    ports: each(containerPort),
    ...environment,
  },
  mounts,
  {
    imagePullPolicy: required(oneOf(["Always", "IfNotPresent", "Never"])),
    resources: resources as Check,
    resizePolicy: resizePolicies as Check,
    securityContext: containerContext,
  },
);

/** A name is given once in both lists. */
function uniqueName({ name = "" }: JsonObject, at: Place): void {
  const { containerNames } = scopeOf(at);
  if (name === "") return;
  const { path } = at;
  const other = containerNames.get(name as string);
  if (other === undefined) containerNames.set(name as string, path);
  else if (other !== path) at.of("name").duplicate(name); // else it is judged again
}

const container = struct(anyContainer, uniqueName, hooksAndProbes, {
  restartPolicy: forbidden("may not be set for non-init containers"),
});

/** They run one by one, so that each is judged alone, and named as if it were the first. */
function ownHostPorts(one: JsonObject, at: Place): void {
  if (one["ports"] !== undefined) hostPorts([one], at.above());
}

const notToItsEnd = forbidden("may not be set for init containers without restartPolicy=Always");

/** One that runs to its end has neither hooks nor probes; one that is always restarted may have them. */
const initContainer = struct(
  anyContainer,
  { restartPolicy: oneOf(["Always"]) },
  uniqueName,
  ownHostPorts,
  caseOf("restartPolicy", { Always: hooksAndProbes }, fields(Object.keys(hooksAndProbes), notToItsEnd)),
);

/** Both lists of a pod's spec. */
export const containers = struct(
  { containers: required(each(container)) },
  { containers: hostPorts as Check },
  { initContainers: each(initContainer) },
);

/** A template may have images that a pod may not. */
export const podImage = struct({
  image: textThat((image) => image.trim() === image, "must not have leading or trailing whitespace"),
});
