/** Laws of how pods are stopped: hooks, grace periods and turns, and a deadline. Source: the fact sheet of the 1.33 agent, stopping. */
import type { Violation } from "../../client/findings.ts";
import { isTerminal, judgeEach, type Judgement, type PodHistory, type Run, runsOf, seconds } from "./history.ts";
import { type ContainerProgram, containerIn, isMinded, isSidecarOf, words } from "./program.ts";

const roundingMillis = 1000;
/** However short the grace period is, and however long a hook took. */
const leastSeconds = 2;
/** So far apart must an end by itself and one by force be that they can be told from each other. */
const marginSeconds = 1.5;
const killedCode = 137;

interface Stop {
  readonly run: Run;
  readonly own: ContainerProgram;
}

/** Instances that ran when the pod was deleted. */
function stopsOf(history: PodHistory): readonly Stop[] {
  const { deletion, program } = history;
  if (deletion === undefined) return [];
  return [...runsOf(history).values()].flat().flatMap((run) => {
    const own = containerIn(program, run.container);
    const isOver = run.end === undefined ? !run.isLast : run.end.finishedMillis < deletion.byMillis + roundingMillis;
    return own === undefined || isOver || isMinded(own) || own.runSeconds !== undefined ? [] : [{ run, own }];
  });
}

/** A pod that is deleted has its grace period: for its hooks first, and for what its containers still have to do. */
export function judgeGrace(history: PodHistory): Judgement {
  const stops = stopsOf(history);
  const regular = stops.filter(({ run }) => !isSidecarOf(history.program, run.container));
  return judgeEach(regular, (stop) => wrongFarewell(history, stop));
}

function wrongFarewell(
  history: PodHistory,
  { run: { container, end, startedMillis }, own }: Stop,
): Violation | undefined {
  const { program, deletion, sightings, patienceMillis } = history;
  if (deletion === undefined) return undefined;
  const grace = deletion.graceSeconds;
  const hook = own.preStopSeconds ?? 0;
  const natural = own.stop === undefined ? Infinity : Math.min(hook, grace) + own.stop.seconds;
  const forced = Math.max(grace, Math.min(hook, grace) + leastSeconds);
  const what = `${container} of ${program.name}, deleted with ${grace} s,`;
  const lastMillis = sightings.at(-1)?.fromMillis ?? 0;
  const by = Math.min(natural + 1, forced) * 1000 + patienceMillis;
  if (end === undefined) {
    if (lastMillis - deletion.byMillis <= by) return undefined;
    return { expected: `${what} has ended after ${seconds(by)}`, actual: "it runs" };
  }
  const [from, at] = [end.finishedMillis - deletion.byMillis, end.finishedMillis - deletion.fromMillis];
  if (from > by) return { expected: `${what} ends within ${seconds(by)}`, actual: seconds(from) };
  const least = Math.min(natural, forced) * 1000;
  if (at + roundingMillis < least && end.finishedMillis > startedMillis)
    return { expected: `${what} ends not before ${seconds(least)}`, actual: `${seconds(at)}, with ${end.exitCode}` };
  const said = end.message.split(",");
  if (hook > 0 && hook < grace - marginSeconds && !said.includes(words.preStop))
    return { expected: `the hook of ${what} is run`, actual: `its last words are ${JSON.stringify(end.message)}` };
  if (own.stop !== undefined && natural < forced - marginSeconds && end.exitCode !== own.stop.exitCode)
    return { expected: `${what} ends by itself with ${own.stop.exitCode}`, actual: `${end.exitCode}` };
  if (natural > forced + marginSeconds && end.exitCode !== killedCode)
    return { expected: `${what} is killed after ${seconds(forced * 1000)}`, actual: `it ended with ${end.exitCode}` };
  return undefined;
}

/** Sidecars go when all others have gone, or when there is no time left for them. */
export function judgeTurns(history: PodHistory): Judgement {
  const { program, deletion } = history;
  const stops = stopsOf(history);
  const sidecars = stops.filter(({ run }) => isSidecarOf(program, run.container) && run.end !== undefined);
  const lastMillis = stops
    .filter(({ run }) => !isSidecarOf(program, run.container))
    .reduce((latest, { run }) => Math.max(latest, run.end?.finishedMillis ?? Infinity), 0);
  return judgeEach(sidecars, ({ run }) => {
    const finished = run.end?.finishedMillis ?? 0;
    const isForced = finished - (deletion?.fromMillis ?? 0) + roundingMillis >= (deletion?.graceSeconds ?? 0) * 1000;
    if (isForced || finished >= lastMillis) return undefined;
    const when = lastMillis === Infinity ? "and they run" : `${seconds(lastMillis - finished)} before them`;
    return { expected: `${run.container} of ${program.name} ends after the other containers`, actual: when };
  });
}

/** A deleted pod shows its end when its containers have ended. */
export function judgeFarewell(history: PodHistory): Judgement {
  const { program, sightings, deletion, patienceMillis } = history;
  const last = sightings.at(-1);
  if (deletion === undefined || last === undefined) return { judged: false, violation: undefined };
  const hooks = program.containers.reduce((most, { preStopSeconds = 0 }) => Math.max(most, preStopSeconds), 0);
  const dueMillis =
    deletion.byMillis +
    1000 * (deletion.graceSeconds + leastSeconds + Math.min(hooks, deletion.graceSeconds)) +
    2 * patienceMillis;
  if (last.fromMillis <= dueMillis) return { judged: false, violation: undefined };
  if (isTerminal(last.phase)) return { judged: true, violation: undefined };
  const expected = `${program.name} has ended ${seconds(dueMillis - deletion.byMillis)} after its deletion`;
  return { judged: true, violation: { expected, actual: last.phase } };
}

/** A pod that has been active for as long as it may has failed for that. */
export function judgeDeadline({ program, sightings, patienceMillis, deletion }: PodHistory): Judgement {
  const { deadlineSeconds, graceSeconds } = program;
  if (deadlineSeconds === undefined || deletion !== undefined) return { judged: false, violation: undefined };
  return judgeEach(sightings, ({ phase, reason, startMillis, fromMillis, atMillis }) => {
    if (startMillis === undefined) return undefined;
    const isOver = reason === "DeadlineExceeded";
    const [asked, age] = [fromMillis - startMillis, atMillis - startMillis];
    const byMillis = 1000 * (deadlineSeconds + Math.max(leastSeconds, graceSeconds)) + patienceMillis;
    const actual = `${phase} ${reason}`.trim();
    if (isOver && age < deadlineSeconds * 1000)
      return {
        expected: `${program.name} may be active for ${deadlineSeconds} s`,
        actual: `${actual} after ${seconds(age)}`,
      };
    if (!isOver && phase !== "Succeeded" && phase !== "Failed" && asked > byMillis)
      return { expected: `${program.name} is Failed, DeadlineExceeded, after ${seconds(byMillis)}`, actual };
    return undefined;
  });
}
