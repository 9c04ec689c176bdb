/**
 * Variables of a container's environment that hide an earlier one of the same name: lawful, but an application may drop
 * one of the two, so whoever writes them is warned. One whose value builds on the earlier hides nothing.
 * Source: recorded warnings; the published warnings of pods.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import { metadataOf } from "../../../contract/objects.ts";
import type { KindRules } from "../../../objects/kind-rules.ts";

type Warnings = NonNullable<KindRules["warnings"]>;

interface Variable {
  readonly name?: string;
  readonly value?: string;
  readonly valueFrom?: JsonObject;
}

/** More do not fit into the headers of an answer. */
const warningsMax = 64;

/** Of a kind whose pod spec stands at this path, and which is looked at again when its desired state changes. */
export const hiddenVariablesAt =
  (...path: readonly string[]): Warnings =>
  (object, live) => {
    const isSame = live !== undefined && metadataOf(live).generation === metadataOf(object).generation;
    if (isSame) return [];
    let spec: JsonObject | undefined = object;
    for (const field of path) spec = spec?.[field] as JsonObject | undefined;
    return spec === undefined ? [] : hiddenVariables(spec, path.join("."));
  };

/** Of pods themselves: only when they are made. */
export const hiddenInNewPod: Warnings = (object, live) =>
  live === undefined ? hiddenVariables((object["spec"] ?? {}) as JsonObject, "spec") : [];

function hiddenVariables(spec: JsonObject, path: string): readonly string[] {
  const warnings: string[] = [];
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    const containers = (spec[list] ?? []) as readonly { readonly env?: readonly Variable[] | null }[];
    for (const [at, { env }] of containers.entries()) {
      if (!Array.isArray(env) || env.length < 2) continue;
      const seen = new Set<string>();
      for (const [index, variable] of (env as readonly Variable[]).entries()) {
        const { name = "" } = variable;
        if (seen.has(name) && hides(variable)) {
          const hidden = `hides previous definition of ${JSON.stringify(name)}`;
          warnings.push(`${path}.${list}[${at}].env[${index}]: ${hidden}, which may be dropped when using apply`);
          if (warnings.length === warningsMax) return warnings;
        }
        seen.add(name);
      }
    }
  }
  return warnings;
}

function hides({ name = "", value = "", valueFrom }: Variable): boolean {
  const reference = `$(${name})`;
  return (valueFrom ?? undefined) !== undefined || value === reference || !value.includes(reference);
}
