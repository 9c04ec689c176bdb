/**
 * Probes and lifecycle hooks: what they do to a container and how often.
 * Source: the published validation of probes and handlers.
 */
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue } from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { enumCauses, listOf, nonNegativeCauses } from "../../shared/fields.ts";
import { portCauses, portOrNameCauses } from "./ports.ts";

export const probeFields = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

/** Hooks and probes of a container that runs as long as its pod; `graceSeconds` is the pod's. */
export function probesCauses(container: JsonObject, path: string, graceSeconds: number, causes: Cause[]): void {
  const { lifecycle } = container;
  if (isObject(lifecycle)) {
    for (const hook of ["postStart", "preStop"]) {
      const handler = lifecycle[hook];
      if (isObject(handler)) handlerCauses(handler, `${path}.lifecycle.${hook}`, graceSeconds, causes);
    }
  }
  for (const field of probeFields) {
    const probe = container[field];
    if (isObject(probe)) probeCauses(probe, field, `${path}.${field}`, graceSeconds, causes);
  }
}

const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

function probeCauses(
  probe: JsonObject,
  field: (typeof probeFields)[number],
  path: string,
  graceSeconds: number,
  causes: Cause[],
): void {
  handlerCauses(probe, path, graceSeconds, causes);
  nonNegativeCauses(probe, counts, path, causes);
  const seconds = probe["terminationGracePeriodSeconds"] as number | undefined;
  const secondsPath = `${path}.terminationGracePeriodSeconds`;
  if (seconds !== undefined && seconds <= 0) causes.push(invalidValue(secondsPath, seconds, "must be greater than 0"));
  if (field === "readinessProbe") {
    if (seconds !== undefined) causes.push(invalidValue(secondsPath, seconds, "must not be set for readinessProbes"));
  } else if (probe["successThreshold"] !== 1) {
    causes.push(invalidValue(`${path}.successThreshold`, probe["successThreshold"] ?? 0, "must be 1"));
  }
}

type Judge = (action: JsonObject, path: string, causes: Cause[], graceSeconds: number) => void;

/** In the order in which they are judged: the second is one too many. */
const handlers: Readonly<Record<string, Judge>> = {
  exec: (action, path, causes) => {
    if (((action["command"] ?? []) as readonly string[]).length === 0) causes.push(requiredValue(`${path}.command`));
  },
  httpGet: httpGetCauses,
  tcpSocket: (action, path, causes) => portOrNameCauses(action["port"], `${path}.port`, causes),
  grpc: (action, path, causes) => portCauses((action["port"] ?? 0) as number, `${path}.port`, causes),
  sleep: (action, path, causes, graceSeconds) => {
    const seconds = (action["seconds"] ?? 0) as number;
    if (seconds >= 0 && seconds <= graceSeconds) return;
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
    causes.push(invalidValue(path, seconds, detail));
  },
};

function handlerCauses(handler: JsonObject, path: string, graceSeconds: number, causes: Cause[]): void {
  let count = 0;
  for (const [name, judge] of Object.entries(handlers)) {
    const action = handler[name];
    if (!isObject(action)) continue;
    if (count++ === 0) judge(action, `${path}.${name}`, causes, graceSeconds);
    else causes.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 handler type"));
  }
  if (count === 0) causes.push(requiredValue(path, "must specify a handler type"));
}

const headerText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function httpGetCauses(action: JsonObject, path: string, causes: Cause[]): void {
  if ((action["path"] ?? "") === "") causes.push(requiredValue(`${path}.path`));
  portOrNameCauses(action["port"], `${path}.port`, causes);
  enumCauses(action["scheme"], ["HTTP", "HTTPS"], `${path}.scheme`, causes);
  for (const { name = "" } of listOf(action, "httpHeaders")) {
    if (/^[-A-Za-z0-9]+$/.test(name as string)) continue;
    causes.push(invalidValue(`${path}.httpHeaders`, name, headerText)); // without the number of the header
  }
}
