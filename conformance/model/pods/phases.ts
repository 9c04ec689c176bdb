/** Laws of what a pod's status says of the pod as a whole. Source: the fact sheet of the 1.33 agent, phase and conditions. */
import type { Violation } from "../../client/findings.ts";
import {
  type ConditionSighting,
  type ContainerSighting,
  isTerminal,
  judgeEach,
  type Judgement,
  neighbours,
  type PodHistory,
  type PodSighting,
  seconds,
} from "./history.ts";
import { type PodProgram, startsAgain } from "./program.ts";

const isSeen = (sighting: PodSighting): boolean => Object.keys(sighting.containers).length > 0;
const hasBegun = (seen: ContainerSighting | undefined): boolean => (seen?.id ?? "") !== "";
const endedWell = (seen: ContainerSighting | undefined): boolean =>
  seen?.state.is === "ended" && seen.state.exitCode === 0;

/** The phase says what the containers beside it say, and an end is for ever. */
export function judgePhase(history: PodHistory): Judgement {
  const { sightings } = history;
  const each = judgeEach(sightings.filter(isSeen), (sighting) => wrongPhase(history, sighting));
  if (each.violation !== undefined) return each;
  const turns = judgeEach(neighbours(sightings), ([before, after]) =>
    isTerminal(before.phase) && after.phase !== before.phase
      ? { expected: `${history.program.name} stays ${before.phase}`, actual: after.phase }
      : undefined,
  );
  if (turns.violation !== undefined) return turns;
  return { judged: each.judged, violation: unfinished(history) };
}

function wrongPhase(
  { program, deletion }: PodHistory,
  { phase, reason, containers }: PodSighting,
): Violation | undefined {
  const regular = program.containers.map(({ name }) => containers[name]);
  const plain = program.inits.filter(({ isSidecar }) => !isSidecar).map(({ name }) => containers[name]);
  const mayEnd = deletion !== undefined || reason === "DeadlineExceeded";
  const wrong = (why: string): Violation => ({
    expected: `${program.name} is not ${phase}: ${why}`,
    actual: Object.entries(containers)
      .map(([name, { state }]) => `${name} ${JSON.stringify(state)}`)
      .join(", "),
  });
  // What has ended is shown as such when nothing of it can run; until then the phase before stays.
  const runs = regular.some((seen) => seen?.state.is === "running");
  if (phase === "Pending" && runs && regular.every(hasBegun)) return wrong("all of its containers have begun");
  if (phase === "Running" && !plain.every(endedWell)) return wrong("an init container has not ended well");
  if (phase === "Running" && !regular.some(hasBegun)) return wrong("none of its containers has begun");
  if (!isTerminal(phase)) return undefined;
  if (Object.values(containers).some(({ state }) => state.is === "running")) return wrong("a container runs");
  if (mayEnd) return undefined;
  if (program.policy === "Always") return wrong("its containers are started again");
  const isWell = regular.every(endedWell);
  if (phase === "Succeeded" && !isWell) return wrong("a container has not ended well");
  if (phase === "Failed" && isWell) return wrong("all containers have ended well");
  if (phase === "Failed" && program.policy !== "Never") return wrong("what fails is started again");
  return undefined;
}

/** When everything has ended and nothing is to begin, the pod has ended. */
function unfinished({ program, sightings, patienceMillis }: PodHistory): Violation | undefined {
  const last = sightings.at(-1);
  if (last === undefined || isTerminal(last.phase) || !isSeen(last)) return undefined;
  let sinceMillis = 0;
  for (const { name } of program.containers) {
    const state = last.containers[name]?.state;
    if (state?.is !== "ended" || startsAgain(program, name, state.exitCode)) return undefined;
    sinceMillis = Math.max(sinceMillis, state.finishedMillis);
  }
  const farewellMillis = 1000 * program.graceSeconds; // of its sidecars
  if (last.fromMillis - sinceMillis <= patienceMillis + farewellMillis) return undefined;
  return {
    expected: `${program.name} has ended: all of its containers did ${seconds(last.fromMillis - sinceMillis)} ago`,
    actual: last.phase,
  };
}

const conditionIn = ({ conditions }: PodSighting, type: string): ConditionSighting | undefined =>
  conditions.find((condition) => condition.type === type);

export const gateType = "example.com/gate";

/** Each condition says what the containers beside it say. */
export function judgeConditions(history: PodHistory): Judgement {
  return judgeEach(history.sightings.filter(isSeen), (sighting) => wrongCondition(history, sighting));
}

function wrongCondition({ program, deletion }: PodHistory, sighting: PodSighting): Violation | undefined {
  const { containers, phase } = sighting;
  const isEnded = isTerminal(phase);
  const lasting = [...program.inits.filter(({ isSidecar }) => isSidecar), ...program.containers];
  const areReady = lasting.every(({ name }) => containers[name]?.ready === true);
  const gate = conditionIn(sighting, gateType)?.status === "True";
  const status = (type: string): string => conditionIn(sighting, type)?.status ?? "missing";
  const [ready, contained, initialized] = ["Ready", "ContainersReady", "Initialized"].map(status);
  const wrong = (expected: string): Violation => ({
    expected: `${program.name}: ${expected}`,
    actual: sighting.conditions.map((each) => `${each.type} ${each.status}`).join(", "),
  });
  for (const { name } of lasting) {
    const { state, ready: isReady = false } = containers[name] ?? {};
    if (isReady && state?.is !== "running") return wrong(`${name} does not run and is not ready`);
  }
  if (isEnded && (ready === "True" || contained === "True")) return wrong("what has ended is not ready");
  // Of a pod that is about to end its conditions may be told before its phase is.
  const isLeaving = deletion !== undefined || program.deadlineSeconds !== undefined;
  if (!isEnded && (contained === "True") !== areReady && !(isLeaving && areReady))
    return wrong(`ContainersReady is ${areReady ? "True" : "False"}, as its containers are`);
  if (ready === "True" && contained !== "True") return wrong("Ready is False while its containers are not");
  if (ready === "True" && program.gate !== undefined && !gate) return wrong("Ready is False without its gate");
  if (program.gate === undefined && !isEnded && ready !== contained) return wrong("Ready is as ContainersReady is");
  const areDone = program.inits.every(({ name, isSidecar }) => isSidecar || endedWell(containers[name]));
  if (initialized === "True" && !areDone)
    return wrong("Initialized is False while an init container has not ended well");
  const runs = program.containers.some(({ name }) => containers[name]?.state.is === "running");
  if (initialized === "False" && runs) return wrong("Initialized is True when its containers run");
  return undefined;
}

/** Ready in time, once the gate is open and all else is. */
export function judgeGate({ program, sightings, patienceMillis, madeMillis }: PodHistory): Judgement {
  if (program.gate?.atSeconds === undefined) return { judged: false, violation: undefined };
  const opened = sightings.find((sighting) => conditionIn(sighting, gateType)?.status === "True");
  const from = opened === undefined ? Infinity : opened.atMillis + patienceMillis;
  return judgeEach(
    sightings.filter(({ fromMillis }) => fromMillis > from),
    (sighting) =>
      conditionIn(sighting, "ContainersReady")?.status !== "True" || conditionIn(sighting, "Ready")?.status === "True"
        ? undefined
        : {
            expected: `${program.name} is ready, its gate having been open for ${seconds(patienceMillis)}`,
            actual: `not ready ${seconds(sighting.fromMillis - madeMillis)} after it was made`,
          },
  );
}

const own = ["PodScheduled", "Initialized", "ContainersReady", "Ready"] as const;
/** These become what containers are at the moment, as often as containers change. */
const swift: ReadonlySet<string> = new Set(["ContainersReady", "Ready"]);
const roundingMillis = 1000;
/** What is decided is written with the next batch of statuses at the latest. */
const batchMillis = 10_000;

/** A condition has the time of its last change, and of no other. */
export function judgeTimes(history: PodHistory): Judgement {
  return judgeEach(neighbours(history.sightings.filter(isSeen)), ([before, after]) => {
    for (const type of own) {
      const violation = wrongTime(history, before, after, type);
      if (violation !== undefined) return violation;
    }
    return undefined;
  });
}

function wrongTime(
  { program, patienceMillis }: PodHistory,
  before: PodSighting,
  after: PodSighting,
  type: (typeof own)[number],
): Violation | undefined {
  const [from, to] = [conditionIn(before, type), conditionIn(after, type)];
  const [fromMillis, toMillis] = [from?.sinceMillis, to?.sinceMillis];
  if (fromMillis === undefined || toMillis === undefined) return undefined;
  const say = (what: string): Violation => ({
    expected: `${type} of ${program.name}, ${from?.status} and then ${to?.status}, ${what}`,
    actual: `${new Date(toMillis).toISOString()}, ${new Date(fromMillis).toISOString()} before`,
  });
  if (from?.status === to?.status) {
    const mayTurn = swift.has(type) && !isStill(program, before, after);
    return mayTurn || fromMillis === toMillis ? undefined : say("keeps its time");
  }
  const earliest = before.fromMillis - batchMillis - patienceMillis;
  if (toMillis + roundingMillis > earliest && toMillis <= after.atMillis + roundingMillis) return undefined;
  return say("has the time of its change");
}

/** Nothing of the pod can have changed meanwhile and changed back. */
function isStill(program: PodProgram, before: PodSighting, after: PodSighting): boolean {
  return [...program.inits, ...program.containers].every(({ name, probes }) => {
    const [from, to] = [before.containers[name], after.containers[name]];
    return probes?.readiness === undefined && from?.id === to?.id && from?.state.is === to?.state.is;
  });
}
