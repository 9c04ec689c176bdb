/** Promises of node agents, judged by what their machines did and by what the store holds. */
import type { JsonObject } from "../contract/http-message.ts";
import type { Bench, Checker, SignalSeen } from "./judge.ts";
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

/** Evictions are driven by what was seen: reckoned anew here from the figures alone. */
export function evictionsDue({ fail, mark }: Bench): Checker {
  /** By agent and signal: the last figures, and whether the threshold was crossed and not yet left far enough. */
  const seen = new Map<string, { readonly last: SignalSeen; readonly isDriven: boolean }>();
  const nameOf = (client: string, signal: string): string => `${client} ${signal}`;
  return {
    told(fact) {
      if (fact.kind === "usage-seen") {
        for (const last of fact.signals) {
          const name = nameOf(fact.client, last.signal);
          const { available, threshold, reclaim } = last;
          const wasDriven = seen.get(name)?.isDriven === true;
          seen.set(name, { last, isDriven: available < (wasDriven ? threshold + reclaim : threshold) });
        }
      }
      if (fact.kind !== "evicted") return;
      mark("pod.evicted");
      const { client, signal, pods } = fact;
      if (signal === undefined) return;
      if (pods.length > 1)
        fail("evictions.due", `${client} evicts one pod a pass`, `it evicts ${pods.map(({ pod }) => pod).join(", ")}`);
      const exempt = pods.find(({ isExempt }) => isExempt);
      if (exempt !== undefined) fail("evictions.due", `${exempt.pod} is exempt`, `${client} evicts it for ${signal}`);
      const at = seen.get(nameOf(client, signal));
      if (at?.isDriven === true) return;
      const figures = at === undefined ? "it was never seen" : `${at.last.available} of ${at.last.threshold} are there`;
      fail("evictions.due", `${client} evicts for ${signal} from its crossing on`, figures);
    },
    happened(happening) {
      if (happening.kind !== "crash") return;
      for (const name of [...seen.keys()]) if (name.startsWith(`${happening.place} `)) seen.delete(name);
    },
  };
}

/** Conditions of pressure, reckoned from the figures alone. */
export function pressureTold({ fail }: Bench): Checker {
  /** By agent and condition: when a signal of it was last seen below its threshold. */
  const crossed = new Map<string, { sure: number; perhaps: number }>();
  return {
    told(fact) {
      if (fact.kind !== "usage-seen") return;
      const { client, atMicros, signals, conditions, transitionMicros } = fact;
      for (const condition of new Set(signals.map((signal) => signal.condition))) {
        const name = `${client} ${condition}`;
        const last = crossed.get(name) ?? { sure: -Infinity, perhaps: -Infinity };
        crossed.set(name, last);
        for (const { signal, available, threshold, reclaim, condition: own } of signals) {
          if (own !== condition || available >= threshold + reclaim) continue;
          last.perhaps = atMicros;
          // An agent's first look leaves out what it derives; so much more than the threshold counts after a crossing alone.
          if (available < threshold && signal !== "allocatableMemory.available") last.sure = atMicros;
        }
        const isTold = conditions.includes(condition);
        const within = (sinceMicros: number): boolean =>
          sinceMicros === atMicros || atMicros - sinceMicros < transitionMicros;
        const figures = signals.map((one) => `${one.signal}: ${one.available} of ${one.threshold}`);
        if (within(last.sure) && !isTold) fail("pressure.told", `${client} tells ${condition}`, "it does not", figures);
        if (!within(last.perhaps) && isTold)
          fail("pressure.told", `${client} tells ${condition} no longer`, "it does", figures);
      }
    },
    happened(happening) {
      if (happening.kind !== "crash") return;
      for (const name of [...crossed.keys()]) if (name.startsWith(`${happening.place} `)) crossed.delete(name);
    },
  };
}
