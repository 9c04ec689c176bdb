/** Verbs that a resource need not have. What discovery does not name for it, and the target refuses, breaks no promise. */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { WireRequest } from "../../wire/ports.ts";
import { UnservedVerb } from "./findings.ts";
import type { Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { type Json, objectsIn } from "./types.ts";

interface Asked {
  /** Of the group and version: `/api/v1`, `/apis/batch/v1`. */
  readonly prefix: string;
  /** `configmaps`, or `pods/status`. */
  readonly resource: string;
  readonly verb: "watch" | "update" | "patch" | "deletecollection";
}

/**
 * To be called for an exchange that was answered 405. Reads discovery anew, as resources come and go. Throws
 * `UnservedVerb` when it names the resource without the verb; otherwise the 405 stands, to be judged.
 */
export async function endWhereUnserved(client: Client, refused: Exchange): Promise<void> {
  const asked = optionalVerbOf(refused.request);
  if (asked === undefined) return;
  const { prefix, resource, verb } = asked;
  const { json } = await client.request("GET", prefix);
  const named = objectsIn(json, "resources").find(({ name }) => name === resource);
  const verbs = named?.["verbs"];
  if (Array.isArray(verbs) && !(verbs as readonly Json[]).includes(verb)) throw new UnservedVerb(verb, resource);
  client.recorder.returnTo(refused);
}

/** Undefined for what is none of these verbs. Of events, the documents promise every operation. */
export function optionalVerbOf({ method, path }: Pick<WireRequest, "method" | "path">): Asked | undefined {
  const [, prefix = "", plural = "", name, subresource] = resourcePath.exec(path) ?? [];
  if (prefix === "" || prefix.startsWith("/apis/events.")) return undefined;
  const verb =
    name === undefined
      ? method === "DELETE"
        ? "deletecollection"
        : isWatch(method, path)
          ? "watch"
          : undefined
      : ({ PUT: "update", PATCH: "patch" } as const)[method];
  if (verb === undefined) return undefined;
  return { prefix, resource: subresource === undefined ? plural : `${plural}/${subresource}`, verb };
}

const isWatch = (method: string, path: string): boolean => method === "GET" && asksForWatch(path);

/** Group and version, then, below a namespace or not, the resource with its name and subresource. */
const resourcePath =
  /^(\/api\/v1|\/apis\/[^/?]+\/[^/?]+)(?:\/namespaces\/[^/?]+(?=\/))?\/([^/?]+)(?:\/([^/?]+)(?:\/([^/?]+))?)?(?:\?|$)/;
