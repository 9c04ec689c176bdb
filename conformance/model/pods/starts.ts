/** Laws of when containers start, again or for the first time. Source: the fact sheet of the 1.33 agent, starting and restart back-off. */
import type { Violation } from "../../client/findings.ts";
import {
  isTerminal,
  judgeEach,
  type Judgement,
  neighbours,
  type PodHistory,
  type PodSighting,
  type Run,
  runsOf,
  seconds,
} from "./history.ts";
import { containerIn, isMinded, isSidecarOf, type PodProgram, startsAgain } from "./program.ts";

/** What is tried again after a failure is so within fifteen seconds. */
const retryMillisMax = 15_000;
/** Statuses have whole seconds. */
const roundingMillis = 1000;
const firstWaitMillis = 10_000;
const waitMillisMax = 300_000;

/** How long a container waits that was started so often before. */
const waitMillisOf = (count: number): number =>
  count === 0 ? 0 : Math.min(firstWaitMillis * 2 ** (count - 1), waitMillisMax);

/** What comes later has waited for the good end of each init container, and for the start of each sidecar. */
export function judgeOrder(history: PodHistory): Judgement {
  const { program, sightings } = history;
  if (program.inits.length === 0) return { judged: false, violation: undefined };
  return judgeEach(sightings, (sighting) => outOfOrder(program, sighting));
}

function outOfOrder(program: PodProgram, { containers }: PodSighting): Violation | undefined {
  for (const [at, init] of program.inits.entries()) {
    const seen = containers[init.name];
    const later = [...program.inits.slice(at + 1), ...program.containers];
    const begun = later.find(({ name }) => (containers[name]?.id ?? "") !== "");
    if (begun === undefined) continue;
    const isDone = init.isSidecar ? (seen?.id ?? "") !== "" : seen?.state.is === "ended" && seen.state.exitCode === 0;
    if (isDone) continue;
    const until = init.isSidecar ? "has started" : "has ended well";
    return {
      expected: `${begun.name} of ${program.name} waits until ${init.name} ${until}`,
      actual: `it has begun, and ${init.name} is ${JSON.stringify(seen?.state)}`,
    };
  }
  return undefined;
}

/** Whoever started a second time was wanted again. */
export function judgePolicy(history: PodHistory): Judgement {
  const { program } = history;
  return judgeEach(pairsOf(history), ([before, after]) => {
    const { end, container } = before;
    if (end === undefined || startsAgain(program, container, end.exitCode)) return undefined;
    if (isMinded(containerIn(program, container)) && program.policy !== "Never") return undefined;
    return {
      expected: `${container} of ${program.name} is not started again after exit code ${end.exitCode}: policy ${program.policy}`,
      actual: `it was started again ${seconds(after.startedMillis - end.finishedMillis)} later`,
    };
  });
}

/** Waits double, from the second restart on. Who is stopped for its probes is started again at once, as far as its own end goes. */
export function judgeBackOff(history: PodHistory): Judgement {
  const again = [...pairsOf(history)].filter(
    ([{ container, count, end }]) =>
      count > 0 && end !== undefined && !isMinded(containerIn(history.program, container)),
  );
  return judgeEach(again, ([{ container, count, end }, after]) => {
    const waited = after.startedMillis - (end?.finishedMillis ?? 0);
    const least = waitMillisOf(count);
    if (waited > least - roundingMillis) return undefined;
    return {
      expected: `${container} of ${history.program.name} waits ${seconds(least)} after its instance ${count}`,
      actual: `it was started again after ${seconds(waited)}`,
    };
  });
}

/** What is to run runs: for the first time at once, and again when it has waited as long as it has to. */
export function judgeRunning(history: PodHistory): Judgement {
  const { program, sightings, patienceMillis, madeMillis } = history;
  const last = sightings.at(-1);
  if (last === undefined) return { judged: false, violation: undefined };
  const runs = runsOf(history);
  const [firstName = ""] = [...program.inits, ...program.containers].map(({ name }) => name);
  const begun = runs.get(firstName)?.[0];
  const isLate = (begun?.startedMillis ?? last.atMillis) - madeMillis > patienceMillis + roundingMillis;
  if (isLate) {
    return {
      judged: true,
      violation: {
        expected: `${firstName} of ${program.name} is started within ${seconds(patienceMillis)}`,
        actual: begun === undefined ? "it never was" : seconds(begun.startedMillis - madeMillis),
      },
    };
  }
  const untilMillis = endOfLife(history, last);
  return judgeEach(
    [...runs.values()].flatMap((each) => each.map((run, at) => [run, each[at + 1]] as const)),
    ([run, next]) => lateAgain(history, run, next, untilMillis),
  );
}

/** From then on nothing of the pod is started any more. */
function endOfLife({ program, sightings, deletion }: PodHistory, last: PodSighting): number {
  const ended = sightings.find(({ phase }) => isTerminal(phase));
  const deadline = program.deadlineSeconds;
  const start = last.startMillis ?? last.atMillis;
  return Math.min(
    last.atMillis,
    ended?.fromMillis ?? Infinity,
    deletion?.fromMillis ?? Infinity,
    deadline === undefined ? Infinity : start + deadline * 1000,
  );
}

function lateAgain(
  { program, patienceMillis }: PodHistory,
  { container, count, end }: Run,
  next: Run | undefined,
  untilMillis: number,
): Violation | undefined {
  if (end === undefined || !startsAgain(program, container, end.exitCode)) return undefined;
  if (isSidecarOf(program, container) && program.policy !== "Always") return undefined; // it goes when the others have gone
  const dueMillis = end.finishedMillis + waitMillisOf(count) + retryMillisMax + patienceMillis;
  if ((next?.startedMillis ?? untilMillis) <= dueMillis) return undefined;
  return {
    expected: `${container} of ${program.name} is started again within ${seconds(dueMillis - end.finishedMillis)}`,
    actual: next === undefined ? "it was not" : seconds(next.startedMillis - end.finishedMillis),
  };
}

/** One instance after the other, by container. */
function* pairsOf(history: PodHistory): Iterable<readonly [before: Run, after: Run]> {
  for (const runs of runsOf(history).values()) yield* neighbours(runs);
}
