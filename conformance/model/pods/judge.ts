/** All laws of a pod's life, each with the requirement that it judges. */
import type { Judgement, PodHistory } from "./history.ts";
import { judgeCounts, judgeEnds } from "./instances.ts";
import { judgeConditions, judgeGate, judgePhase, judgeTimes } from "./phases.ts";
import { judgeProbeStops, judgeReadiness } from "./probes.ts";
import { judgeBackOff, judgeOrder, judgePolicy, judgeRunning } from "./starts.ts";
import { judgeDeadline, judgeFarewell, judgeGrace, judgeTurns } from "./stops.ts";

/** In the order in which a reader wants to hear: what was run comes before what was told of it. */
export const podLaws: readonly (readonly [requirement: string, law: (history: PodHistory) => Judgement])[] = [
  ["agent-lives.order", judgeOrder],
  ["agent-lives.policy", judgePolicy],
  ["agent-lives.back-off", judgeBackOff],
  ["agent-lives.probes", judgeReadiness],
  ["agent-lives.probe-stops", judgeProbeStops],
  ["agent-lives.deadline", judgeDeadline],
  ["agent-lives.grace", judgeGrace],
  ["agent-lives.turns", judgeTurns],
  ["agent-lives.farewell", judgeFarewell],
  ["agent-pods.ensures", judgeRunning],
  ["agent-lives.counts", judgeCounts],
  ["agent-lives.ends", judgeEnds],
  ["agent-lives.phase", judgePhase],
  ["agent-lives.conditions", judgeConditions],
  ["agent-lives.gates", judgeGate],
  ["agent-lives.times", judgeTimes],
];

/** Each requirement that the history gave occasion to judge, with the first thing wrong. */
export function judgePod(history: PodHistory): (Judgement & { readonly requirement: string })[] {
  return podLaws.map(([requirement, law]) => ({ requirement, ...law(history) })).filter(({ judged }) => judged);
}
