/** Laws of what others have written, and of what an agent finds again when it comes back. Source: the fact sheet of the 1.33 agent, status and registration. */
import type { Violation } from "../../client/findings.ts";
import type { Judgement, PodSighting } from "./history.ts";
import { judgeEach, neighbours } from "./history.ts";

/** What somebody else has written to an object, by its name, and what the object has under it now. */
export interface Kept {
  readonly object: string;
  readonly requirement: string;
  readonly written: Readonly<Record<string, string>>;
  readonly found: Readonly<Record<string, string | undefined>>;
}

/** All of it is there. */
export function lostOf({ object, written, found }: Kept): Violation | undefined {
  for (const [name, value] of Object.entries(written)) {
    if (found[name] !== value)
      return { expected: `${object} has ${name} ${value}, as it was written`, actual: String(found[name]) };
  }
  return undefined;
}

/** Whatever has run for so long is not about to end by itself. */
const steadyMillis = 5000;

export interface AwayHistory {
  readonly pod: string;
  /** Ascending; some from before the agent went away. */
  readonly sightings: readonly PodSighting[];
  /** When it was killed. */
  readonly awayFromMillis: number;
}

/** A container that ran when the agent went away, and that nothing else ended, is the same afterwards. */
export function judgeFoundAgain({ pod, sightings, awayFromMillis }: AwayHistory): Judgement {
  const before = sightings.findLast(({ atMillis }) => atMillis < awayFromMillis);
  const after = sightings.filter(({ fromMillis }) => fromMillis > awayFromMillis);
  if (before === undefined) return { judged: false, violation: undefined };
  const running = Object.entries(before.containers).filter(
    ([, { state }]) => state.is === "running" && awayFromMillis - state.startedMillis >= steadyMillis,
  );
  return judgeEach(running, ([name, { id, state }]) => {
    for (const { containers } of after) {
      const seen = containers[name];
      const isSame = seen?.id === id && JSON.stringify(seen.state) === JSON.stringify(state);
      if (!isSame) {
        return {
          expected: `${name} of ${pod}, instance ${id}, goes on while its agent starts again`,
          actual: `instance ${seen?.id}: ${JSON.stringify(seen?.state)}`,
        };
      }
    }
    return undefined;
  });
}

/** No restart is forgotten. */
export function judgeCountsKept({ pod, sightings }: AwayHistory): Judgement {
  const last = sightings.at(-1);
  const hasAny = Object.values(last?.containers ?? {}).some(({ restartCount }) => restartCount > 0);
  const judgement = judgeEach(neighbours(sightings), ([before, after]) => {
    for (const [name, { restartCount }] of Object.entries(before.containers)) {
      const now = after.containers[name]?.restartCount ?? 0;
      if (now < restartCount)
        return { expected: `${name} of ${pod} was started again ${restartCount} times or more`, actual: String(now) };
    }
    return undefined;
  });
  return { ...judgement, judged: judgement.violation !== undefined || (judgement.judged && hasAny) };
}
