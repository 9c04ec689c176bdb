/** All laws of eviction, each with the requirement that it judges. */
import { judgeCleared, judgeRaised, judgeTaints, judgeTransition } from "./conditions.ts";
import {
  judgeActs,
  judgeFreshFigures,
  judgeGracePeriod,
  judgeNeed,
  judgeOneALook,
  judgeRanking,
  judgeSpared,
  judgeTimeToEnd,
  isHard,
  isSoft,
  underHard,
  underSoft,
  withinMinimumReclaim,
} from "./decisions.ts";
import type { EvictionHistory, Judgement } from "./history.ts";
import { judgeEnds, judgeStatuses } from "./statuses.ts";
import { judgeMessages } from "./messages.ts";

/** In the order in which a reader wants to hear: whether anybody had to go comes before who. */
export const evictionLaws: readonly (readonly [requirement: string, law: (history: EvictionHistory) => Judgement])[] = [
  ["agent-eviction.hard", judgeNeed],
  ["agent-eviction.soft", judgeGracePeriod],
  ["agent-eviction.soft-grace", whenGracesDiffer],
  ["agent-eviction.hard", (history) => judgeActs(history, underHard)],
  ["agent-eviction.soft", (history) => judgeActs(history, underSoft)],
  ["agent-eviction.minimum-reclaim", (history) => judgeActs(history, withinMinimumReclaim)],
  ["agent-eviction.hard", (history) => judgeTimeToEnd(history, isHard)],
  ["agent-eviction.max-pod-grace", (history) => judgeTimeToEnd(history, isSoft)],
  ["agent-eviction.transition", judgeTransition],
  ["agent-eviction.raised", judgeRaised],
  ["agent-eviction.cleared", judgeCleared],
  ["agent-eviction.taints", judgeTaints],
  ["agent-eviction.spares-critical", judgeSpared],
  ["agent-eviction.fresh-figures", judgeFreshFigures],
  ["agent-eviction.one-a-look", judgeOneALook],
  ["agent-eviction.ranking", judgeRanking],
  ["agent-eviction.status", judgeStatuses],
  ["agent-eviction.message", judgeMessages],
  ["agent-eviction.final", judgeEnds],
];

/** Each requirement that the history gave occasion to judge, with the first thing wrong. */
export function judgeEvictions(history: EvictionHistory): (Judgement & { readonly requirement: string })[] {
  return evictionLaws.map(([requirement, law]) => ({ requirement, ...law(history) })).filter(({ judged }) => judged);
}

/** Two soft thresholds with one grace period do not show that each has its own. */
function whenGracesDiffer(history: EvictionHistory): Judgement {
  const graces = new Set(history.rules.thresholds.map(({ graceMillis }) => graceMillis).filter((millis) => millis > 0));
  const judgement = judgeGracePeriod(history);
  return { ...judgement, judged: judgement.judged && graces.size > 1 };
}
