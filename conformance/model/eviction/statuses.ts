/**
 * Laws of what an evicted pod's status says. Source: the fact sheet of the 1.33 agent, on killing and status.
 */
import type { Violation } from "../../client/findings.ts";
import { type EvictionHistory, type EvictionShown, judgeEach, type Judgement, victimsOf } from "./history.ts";

/** Phase, reason and the condition DisruptionTarget, which are shown when no container runs any more. */
export function judgeStatuses(history: EvictionHistory): Judgement {
  return judgeEach(victimsOf(history), ({ name, eviction }) => judgeStatus(name, eviction));
}

export function judgeStatus(name: string, eviction: EvictionShown): Violation | undefined {
  const { phase, reason, disruptionTarget, containersRun } = eviction;
  if (containersRun === true) {
    return {
      expected: `${name} is shown to have been evicted when its containers have ended`,
      actual: `${phase}, ${reason}, and a container runs`,
    };
  }
  const target = disruptionTarget === undefined ? "none" : `${disruptionTarget.status} ${disruptionTarget.reason}`;
  if (phase === "Failed" && reason === "Evicted" && target === "True TerminationByKubelet") return undefined;
  return {
    expected: `${name} is Failed, Evicted, with the condition DisruptionTarget True TerminationByKubelet`,
    actual: `${phase}, ${reason}, condition ${target}`,
  };
}

/** Failed and Succeeded are for ever: no eviction of what has ended, and no second life. */
export function judgeEnds(history: EvictionHistory): Judgement {
  const judgement = judgeEach(history.pods, ({ name, statuses }) => {
    const end = statuses.findIndex(({ phase }) => phase === "Failed" || phase === "Succeeded");
    const after = end < 0 ? [] : statuses.slice(end + 1);
    const { phase, reason } = statuses[end] ?? { phase: "", reason: "" };
    if (after.every((status) => status.phase === phase && status.reason === reason)) return undefined;
    return {
      expected: `${name} stays ${phase} ${reason}`.trim(),
      actual: after.map((status) => `${status.phase} ${status.reason}`.trim()).join(", "),
    };
  });
  return { ...judgement, judged: judgement.violation !== undefined || victimsOf(history).length > 0 };
}
