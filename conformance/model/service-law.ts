/**
 * The addresses and node ports that services are given: each has its own for as long as it lives, and nobody else has them.
 * Source: document 1, Generated values; the published rules of allocation.
 */
import type { Violation } from "../client/findings.ts";
import { isJsonObject, type JsonObject, objectsIn } from "../client/types.ts";

/** What a service has. Undefined: it has none. */
export interface Given {
  readonly address: string | undefined;
  readonly port: number | undefined;
}

export const serviceTypes = ["ClusterIP", "NodePort", "headless"] as const;
export type ServiceType = (typeof serviceTypes)[number];

export function givenTo(service: JsonObject): Given {
  const spec = isJsonObject(service["spec"]) ? service["spec"] : {};
  const { clusterIP } = spec;
  const [first] = objectsIn(spec, "ports");
  const port = first?.["nodePort"];
  return {
    address: typeof clusterIP === "string" && clusterIP !== "" && clusterIP !== "None" ? clusterIP : undefined,
    port: typeof port === "number" && port !== 0 ? port : undefined,
  };
}

/** What a service of this type must have: what it had, as far as its type has that, and else something that no other one has. */
export function judgeGiven(
  type: ServiceType,
  given: Given,
  had: Given | undefined,
  others: readonly Given[],
): Violation | undefined {
  return (
    judgeOne(
      "address",
      given.address,
      had?.address,
      type !== "headless",
      others.map(({ address }) => address),
    ) ??
    judgeOne(
      "node port",
      given.port,
      had?.port,
      type === "NodePort",
      others.map(({ port }) => port),
    )
  );
}

function judgeOne<Value>(
  what: string,
  given: Value | undefined,
  had: Value | undefined,
  isDue: boolean,
  others: readonly (Value | undefined)[],
): Violation | undefined {
  const wrong = (expected: string): Violation => ({ expected, actual: `${what} ${String(given)}` });
  if (!isDue) return given === undefined ? undefined : wrong(`no ${what}`);
  if (given === undefined) return wrong(`some ${what}`);
  if (had !== undefined && given !== had) return wrong(`${what} ${String(had)}, as before`);
  return others.includes(given) ? wrong(`a ${what} that no other service has`) : undefined;
}
