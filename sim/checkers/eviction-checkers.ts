/** Promises of node agents about pressure and evictions, reckoned anew from the figures that they saw alone. */
import type { Micros } from "../kernel/types.ts";
import { compareBytes } from "../../wire/go-strings.ts";
import type { Bench, Checker, Fact, RankedPod, SignalSeen } from "./judge.ts";

/** One threshold of an agent after a look. */
interface Standing {
  readonly last: SignalSeen;
  /** Since when it has been held at every look; undefined: it is not. */
  readonly sinceMicros: Micros | undefined;
  /** It has been held for its grace period. */
  readonly drives: boolean;
  /** Its figures are newer than those of the look before. */
  readonly isFresh: boolean;
}

type Standings = ReadonlyMap<string, Standing>;
type UsageSeen = Extract<Fact, { readonly kind: "usage-seen" }>;

/** A signal may have two thresholds: a hard and a soft one. */
const nameOf = (signal: string, graceMicros: Micros): string => (graceMicros > 0 ? `soft ${signal}` : signal);

/** A threshold that was not seen at a look is not held, and begins anew. */
function standingsAfter(before: Standings | undefined, { signals, atMicros }: UsageSeen): Standings {
  return new Map(
    signals.map((last) => {
      const { signal, available, threshold, reclaim, graceMicros, takenMicros } = last;
      const name = nameOf(signal, graceMicros);
      const earlier = before?.get(name);
      const isHeld = available < (earlier?.drives === true ? threshold + reclaim : threshold);
      const sinceMicros = isHeld ? (earlier?.sinceMicros ?? atMicros) : undefined;
      const drives = sinceMicros !== undefined && atMicros - sinceMicros >= graceMicros;
      const isFresh = earlier === undefined || takenMicros > earlier.last.takenMicros;
      return [name, { last, sinceMicros, drives, isFresh }];
    }),
  );
}

/** What each agent stands at. The one that starts after a crash knows nothing of it. */
class Stands {
  private readonly byClient = new Map<string, Standings>();

  of(client: string): Standings | undefined {
    return this.byClient.get(client);
  }

  told(fact: UsageSeen): Standings {
    const after = standingsAfter(this.byClient.get(fact.client), fact);
    this.byClient.set(fact.client, after);
    return after;
  }

  forget(client: string): void {
    this.byClient.delete(client);
  }
}

/** Evictions are driven by what was seen: a soft threshold by what was seen for its whole grace period. */
export function evictionsDue({ fail, mark }: Bench): Checker {
  const stands = new Stands();
  return {
    told(fact) {
      if (fact.kind === "usage-seen") stands.told(fact);
      if (fact.kind !== "evicted") return;
      mark("pod.evicted");
      const { client, threshold, pods } = fact;
      if (threshold === undefined) return;
      const { signal, graceMicros } = threshold;
      if (graceMicros > 0) mark("pod.evicted-softly");
      if (pods.length > 1)
        fail("evictions.due", `${client} evicts one pod a pass`, `it evicts ${pods.map(({ pod }) => pod).join(", ")}`);
      const exempt = pods.find(({ isExempt }) => isExempt);
      if (exempt !== undefined) fail("evictions.due", `${exempt.pod} is exempt`, `${client} evicts it for ${signal}`);
      const at = stands.of(client)?.get(nameOf(signal, graceMicros));
      if (at?.drives === true) return;
      const after = graceMicros > 0 ? `${graceMicros / 1_000_000} s after its crossing` : "its crossing";
      const figures = at === undefined ? "it was never seen" : `${at.last.available} of ${at.last.threshold} are there`;
      const held = at?.sinceMicros === undefined ? "" : `, less since ${at.sinceMicros / 1_000_000} s`;
      fail("evictions.due", `${client} evicts for ${signal} from ${after} on`, `${figures}${held}`);
    },
    happened(happening) {
      if (happening.kind === "crash") stands.forget(happening.place);
    },
  };
}

/**
 * Of those that may go, the first goes: one without figures; then one that uses more than it requests; then of the lowest
 * priority; then of the most beyond its request; of equals by namespace and name. Processes cannot be requested.
 */
export function evictionsRanked({ fail }: Bench): Checker {
  return {
    told(fact) {
      if (fact.kind !== "evicted" || fact.threshold === undefined) return;
      const { client, threshold, pods } = fact;
      const { signal } = threshold;
      const mayGo = fact.among.filter(({ isExempt }) => !isExempt);
      const first = mayGo.toSorted((left, right) => compareRanks(signal, left, right))[0];
      const gone = pods[0]?.pod;
      if (first === undefined || gone === undefined || first.pod === gone) return;
      if (!mayGo.some(({ pod }) => pod === gone)) return; // exempt, which is another promise
      const figures = mayGo.map(
        ({ pod, priority, used, requested }) =>
          `${pod}: priority ${priority}, uses ${used ?? "unknown"} of ${requested}`,
      );
      fail("evictions.ranked", `${client} evicts ${first.pod} for ${signal}`, `it evicts ${gone}`, figures);
    },
  };
}

function compareRanks(signal: string, left: RankedPod, right: RankedPod): number {
  const differences = ranksOf(signal, left).map((rank, at) => rank - (ranksOf(signal, right)[at] as number));
  return differences.find((difference) => difference !== 0) ?? compareBytes(left.pod, right.pod);
}

/** The smaller goes first, the most weighty number first. */
function ranksOf(signal: string, { priority, used, requested }: RankedPod): readonly number[] {
  const unknown = used === undefined ? 0 : 1;
  if (signal === "pid.available") return [priority, unknown, -(used ?? 0)];
  if (used === undefined) return [0, 0, priority, 0];
  // What is requested of a file system are bytes: whoever has a file uses more inodes than it requests.
  const exceeds = used > (signal.endsWith("inodesFree") ? 0 : requested);
  return [1, exceeds ? 0 : 1, priority, requested - used];
}

/** A look that finds a threshold driving by new figures comes to something: room is made, somebody goes, or nobody may. */
export function evictionsMade({ fail }: Bench): Checker {
  const stands = new Stands();
  return {
    told(fact) {
      if (fact.kind === "usage-seen") stands.told(fact);
      if (fact.kind !== "pass-ended" || fact.cameTo === "something") return;
      const { client } = fact;
      const due = [...(stands.of(client)?.values() ?? [])].find(({ drives, isFresh }) => drives && isFresh);
      if (due === undefined) return;
      const { signal, available, threshold, reclaim } = due.last;
      fail("evictions.made", `${client} makes room for ${signal}`, "it does nothing", [
        `${available} are there of ${threshold}, and ${reclaim} more once it evicts`,
      ]);
    },
    happened(happening) {
      if (happening.kind === "crash") stands.forget(happening.place);
    },
  };
}

/** Conditions of pressure follow the thresholds that are held, whatever their grace periods. */
export function pressureTold({ fail }: Bench): Checker {
  const stands = new Stands();
  /** By agent and condition: when a threshold of it was last seen to be held. */
  const crossed = new Map<string, { sure: number; perhaps: number }>();
  return {
    told(fact) {
      if (fact.kind !== "usage-seen") return;
      const { client, atMicros, signals, conditions, transitionMicros } = fact;
      const standings = stands.told(fact);
      for (const condition of new Set(signals.map((signal) => signal.condition))) {
        const name = `${client} ${condition}`;
        const last = crossed.get(name) ?? { sure: -Infinity, perhaps: -Infinity };
        crossed.set(name, last);
        for (const { last: seen, sinceMicros } of standings.values()) {
          if (seen.condition !== condition || sinceMicros === undefined) continue;
          last.perhaps = atMicros;
          // An agent's first look leaves out what it derives.
          if (seen.signal !== "allocatableMemory.available") last.sure = atMicros;
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
      stands.forget(happening.place);
      for (const name of [...crossed.keys()]) if (name.startsWith(`${happening.place} `)) crossed.delete(name);
    },
  };
}
