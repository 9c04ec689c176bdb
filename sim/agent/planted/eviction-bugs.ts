/** Planted bugs of evictions: each puts decisions of its own in the place of those that are right. Rows: `sim/planted/agent-bugs.ts`. */
import type { EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { type EvictionLaw, evictionLaw, graceSecondsAtOnce } from "../eviction/law.ts";
import { isMet } from "../eviction/look.ts";
import { graceSecondsOf } from "../eviction/pod-traits.ts";
import { lookBugs } from "./look-bugs.ts";
import { rankingBugs } from "./ranking-bugs.ts";

const bugsOfEviction = {
  ...lookBugs,
  ...rankingBugs,
  "evict-inodes-ignored": ({ observationsOf }) => ({
    observationsOf(figures) {
      const seen = Object.entries(observationsOf(figures));
      return Object.fromEntries(seen.filter(([signal]) => !signal.endsWith("inodesFree")));
    },
  }),
  "evict-memory-is-last": () => ({ mostUrgent: (acting) => acting.at(-1) }),
  "evict-soft-imagefs-no-gc": ({ reclaimsOf }) => ({
    reclaimsOf: (threshold, layout) => (threshold.graceMillis > 0 ? [] : reclaimsOf(threshold, layout)),
  }),
  // Inodes that become free are no bytes: whoever asks for the bytes evicts all the same.
  "evict-although-reclaim-enough": ({ isEnough }) => ({
    isEnough: (thresholds, observations, { threshold, freedBytes }) =>
      freedBytes > 0 &&
      !threshold.signal.endsWith("inodesFree") &&
      isEnough(thresholds, observations, { threshold, freedBytes }),
  }),
  "evict-min-reclaim-stuck": () => ({
    isEnough: (thresholds, observations) => !thresholds.some((threshold) => isMet(threshold, observations)),
  }),
  "evict-two-a-look": () => ({ victimsAmong: (ranked) => ranked.slice(0, 2) }),
  "evict-all-on-restart-threshold-change": ({ victimsAmong }) => ({
    victimsAmong: (ranked, at) => (at.isFirst ? ranked : victimsAmong(ranked, at)),
  }),
  "evict-one-for-each-signal": () => ({ victimsAmong: (ranked, { actingCount }) => ranked.slice(0, actingCount) }),
  "evict-critical-boundary": ({ isSpared }) => ({
    isSpared: (pod) => pod.priority !== 2_000_000_000 && isSpared(pod),
  }),
  "evict-critical-static": () => ({ isSpared: () => false }),
  "evict-hard-leaves-grace": ({ graceSeconds }) => ({
    graceSeconds: (threshold, pod, rules) =>
      isHard(threshold) ? graceSecondsOf(pod.object) : graceSeconds(threshold, pod, rules),
  }),
  "evict-soft-leaves-grace": ({ graceSeconds }) => ({
    graceSeconds: (threshold, pod, rules) =>
      isHard(threshold) ? graceSeconds(threshold, pod, rules) : graceSecondsOf(pod.object),
  }),
  "evict-soft-at-once": () => ({ graceSeconds: () => graceSecondsAtOnce }),
  "evict-grace-sign-bug": ({ graceSeconds }) => ({
    graceSeconds: (threshold, pod, rules) =>
      isHard(threshold)
        ? graceSeconds(threshold, pod, rules)
        : Math.max(graceSecondsOf(pod.object), rules.maxPodGraceSeconds),
  }),
  "evict-without-condition": ({ endOf }) => ({
    endOf(message, graceSeconds) {
      const { condition: _condition, ...end } = endOf(message, graceSeconds);
      return end;
    },
  }),
  "evict-message-of-requests": ({ evictionText }) => ({
    evictionText: (...[resource, driving, observations, pod, figures]) =>
      evictionText(resource, driving, observations, pod, figures, () => true),
  }),
  "evict-message-without-quantities": ({ evictionText }) => ({
    evictionText: (...asked) => withMessage(evictionText(...asked), ""),
  }),
  "evict-message-swapped": ({ evictionText }) => ({
    evictionText: (...asked) => withMessage(evictionText(...asked), "Threshold quantity: $2, available: $1. "),
  }),
} as const satisfies DecisionBugs<AgentBugName, EvictionLaw>;

/** The law with the bugs that concern it and that show now; the law itself without any. */
export const evictionLawWith: (bugs: AgentBugs) => () => EvictionLaw = decisionsWith(evictionLaw, bugsOfEviction);

const isHard = ({ graceMillis }: EvictionThreshold): boolean => graceMillis === 0;

const withMessage = (text: ReturnType<EvictionLaw["evictionText"]>, quantities: string): typeof text => ({
  ...text,
  message: text.message.replace(/Threshold quantity: (\S+), available: (\S+)\. /, quantities),
});
