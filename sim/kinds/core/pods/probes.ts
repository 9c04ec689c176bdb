/**
 * Probes and lifecycle hooks: what they do to a container and how often.
 * Source: the published validation of probes and handlers.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Place, Rule } from "../../../objects/place.ts";
import {
  all,
  always,
  atLeast,
  between,
  eachUnnumbered,
  fields,
  nonNegative,
  oneMember,
  oneOf,
  required,
  struct,
} from "../../../objects/rules.ts";
import { portNumber, portOrName } from "./ports.ts";
import { scopeOf } from "./scope.ts";

export const probeFields = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

const headerText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function header({ name = "" }: JsonObject, at: Place): void {
  if (!/^[-A-Za-z0-9]+$/.test(name as string)) at.invalid(name, headerText);
}

/** No longer than the pod has to end. */
function sleep({ seconds = 0 }: Readonly<Record<string, number>>, at: Place): void {
  const graceSeconds = (scopeOf(at).spec["terminationGracePeriodSeconds"] ?? 30) as number;
  if (seconds >= 0 && seconds <= graceSeconds) return;
  at.invalid(seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`);
}

const handler = struct(
  oneMember(
    {
      exec: struct({ command: required() }),
      httpGet: struct({
        path: required(),
        port: always(portOrName),
        scheme: required(oneOf(["HTTP", "HTTPS"])),
        httpHeaders: eachUnnumbered(header),
      }),
      tcpSocket: struct({ port: always(portOrName) }),
      grpc: struct({ port: always(portNumber) }),
      sleep: struct(sleep),
    },
    { none: "must specify a handler type", more: "may not specify more than 1 handler type" },
  ),
);

const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
const positive = atLeast(1, "must be greater than 0");
const probe = struct(handler, fields(counts, nonNegative));

const restartingProbe = struct(probe, {
  terminationGracePeriodSeconds: positive,
  successThreshold: always(between(1, 1, "must be 1")),
});

const refused = (seconds: number, at: Place): void => at.invalid(seconds, "must not be set for readinessProbes");

/** Hooks and probes of a container that runs as long as its pod. */
export const hooksAndProbes: Readonly<Record<string, Rule>> = {
  lifecycle: struct({ postStart: handler, preStop: handler }),
  livenessProbe: restartingProbe,
  readinessProbe: struct(probe, { terminationGracePeriodSeconds: all(positive, refused) }),
  startupProbe: restartingProbe,
};
