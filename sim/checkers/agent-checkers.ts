/** Promises of node agents, judged by what their machines did and by what the store holds. */
import type { JsonObject } from "../contract/http-message.ts";
import type { Bench, Checker } from "./judge.ts";
import { metadataOf } from "./metadata.ts";
import { shownKey } from "./truth.ts";

/** No second instance of a container; a pod that is one object does not run in two places. */
export function oneInstance({ fail }: Bench): Checker {
  /** Where each pod's containers were started, by its uid. */
  const homes = new Map<string, string>();
  return {
    told(fact) {
      if (fact.kind !== "container-started") return;
      const { client, pod, uid, container, others } = fact;
      if (others.length > 0)
        fail("containers.one-instance", `${container} of ${pod} runs once on ${client}`, `it is started again`, [
          `${others.join(", ")} of uid ${uid} runs already`,
        ]);
      const home = homes.get(uid);
      if (home !== undefined && home !== client)
        fail("containers.one-instance", `${pod} with uid ${uid} runs on ${home}`, `${client} starts it, too`);
      homes.set(uid, client);
    },
  };
}

/** A static pod of a node, as its manifest has it. */
export interface ManifestOnNode {
  readonly node: string;
  readonly manifest: JsonObject;
}

/**
 * Each mirror pod has a manifest, and what the manifest says. What nobody wrote, servers fill in: other fields are theirs.
 * `mark`: the annotation that makes a pod a mirror.
 */
export function mirrorsEqual({ fail }: Bench, mark: string, manifests: readonly ManifestOnNode[]): Checker {
  const byKey = new Map(
    manifests.map((one) => {
      const { name = "", namespace = "default" } = metadataOf(one.manifest);
      return [`/registry/pods/${namespace}/${name}-${one.node}`, one];
    }),
  );
  return {
    committed({ key, value }) {
      if (value === undefined || !key.startsWith("/registry/pods/")) return;
      const mirror = value as JsonObject;
      const { annotations = {}, labels = {} } = metadataOf(mirror) as ReturnType<typeof metadataOf> & {
        readonly annotations?: Readonly<Record<string, string>>;
      };
      if (annotations[mark] === undefined) return;
      const own = byKey.get(key);
      if (own === undefined) {
        fail("mirrors.equal", `${shownKey(key)} is there when a node has its manifest`, "no node has one");
        return;
      }
      const { labels: wantedLabels = {} } = metadataOf(own.manifest);
      const shown = { labels, spec: mirror["spec"] };
      const wanted = { labels: wantedLabels, spec: { ...(own.manifest["spec"] as object), nodeName: own.node } };
      const wrong = partOf(wanted, shown, "");
      if (wrong !== undefined)
        fail("mirrors.equal", `${wrong} of ${shownKey(key)} is what the manifest says`, "it is not");
    },
  };
}

/** Where something that is wanted is not there; lists are of one length, in one order. */
function partOf(wanted: unknown, given: unknown, path: string): string | undefined {
  if (typeof wanted !== "object" || wanted === null) return wanted === given ? undefined : path.slice(1);
  if (Array.isArray(wanted) && (!Array.isArray(given) || given.length !== wanted.length)) return path.slice(1);
  for (const [key, inner] of Object.entries(wanted)) {
    const wrong = partOf(inner, (given as Readonly<Record<string, unknown>> | undefined)?.[key], `${path}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
